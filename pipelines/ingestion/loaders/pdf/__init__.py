"""LOAD PDF: words to lines, columns, rows and blocks; `load.py` is the way in."""
