"""Write resumes and LinkedIn-style exports of invented people, with their truth, for `footnote eval parsing`.

Run `python data/make_corpus.py [FOLDER] [--rendercv PYTHON]` (needs reportlab and python-docx); PYTHON is one that has
`rendercv[full]`, whose themes are then written too. `dev/` is for building; `heldout/` judges: its layouts, headings,
fonts and dates are others, and nobody who builds looks at it. A second run writes the same truth. Everyone is invented.
"""

import argparse
import sys
from pathlib import Path

from corpus_maker import themes_dev, themes_heldout, themes_kinds
from corpus_maker.linkedin import HELDOUT_WORDS, WORDS
from corpus_maker.structures import write_structures
from corpus_maker.write import write_linkedin, write_rendercv, write_resumes, write_saved, write_word

_STRUCTURES = 120  # resumes of random structure
HOME = Path(__file__).parent.parent / "var" / "corpus"
RENDERCV = {"dev": ("classic", "moderncv"), "heldout": ("sb2nov", "engineeringresumes", "engineeringclassic")}


def write_half(folder: Path, python: str) -> str:
    """Everything in one half; why rendercv wrote nothing, empty when it did."""
    folder.mkdir(parents=True, exist_ok=True)
    heldout = folder.name == "heldout"
    themes = themes_heldout if heldout else themes_dev
    kinds = () if heldout else themes_kinds.THEMES
    write_resumes(folder, (*themes.THEMES, *kinds), 2, heldout=heldout)
    write_word(folder, themes.DOCX, heldout=heldout)
    write_linkedin(folder, HELDOUT_WORDS if heldout else WORDS, heldout=heldout)
    write_saved(folder, heldout=heldout)
    write_structures(folder / "structures", _STRUCTURES, heldout=heldout)
    return write_rendercv(folder, RENDERCV[folder.name], python, heldout=heldout)


def main() -> None:
    """Write both halves."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("folder", nargs="?", type=Path, default=HOME)
    asked.add_argument("--half", choices=("dev", "heldout"), action="append")
    asked.add_argument("--rendercv", default=sys.executable, help="a Python that has rendercv[full]")
    given = asked.parse_args()
    for half in given.half or ("dev", "heldout"):
        missing = write_half(given.folder / half, given.rendercv)
        truths = list((given.folder / half).rglob("*.json"))
        print(f"{len(truths)} documents with their truth in {given.folder / half}")
        if missing:
            print(f"without rendercv's themes: {missing} (--rendercv names a Python that has rendercv[full])")


if __name__ == "__main__":
    main()
