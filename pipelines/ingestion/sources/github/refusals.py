"""What went wrong with GitHub, in a sentence each, and what to do about it."""

from urllib.parse import urlsplit

from pipelines.errors import UNTIL_MENDED, SourceError
from pipelines.text import canonical
from pipelines.trust import OWN_AUTHORITY, is_unknown

_LONGEST = 200  # characters of what GitHub says itself


def refused(status: int, what: str, message: str, *, has_token: bool) -> SourceError:
    """GitHub answered, but not with what was asked for."""
    words = " ".join(canonical(message).split())[:_LONGEST].rstrip(". ")
    said = f" ({words})" if words else ""
    if status == 401:
        return SourceError(
            f"GitHub does not accept the GITHUB_TOKEN{said}.", hint="Make a new one, or unset it.", wait=UNTIL_MENDED
        )
    if status == 404:
        hint = "Check the name" + ("." if has_token else "; set GITHUB_TOKEN for what is private.")
        return SourceError(
            f"GitHub has nothing at {what}: it does not exist, or is private.", hint=hint, wait=UNTIL_MENDED
        )
    if status == 403:
        hint = "Give it the right to read repositories." if has_token else "Set a GITHUB_TOKEN that may."
        who = "this GITHUB_TOKEN" if has_token else "anybody"
        return SourceError(f"GitHub does not let {who} read {what}{said}.", hint=hint, wait=UNTIL_MENDED)
    if status == 451:
        return SourceError(
            f"GitHub may not show {what} for legal reasons{said}.", hint="What is held of it stays.", wait=UNTIL_MENDED
        )
    return SourceError(f"GitHub answered {what} with {status}{said}.", hint="Try again later.")


def partial(what: str) -> SourceError:
    """It left out what it would show to a token that single sign-on knows."""
    return SourceError(
        f"GitHub shows only part of {what}: this GITHUB_TOKEN is not authorised there by single sign-on.",
        hint="Authorise it on GitHub (Settings, Developer settings, Configure SSO), or take another one.",
        wait=UNTIL_MENDED,
    )


def unreachable(base: str, why: str) -> SourceError:
    """No answer came."""
    host = urlsplit(base).hostname or base
    hint = OWN_AUTHORITY if is_unknown(why) else "Check the network and FOOTNOTE_GITHUB__API_BASE."
    return SourceError(f"GitHub cannot be reached at {host}: {why}.", hint=hint)


def failing() -> SourceError:
    """It failed at so many questions in a row that it is not asked any more."""
    return SourceError(
        "GitHub failed again and again, and was not asked any more.", hint="The same command goes on from here, later."
    )


def wrong_token() -> SourceError:
    """The token cannot be sent."""
    return SourceError(
        "GITHUB_TOKEN holds characters that no token has.", hint="Copy it again, or unset it.", wait=UNTIL_MENDED
    )


def unusable(base: str) -> SourceError:
    """The address is not one of GitHub's API."""
    return SourceError(
        f"{urlsplit(base).hostname or base} does not answer as GitHub's API does.",
        hint="Check FOOTNOTE_GITHUB__API_BASE: https://api.github.com, or https://HOST/api/v3.",
    )


def garbled() -> SourceError:
    """What came is not what GitHub's API answers."""
    return SourceError("GitHub answered with what cannot be read.", hint="Try again later.")
