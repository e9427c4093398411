"""Set rendercv pages: `{"pages": [[yaml, pdf path], ...]}` on stdin; run by a Python that has rendercv[full].

The icon package that its templates fetch from the network is replaced by the glyphs of the fonts at hand.
"""

import json
import re
import sys
import tempfile
from pathlib import Path

import rendercv_fonts
import typst
from rendercv.api import create_contents_of_a_typst_file_from_a_yaml_string as typst_of

ICONS = """
#let fa-icons = (
  "location-dot": "\\u{f3c5}", "envelope": "\\u{f0e0}", "phone": "\\u{f095}", "linkedin": "\\u{f08c}",
  "github": "\\u{f09b}", "link": "\\u{f0c1}", "external-link": "\\u{f08e}",
)
#let fa-icon(name, ..more) = text(
  font: ("Font Awesome 7 Free", "Font Awesome 7 Brands"), size: more.named().at("size", default: 1em),
)[#fa-icons.at(name, default: "")]
"""

for content, target in json.load(sys.stdin)["pages"]:
    made = typst_of(content)
    if not isinstance(made, str):
        sys.exit(f"rendercv refuses {target}: {made}")
    source = re.sub(r'#import "@preview/fontawesome[^\n]*', lambda _: ICONS, made)
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "page.typ"
        page.write_text(source, encoding="utf-8")
        fonts = [str(path) for path in rendercv_fonts.paths_to_font_folders]
        typst.Compiler(str(page), font_paths=fonts).compile(output=target, format="pdf")
