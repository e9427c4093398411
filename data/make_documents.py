"""Write many small documents made of real text, to try ingestion with; `footnote bench ingest` makes its own so.

Run `python data/make_documents.py FOLDER SOURCE... [--documents N]`: N documents (10,000) of 600 to 1,500 characters,
half of them Markdown, made of the text of the sources, which are files and folders. A second run writes the same.
"""

import argparse
from pathlib import Path

from pipelines.evaluation.ingest_bench import write_small_documents


def main() -> None:
    """Write them."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", type=Path)
    asked.add_argument("sources", nargs="+")
    asked.add_argument("--documents", type=int, default=10_000)
    given = asked.parse_args()
    print(f"{len(write_small_documents(given.sources, given.folder, given.documents))} documents in {given.folder}")


if __name__ == "__main__":
    main()
