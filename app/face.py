"""How the chat shows whose documents it answers from: its texts, its colour, the picture."""

import base64
import io

from PIL import Image, ImageOps

from config.settings import PersonaSettings

_SIDE = 256  # pixels of a picture


def title(persona: PersonaSettings) -> str:
    """The name of the page."""
    return persona.name or "Footnote"


def heading(persona: PersonaSettings) -> str:
    """The heading of an empty conversation."""
    if persona.greeting:
        return persona.greeting
    if persona.voice == "first":
        return f"Hello, I am {persona.name}" if persona.name else "Ask me about my work"
    return f"Ask about {persona.name}" if persona.name else "Ask, and check the answer"


def placeholder(persona: PersonaSettings) -> str:
    """The words in the empty question box, which has one line on a telephone."""
    asked = f"Ask about {persona.name or 'these documents'}"
    return "Ask me anything about my work" if persona.voice == "first" else asked


def nothing_yet(persona: PersonaSettings) -> str:
    """The words for a visitor where no document is public."""
    if persona.voice == "first":
        return "I have not published any documents here yet."
    return f"{persona.name or 'The owner'} has not published any documents here yet."


def accent_style(accent: str) -> str:
    """A style that sets the accent colour, dark enough on paper and light enough on ink to be read; empty for none."""
    if not accent:
        return ""
    light, dark = (f"oklch(from {accent} {bound} c h)" for bound in ("min(l, .47)", "max(l, .76)"))
    return f"<style>.stApp{{--fn-accent:light-dark({light},{dark})}}</style>"


def data_url(picture: bytes) -> str:
    """A square JPEG of a picture, as a data URL.

    Raises:
        OSError: If it is no picture.
    """
    with Image.open(io.BytesIO(picture), formats=("PNG", "JPEG", "WEBP")) as opened:
        square = ImageOps.fit(ImageOps.exif_transpose(opened).convert("RGB"), (_SIDE, _SIDE))
    made = io.BytesIO()
    square.save(made, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(made.getvalue()).decode()}"
