"""Whether sources bear a sentence out, and where."""
