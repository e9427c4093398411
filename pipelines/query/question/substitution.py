"""The last question with the part of it swapped that a follow-up names: "And when?", "What about Berlin?"."""

from dataclasses import replace

from pipelines.query.question.names import bounds_in, names_in
from pipelines.query.question.references import answered_by, openers, phrase_end, placed_phrases, said_of, with_person
from pipelines.query.question.rules import number
from pipelines.query.question.words import Phrase, Text, is_year, read, words
from pipelines.query.verification.words import years_in
from pipelines.store.known_names import NO_NAMES, NameIndex, is_own_word
from pipelines.text import fold, participle
from pipelines.types import Turn

_PAST = {"does": "did", "do": "did", "is": "was", "are": "were"}
_MAX_WORDS = 5
ENDS = " ?.!"


def substituted(question: str, last: Turn, known: NameIndex) -> str:
    """The last question, as it stands alone, with the part of it swapped that a follow-up names; empty where it names
    none.

    A stored name takes the place of another of its kind only.
    """
    asked, whole = last.question.rstrip(ENDS), question.strip(ENDS)
    if asked and is_name_alone(whole) and read(asked).has("they"):
        return f"{with_person(asked, whole)}?"
    if asked and bare_question(read(question)) and read(question).says("why-not"):
        return f"Why not: {asked}?"
    anew = _asked_anew(read(question), read(asked)) if asked else ""
    return anew or (_instead(other_part(question, known), replace(last, question=asked), known) if asked else "")


def is_name_alone(question: str) -> bool:
    """True if a question is a name and nothing else, as in reply to "Which one do you mean?"."""
    named = names_in(f"x {question}")
    return bool(named) and named[0].text == question and read(question).all[0] not in words("opener")


def bare_question(text: Text) -> str:
    """The words to ask with, of a question that has no others: "since when" of "And since when exactly?"."""
    asks = text.at("asks", openers(text))
    if not asks:
        return ""
    tail = text.at("bare-tail", asks.last)
    return text.slice(asks.first, asks.last) if (tail.last if tail else asks.last) == len(text.words) else ""


def _asked_anew(question: Text, last: Text) -> str:
    """ "When ..." of "And when?": the last question with another word to ask with."""
    bare = bare_question(question)
    if not bare or not last.words:
        return ""
    if (done := last.find("did-there")) and last.all[done.first] == "do":  # "How long did Ann work at Acme?"
        last = read(last.with_words(Phrase(done.first, done.first + 1), "work"))
    asks, text = bare[:1].upper() + bare[1:].lower(), last.text
    opening = last.at("asks-of-all", openers(last))
    verbs = range(opening.last, len(last.words)) if opening else ()
    if opening and (at := next((at for at in verbs if last.all[at] in words("aux")), None)) is not None:
        verb = last.words[at]
        matter = text[last.words[opening.last - 1].end : verb.start].rstrip()
        rest = text[verb.end :]
        if last.all[-1] in words("dangling"):
            rest = rest.removesuffix(f" {last.words[-1].typed}")
        if verb.text in words("copula"):
            return f"{asks} {verb.typed}{matter}{rest}?"
        placed = (word.start - verb.end - 1 for word in last.words[at + 1 :] if word.text in words("placed"))
        place = next(placed, len(rest))
        return f"{asks} {verb.typed}{rest[:place]}{matter}{rest[place:]}?"
    if last.all[0] in words("aux"):
        return f"{asks} {text[:1].lower()}{text[1:]}?"
    if (subject := last.at("subject", 0)) and (made := participle(last.words[subject.last - 1].typed)):
        return f"{asks} was {text[last.words[subject.last].start :]} {made}?"
    return f"{asks} {text[last.words[opening.last - 1].end :].lstrip()}?" if opening else f"{asks}: {text}?"


def other_part(question: str, known: NameIndex = NO_NAMES) -> str:
    """The name, year, place in a row or time that a question brings instead of another; empty where it brings none."""
    text = read(question)
    lead = text.at("instead", 0)
    if not lead or not 0 < len(text.words) - lead.last <= _MAX_WORDS + 3 * text.says("years-away"):
        return ""
    other = question[text.words[lead.last].start :].rstrip(ENDS)
    said = read(other)
    is_part = any(said.says(name) for name in ("by-then", "in-a-year", "years-away", "with-phrase"))
    name = _relation_and_name(other)[1]
    return other if is_part or _is_name(name) or known.kind_of(name) else ""


def _relation_and_name(other: str) -> tuple[str, str]:
    text = read(other)
    lead = text.at("related", 0)
    if not lead or lead.last == len(text.words):
        return "", other
    relation = next((text.words[at].typed for at in range(lead.last) if text.all[at] in words("relations")), "")
    return relation, other[text.words[lead.last].start :]


def _is_name(text: str) -> bool:
    named = names_in(f"x {text}")
    signed = text.startswith(".") or text.rstrip("+#") != text
    return bool(named and named[0].text == text) or is_own_word(text) or signed


def _instead(other: str, last: Turn, known: NameIndex) -> str:
    """The last question with another name, year, place in a row, or time."""
    said, text = read(other), read(last.question)
    if not other:
        return ""
    if said.says("by-then"):
        return _beside(said.all[0], last)
    if away := said.find("years-away"):
        year = _year_away(said, away, last)
        rest = other[said.words[away.last - 1].end :].strip(" ,")
        return f"{_in_year(f'in {year}', last, years_away=True)} {rest}".strip() + "?" if year else ""
    if said.says("in-a-year"):
        return f"{_in_year(other, last)}?"
    relation, name = _relation_and_name(other)
    kind = known.kind_of(name)
    spans = [*known.places(text.text), *((each.start, each.end) for each in names_in(text.text))]
    same = [span for span in spans if kind and known.kind_of(text.text[slice(*span)]) == kind]
    if same or (kind in ("project", "other") and not relation):
        return f"{text.text[: max(same)[0]]}{name}{text.text[max(same)[1] :]}?" if same else ""
    return (_with_name(other, last, known) if kind or _is_name(name) else "") or _with_phrase(said, text)


def _year_away(said: Text, away: Phrase, last: Turn) -> int:
    """The year so many before or after the one that the last question names, else its answer; 0 without one."""
    years = years_in(last.question)[-1:] or years_in(last.answer)
    count = next((n for word in said.all[away.first : away.last] if (n := number(word))), 1)
    direction = -1 if not said.set.isdisjoint({"before", "earlier", "previous"}) else 1
    return int(years[0]) + direction * count if years else 0


def _in_year(year: str, last: Turn, *, years_away: bool = False) -> str:
    """The last question with another year, in place of its own or of the last name that it places something by."""
    text = read(last.question)
    places = [at for at, word in enumerate(text.words) if is_year(word.text)]
    if places:
        at = places[-1]
        led = " " in year and at > 0 and text.all[at - 1] in words("placed")
        return text.with_words(Phrase(at - led, at + 1), year)
    if " " in year and (placed := placed_phrases(text)) and years_away:
        return text.with_words(Phrase(*placed[-1]), year)
    return f"{last.question} {year if ' ' in year else f'in {year}'}"


def _with_phrase(said: Text, text: Text) -> str:
    """The last question with what its last such preposition leads swapped: "with vectors" for "with BM25"."""
    one = said.at("the-one", 0)
    led = said.all[one.last if one else 0]
    same = [at for at, word in enumerate(text.all[:-1]) if word == led]
    swapped = said.text[said.words[one.last if one else 0].start :]
    named = [name for name in names_in(text.text) if not name.placed]
    if not same and one and named:  # "the talk Late Data" and "the one on game days"
        return f"{text.text[: named[-1].start]}{swapped}{text.text[named[-1].end :]}?"
    if not same:
        return ""
    return f"{text.with_words(Phrase(same[-1], phrase_end(text, same[-1])), swapped)}?"


def _beside(relation: str, last: Turn) -> str:
    """The last question, asked of the time before or after the one that it names, or that its answer does."""
    times = [name for name in bounds_in(last.question) if name.placed]
    if not times:
        when, said = answered_by(last), read(last.question)
        bound = next((word.start for word in said.words if word.text == relation), len(last.question))
        return f"{_at_that_time(last.question[:bound].rstrip(), relation)} {relation} {when}?" if when else ""
    at, end = times[-1].start, times[-1].end
    before, rest = last.question[:at].rstrip(), last.question[end:]
    is_place = times[-1].placed.lower() in words("inside") and not times[-1].text.isdigit()
    years = years_in(last.answer) if is_place else []
    named = years[0 if relation == "before" else -1] if years else times[-1].text
    when = answered_by(last) if said_of(last.question, relation) else named
    led = before.split()[-1:] != [] and fold(before.split()[-1]) in words("placed")
    return f"{before.rpartition(' ')[0]} {relation} {when}{rest}?" if when and led else ""


def _at_that_time(asked: str, relation: str) -> str:
    """The question without "now", and of what was before in the past tense: "Where did Ann work"."""
    text = read(asked)
    if not (now := text.find("right-now")):
        return asked
    before = asked[: text.words[now.first].start].rstrip(" ,")
    then = read(before + asked[text.words[now.last - 1].end :])
    verb = next((at for at, word in enumerate(then.all) if word in _PAST), -1)
    is_past = relation == "before" and verb >= 0
    return then.with_words(Phrase(verb, verb + 1), _PAST[then.all[verb]]) if is_past else then.text


def _with_name(other: str, last: Turn, known: NameIndex) -> str:
    """With the last name that stands there as the other does: after the same preposition, or after any."""
    relation, name = _relation_and_name(other)
    asked, kind = last.question, known.kind_of(name)
    named = names_in(asked, last.sources)
    found = [each for each in named if not (kind and known.kind_of(each.text))]
    before = [(one, asked[: one.start].lower().split()[-2:]) for one in found]  # a preposition, and an article or none
    led = [(one, last[1:] if last[-1:] != ["the"] else last[:1]) for one, last in before]
    same = [one for one, last in led if not relation or relation.lower() in last]
    if not relation and read(asked).has("they") and (kind or not same):
        return f"{with_person(asked, name)}?"
    if kind == "person":
        same = [one for one in same if one.acts or one.owns] or same
    if not relation and other.lower().startswith("the "):
        same = [one for one in found if one.article] or same
    if relation in ("for", "of") and not same:  # "and for Bergen" after "in Leith": of a place
        same = [one for one in found if one.placed]
    if same:
        return f"{asked[: same[-1].start]}{name}{asked[same[-1].end :]}?"
    return f"{asked} {other}?" if relation or (found and not kind) else ""
