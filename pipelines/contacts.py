"""How a person is reached: the e-mail addresses, telephone numbers and links of a text."""

import re
from collections.abc import Iterator

_EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}")
_PHONE = re.compile(r"(?<![\w/.])\(?\+?\(?\d[\d ()./-]{6,20}\d(?!\w)")
_LINK = re.compile(
    r"(?<![@\w.-])(?:https?://)?(?:www\.)?[\w-]{1,63}(?:\.[\w-]{1,63}){0,4}\.[a-z]{2,10}(?:/[^\s()|,;]{0,300})?(?![\w@])",
    re.IGNORECASE,
)
_MIN_PHONE, _MAX_PHONE = 7, 15  # digits; the latter as in E.164
_MAX_CONTACT = 100
_SCHEMES = ("http://", "https://", "www.")
_IN_LOCAL_PART, _IN_HOST = "_.+-", "_-"
_ON_LINKEDIN = "linkedin.com/in/"
_MAX_SLUG = 120


def email_in(text: str) -> str:
    """The first e-mail address; "" without one."""
    found = _EMAIL.search(text)
    return found[0].rstrip(".") if found else ""


def link_spans(text: str) -> list[tuple[int, int]]:
    """The spans of the links in order, without a stop at their end; an e-mail address is none."""
    bare = _EMAIL.sub(lambda found: " " * len(found[0]), text)
    return [(found.start(), found.start() + len(found[0].rstrip(".,;/"))) for found in _LINK.finditer(bare)]


def links_in(text: str) -> tuple[str, ...]:
    """The links in order, each once; that of a LinkedIn profile is joined where a line end cuts it."""
    return tuple(dict.fromkeys(_whole_link(text, *span) for span in link_spans(text)))


def _whole_link(text: str, start: int, end: int) -> str:
    host, profile, _ = text[start:end].partition(_ON_LINKEDIN)
    return f"{host}{profile}{linkedin_slug(text[start:])}" if profile else text[start:end]


def is_link(words: str) -> bool:
    """True if the words are a link and nothing else."""
    return _LINK.fullmatch(words) is not None


def phones_in(text: str) -> Iterator[str]:
    """The spans that may be telephone numbers, by their digits: dates with months are, too."""
    for found in _PHONE.finditer(text):
        if _MIN_PHONE <= sum(map(str.isdigit, found[0])) <= _MAX_PHONE:
            yield found[0].strip()


def linkedin_slug(text: str) -> str:
    """The end of the first address of a LinkedIn profile, joined where a line end cuts it; "" without one."""
    at = text.casefold().find(_ON_LINKEDIN)
    if at < 0:
        return ""
    after = text[at + len(_ON_LINKEDIN) :][: 2 * _MAX_SLUG]
    first = _until_sign(after)
    rest = after[len(first) :].removeprefix(" ").removeprefix("\n")
    return first + _until_sign(rest) if first.endswith("-") else first


def _until_sign(text: str) -> str:
    for sign in "()/?#":
        text = text.partition(sign)[0]
    return "" if text[:1].isspace() else "".join(text.split(maxsplit=1)[:1])


def begins_address(text: str) -> bool:
    """True if a text begins with an e-mail address or a link: a scheme, `name@`, `host.com/`."""
    host, slash, _ = text.partition("/")
    name, _, ending = host.partition(".")
    is_host = bool(slash) and _is_label(name) and ending.isalpha() and ending.isascii() and 2 <= len(ending) <= 4
    local, at, _ = text.partition("@")
    is_local = bool(at and local) and all(char.isalnum() or char in _IN_LOCAL_PART for char in local)
    return text.lower().startswith(_SCHEMES) or is_local or is_host


def is_host(text: str) -> bool:
    """True if a text begins with the name of a host, alone or before a slash: "host.com/path"."""
    labels = text.partition("/")[0].split(".")
    return 1 < len(labels) < 7 and all(map(_is_label, labels))


def _is_label(name: str) -> bool:
    return bool(name) and all(char.isalnum() or char in _IN_HOST for char in name)


def is_contact(words: str) -> bool:
    """True if the words are an address, a link or a telephone number, maybe with a label in brackets, and no more."""
    if len(words) >= _MAX_CONTACT:
        return False
    head, opened, aside = words.partition(" (")
    bare = head if opened and aside.find(")") == len(aside) - 1 and "(" not in aside else words
    digits = bare.removeprefix("+")
    is_phone = len(digits) > _MIN_PHONE - 1 and digits[0] in "(0123456789" and not digits.strip("0123456789 ().-")
    return is_phone or (len(bare.split()) == 1 and (bare.count("@") == 1 or begins_address(bare)))
