"""What can be set, and what is said to a language model. Imports nothing of ours."""
