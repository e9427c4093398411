"""Counts and durations out of career facts."""
