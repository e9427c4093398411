"""READING: what a question was taken to ask, in its own words, and what the conversation added to it."""

from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from pipelines.query.question.form import AnswerKind, QuestionType, is_name_word
from pipelines.query.question.words import words
from pipelines.store.tokens import tokenise
from pipelines.text import base_verb_forms, fold

NAMES_NOTHING = "The question names nothing to look for: name a person, a project or a topic."
_VALUES: Mapping[AnswerKind, str] = {
    "why": "a reason", "money": "an amount of money", "share": "a share", "duration": "a length of time",
    "when": "a date", "count": "a number", "who": "a person", "where": "a place", "comparison": "a comparison",
}  # fmt: skip
_EDGES = "?.,;:!\"'()[]{}“”‘’„«»"
_BETWEEN = frozenset("a an and at by de for from in of on or the to under van von with".split())
_NEAR = 3
_MOST, _LONGEST = 4, 60  # words that are named, and characters of each


def looked_for(question: QuestionType) -> str:
    """What was looked for: `I looked for a date together with “Ann” and “driving test”.`"""
    if question.is_vague:
        return NAMES_NOTHING
    value = _VALUES.get(question.kind, "")
    wanted = [*filter(None, [value]), *(f"“{words}”" for words in _matter(question))]
    if not wanted:
        return NAMES_NOTHING
    first, *others = wanted[: _MOST + bool(value)]
    last = others.pop() if others else ""
    beside = f"{', '.join(others)} and {last}" if others else last
    return f"I looked for {first}{f' together with {beside}' if beside else ''}."


def _matter(question: QuestionType) -> list[str]:
    """The words of a question that say what it is about, those that belong together as one, in order, each once."""
    runs: list[list[str]] = []
    kind, between, owns = "", list[str](), False
    for place, raw in enumerate(question.text.split()):
        word = raw.strip(_EDGES)
        own = _kind_of(word, question, first=place == 0)
        if not own and kind == "matter" and not between and tokenise(word):
            own = kind  # "blood type": only the first word is one that an answer must hold
        if not own:
            between.append(raw)
            continue
        is_linked = len(between) < _NEAR and raw[0] not in _EDGES and _BETWEEN.issuperset(map(str.lower, between))
        if runs and is_linked and (kind == own or owns or between):
            runs[-1] += [*between, word]
        else:
            runs.append([word])
        kind, between, owns = own, [], word.endswith(("'s", "’s"))
        if raw[-1] in _EDGES:
            kind, between = "", [""]
    return list(dict.fromkeys(" ".join(run)[:_LONGEST].removesuffix("'s").removesuffix("’s") for run in runs))


def _kind_of(word: str, question: QuestionType, *, first: bool) -> str:
    """`name` or `matter` for a word of what is asked; else empty."""
    if word.lower() in _BETWEEN:
        return ""
    terms = tokenise(base_verb_forms(word.removesuffix("'s").removesuffix("’s")))[:1]
    if terms and (is_name_word(word, first=first) or terms[0] in question.names):
        return "name"
    return "matter" if terms and terms[0] in question.focus else ""


def additions(asked: str, whole: str) -> tuple[tuple[str, str], ...]:
    """What a follow-up's standalone form says in place of its words: (`it`, `saltlick`), or ("", what was left unsaid).

    Empty where the form is another question altogether.
    """
    found = list(_replaced(asked.split(), whole.split()))
    return tuple((said, meant) for said, meant in found if meant) if all(_is_pointer(*each) for each in found) else ()


def _replaced(asked: list[str], whole: list[str]) -> Iterator[tuple[str, str]]:
    """(the words of a question, those in their place) where its standalone form differs."""
    before, after = ([fold(word.strip(_EDGES)) for word in each] for each in (asked, whole))
    for kind, start, end, first, last in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        if kind != "equal":
            said, meant = " ".join(asked[start:end]), " ".join(whole[first:last])
            yield said.strip(_EDGES), meant.strip(_EDGES)


def _is_pointer(said: str, meant: str) -> bool:
    """True if a word that points at something became a name, or words were added that were left unsaid."""
    return fold(said) in words("pointers") and bool(meant) if said else True
