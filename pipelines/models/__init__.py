"""The models: text to vectors, and prompts to text."""
