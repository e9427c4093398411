"""Settings, and prompts for language models. Imports nothing of ours."""
