"""What a question only asks with, and what it says is not wanted, is not searched for."""

import re

from pipelines.store.tokens import tokenise
from pipelines.text import sentences

# Words about the answer's form, not its matter: they are searched for, but evidence does not ask for them.
_FORM = frozenset(
    tokenise(
        """tell give show list name describe explain please many much long often kind sort type some any ever there
        also about know say said does has have being been most more first last"""
    )
)
_SOMEONE = r"\b(?:i|we)(?:'m|'re|'d|\s+am|\s+are|\s+would)"
_VERY = r"(?:(?:also|very|mainly|only|really|particularly|especially|specifically)\s+)*"
_WORKS = r"(?:articles?|papers?|abstracts?|documents?|passages?|discussions?|descriptions?|details?|info(?:rmation)?)"
_WHICH_DEAL = r"(?:(?:which|that)\s+)?(?:deals?\s+with|discuss)"
_ABOUT = rf"(?:on|of|about|for|in|regarding|concerning|describing|dealing\s+with|{_WHICH_DEAL})"

# "I am looking for", "we would like to know": wherever it stands.
_WANTING = re.compile(
    rf"{_SOMEONE}\s+{_VERY}(?:interested\s+in|looking\s+for|seeking|searching\s+for"
    rf"|(?:like|love)(?:\s+to\s+(?:see|know|find|read|learn|get|have))?)\b"
    r"|\b(?:i|we)\s+(?:want|need|wish)\s+to\s+(?:see|know|find|read|learn)\b",
    re.IGNORECASE,
)
# "Please tell me about", "find all discussions of", "what articles exist which deal with": where a sentence begins.
_OPENING = re.compile(
    rf"""[\s,:-]*(?:
        (?:please|kindly|hi|hello|hey|so|well|thanks|ok(?:ay)?|also|and)\b[\s,!.]*(?=\w)
      | (?:can|could|would|will)\s+you\b (?:\s+(?:please|help\s+me|be\s+able\s+to)\b)*
      | (?:what\s+)?do\s+you\s+(?:know|have)\b (?:\s+any(?:thing)?\b)? (?=\s+(?:{_WORKS}|{_ABOUT})\b)
      | (?:is|are)\s+there\s+any(?:thing)?\b (?=\s+(?:{_WORKS}|{_ABOUT})\b)
      | interested\s+in\b | wanted\s+are\b | (?:areas\s+)?of\s+(?:particular|special)\s+interest\s+(?:is|are|include)\b
      | (?:tell|give|show|teach)\s+(?:me|us)\b | (?:find|list|describe|explain|summari[sz]e|give|show)\b
      | (?:what|which)\s+{_WORKS}\s+(?:exist|are\s+there|do\s+you\s+have|(?=deal|discuss))\b
      | (?:(?:all|any|some|more|the)\s+)*{_WORKS}(?=\s+{_ABOUT}\b) | (?:all|any|some)(?=\s+{_WORKS}\b)
    )(?:\s+{_ABOUT}\b)?""",
    re.IGNORECASE | re.VERBOSE,
)
# "(but) we are not interested in ..." up to the end of its clause.
_UNWANTED = re.compile(
    rf"(?:^|[,;(.!?]\s*|\s-+\s*)(?:(?:but|and|though)\s+)?{_SOMEONE}\s+not\s+{_VERY}"
    r"(?:interested\s+in|looking\s+for|concerned\s+with)\b[^.;!?)]*",
    re.IGNORECASE,
)


def trim(question: str) -> str:
    """The question without its request phrases and without what it says is not wanted; whole when nothing is left.

    A question without either comes back as it was.
    """
    plain = question.replace("’", "'")
    wanted = _WANTING.sub(" ", _UNWANTED.sub("", plain))
    kept = " ".join(" ".join(_matter(wanted[start:end]) for start, end in sentences(wanted)).split())
    return kept if tokenise(kept) else question


def terms_of(question: str) -> list[str]:
    """The index terms of what is asked, without words about the answer's form, in order."""
    return [term for term in tokenise(question) if term not in _FORM]


def _matter(sentence: str) -> str:
    """A sentence without the request phrases that it begins with; whole when it has nothing else."""
    rest = sentence
    while opening := _OPENING.match(rest):
        rest = rest[opening.end() :]
    return rest.lstrip(" ,:-") if tokenise(rest) else sentence
