"""Where sources disagree, with both sides."""
