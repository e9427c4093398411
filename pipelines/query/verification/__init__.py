"""Verification of a sentence against its sources."""
