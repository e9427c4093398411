"""READING: what a question was taken to ask, in its own words, and what the conversation added to it."""

from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from config.languages import language_words
from pipelines.query.question.form import AnswerKind, QuestionType, classify_question, is_name_word
from pipelines.query.question.language import matter, question_language
from pipelines.query.question.words import Phrase, Text, read, words
from pipelines.store.tokens import tokenise
from pipelines.text import base_verb_forms, fold, word_parts
from pipelines.types import QueryIntent

NAMES_NOTHING = "The question names nothing to look for: name a person, a project or a topic."
_VALUES: Mapping[AnswerKind, str] = {
    "why": "a reason", "money": "an amount of money", "share": "a share", "duration": "a length of time",
    "when": "a date", "count": "a number", "who": "a person", "where": "a place", "comparison": "a comparison",
}  # fmt: skip
_EDGES = "?.,;:!\"'()[]{}“”‘’„«»"
_JOINS = frozenset("a an of the to".split())
_MOST, _LONGEST = 4, 60  # phrases that are named, and characters of each


def looked_for(intent: QueryIntent) -> str:
    """A sentence on what was looked for: `I looked for a date together with “Ann” and “driving test”.`

    Empty where nothing can be named: the question has only words that ask.
    """
    if language := question_language(intent.question)[0]:
        return _looked_for(matter(intent.question, language), language_words(language, "texts"))
    question = classify_question(intent)
    if question.is_vague:
        return NAMES_NOTHING
    value = _VALUES.get(question.kind, "")
    wanted = [*filter(None, [value]), *(f"“{words}”" for words in _phrases(question, intent.names))]
    if wanted in ([], [value]):
        return ""
    first, *others = wanted[: _MOST + bool(value)]
    last = others.pop() if others else ""
    beside = f"{', '.join(others)} and {last}" if others else last
    return f"I looked for {first}{f' together with {beside}' if beside else ''}."


def _looked_for(phrases: Sequence[str], texts: Mapping[str, str]) -> str:
    """The sentence in another language; empty without phrases."""
    *others, last = [f"“{words[:_LONGEST]}”" for words in dict.fromkeys(phrases)][:_MOST] or [""]
    said = f"{', '.join(others)} {texts['and']} {last}" if others else last
    return texts["looked_for"].format(words=said) if last else ""


def _phrases(question: QuestionType, stored: Sequence[str]) -> list[str]:
    """The names and noun phrases of a question, each whole and once, in its order; stored names as they are typed."""
    text, spoken = read(question.text), [word_parts(name) for name in stored]
    runs: list[Phrase] = []
    kinds: list[str] = [""] * len(text.words)
    for at in range(len(text.words)):
        kinds[at] = kinds[at] or _kind_of(text, at, question)
        if length := max((_length_at(text, at, said) for said in spoken), default=0):
            kinds[at : at + length] = ["stored"] * length
        if not kinds[at]:
            continue
        if runs and _is_one_phrase(text, runs[-1], at, kinds):
            runs[-1] = Phrase(runs[-1].first, at + 1)
        else:
            runs.append(Phrase(at, at + 1))
    return list(dict.fromkeys(text.slice(run.first, run.last)[:_LONGEST] for run in runs))


def _length_at(text: Text, at: int, said: Sequence[str]) -> int:
    """The number of words from this one on that are a name; 0 where it does not stand there."""
    parts: list[str] = []
    for place, word in enumerate(text.words[at : at + len(said)], start=1):
        parts += word.parts
        if parts == said:
            return place
    return 0


def _is_one_phrase(text: Text, run: Phrase, at: int, kinds: Sequence[str]) -> bool:
    """True if a word goes on with a phrase: next to it, or after "of"; "Ann" and what she did are two."""
    last = run.last - 1
    if any(not {*",;:?!()"}.isdisjoint(word.before) for word in text.words[run.last : at + 1]):
        return False
    between, before, own = text.all[run.last : at], kinds[last], kinds[at]
    if between:
        return _JOINS.issuperset(between) and not {"of", "to"}.isdisjoint(between)
    is_led = (
        run.first > 0
        and _JOINS.isdisjoint(text.all[run.first : run.last])
        and text.all[run.first - 1] in words("determiners") | {"the", "which", "what"}
    )
    is_name = {before, own} <= {"name", "stored"}
    return before == own or is_name or text.words[last].owns or (is_led and own == "matter")


def _kind_of(text: Text, at: int, question: QuestionType) -> str:
    """`name` or `matter` for a word of what is asked; else empty."""
    word = text.words[at]
    asks = word.text in words("request") or "'" in word.text or (word.owns and word.text in words("interrogatives"))
    terms = tokenise(base_verb_forms(word.typed))[:1]
    if asks or not terms:
        return ""
    if is_name_word(word.typed, first=at == 0) or terms[0] in question.names:
        return "name"
    goes_on = at > 0 and word.before == " " and _kind_of(text, at - 1, question) == "matter"
    return "matter" if terms[0] in question.focus or goes_on else ""


def additions(asked: str, whole: str) -> tuple[tuple[str, str], ...]:
    """(words of a follow-up, those in their place when it stands alone): (`it`, `saltlick`), ("", what was unsaid).

    Empty where the form is another question altogether.
    """
    found = list(_replaced(asked.split(), whole.split()))
    # A word that points at something became a name, or words were added in brackets.
    pointing = [fold(said) in words("pointers") and meant if said else meant.startswith("(") for said, meant in found]
    return tuple((said, meant.strip(_EDGES)) for said, meant in found if meant) if all(pointing) else ()


def _replaced(asked: list[str], whole: list[str]) -> Iterator[tuple[str, str]]:
    """(the words of a question, those in their place) where its standalone form differs."""
    before, after = ([fold(word.strip(_EDGES)) for word in each] for each in (asked, whole))
    for kind, start, end, first, last in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        if kind != "equal":
            said, meant = " ".join(asked[start:end]), " ".join(whole[first:last])
            yield said.strip(_EDGES), meant.strip(_EDGES.replace("(", ""))
