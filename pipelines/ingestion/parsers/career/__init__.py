"""What resumes and profiles share: dates, section names, places, titles, and the check of facts against the text."""
