"""What a question says: its intent, and a follow-up made whole."""
