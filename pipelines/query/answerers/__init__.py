"""ANSWERERS: who may answer a question, asked in order."""
