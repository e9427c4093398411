"""Make pipelines/query/currencies.json, the signs and English names of currencies, from the CLDR that Babel holds.

    python data/make_currencies.py            write it
    python data/make_currencies.py --check    write nothing; exit 1 where the committed file differs

Babel reads the data of 150 countries for it, which takes half a second: too long for the first question about money.
"""

import json
import sys
from pathlib import Path

from babel import Locale, UnknownLocaleError
from babel.core import get_global
from babel.languages import get_official_languages

FILE = Path(__file__).resolve().parents[1] / "pipelines" / "query" / "currencies.json"


def currencies() -> dict[str, list[str]]:
    """The codes of all currencies that are tender, with their signs where they are at home; and their English names."""
    names_of = Locale.parse("en")._data["currency_names_plural"]
    signs, names = set[str](), set[str]()
    for territory, periods in get_global("territory_currencies").items():
        codes = [code for code, _, end, is_tender in periods if is_tender and end is None and code not in signs]
        signs.update(codes)
        for forms in (names_of[code] for code in codes if code in names_of):
            names |= {str(forms[count]) for count in forms}
        for language in get_official_languages(territory)[:1] if codes else ():
            try:
                symbols = Locale.parse(f"{language}_{territory}").currency_symbols
            except (UnknownLocaleError, ValueError):
                continue
            signs |= {str(symbols[code]).strip("\u200b\u200e\u200f.") for code in codes if code in symbols}
    return {"signs": sorted(signs), "names": sorted(names)}


def main() -> int:
    """Write or check the file."""
    made = json.dumps(currencies(), ensure_ascii=False, indent=0) + "\n"
    if "--check" in sys.argv[1:]:
        return int(FILE.read_text("utf-8") != made)
    FILE.write_text(made, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
