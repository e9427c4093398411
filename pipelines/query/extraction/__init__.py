"""The writer without a model: which lines of the sources answer, or that none does."""
