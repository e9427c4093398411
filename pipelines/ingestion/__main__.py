"""`python -m pipelines.ingestion`: the same as `footnote ingest`."""

import os
import sys

if __name__ == "__main__":
    os.execvp(sys.executable, [sys.executable, "-m", "footnote", "ingest", *sys.argv[1:]])  # noqa: S606 - no shell
