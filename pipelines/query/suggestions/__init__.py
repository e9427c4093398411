"""What to ask next, searched for before it is shown."""
