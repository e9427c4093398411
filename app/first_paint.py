"""Streamlit's static files with a page that shows an outline at once; its own is blank until the scripts have run."""

from contextlib import suppress
from pathlib import Path

_ROOT = '<div id="root"></div>'
_OUTLINE = """
<style>
:root { color-scheme: light dark; background: light-dark(#fdfcf9, #17191c); }
#outline { position: fixed; inset: 12vh 0 auto; max-width: 44rem; margin: auto; padding: 0 1.5rem; }
#outline div { height: 1rem; margin-bottom: 1rem; border-radius: .3rem; background: light-dark(#dfdacc, #383c42); }
#outline div:first-child { height: 2.2rem; width: 60%; }
body:has([data-testid="stElementContainer"]) #outline { display: none; }
</style>
<div id="outline" role="status" aria-label="Opening the chat"><div></div><div></div><div></div><div></div></div>"""


def with_outline(original: Path, folder: Path) -> Path:
    """A folder of links to Streamlit's files beside a page of ours; the original where there can be no links."""
    with suppress(OSError):
        for path in original.iterdir():
            if path.name != "index.html":
                (folder / path.name).symlink_to(path, target_is_directory=path.is_dir())
        page = (original / "index.html").read_text("utf-8").replace("<title>Streamlit<", "<title>Footnote<")
        (folder / "index.html").write_text(page.replace(_ROOT, _ROOT + _OUTLINE), "utf-8")
        return folder
    return original
