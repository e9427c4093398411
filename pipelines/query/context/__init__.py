"""What a writer is shown: numbered sources as quoted data."""
