"""Invented people, the layouts their resumes and LinkedIn exports take, and the truth of each."""
