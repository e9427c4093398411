"""What "she", "it", "there" and "before that" mean in a follow-up, by the questions and answers before it."""

from collections.abc import Sequence

from pipelines.query.question.names import Name, bounds_in, is_person_name, names_in
from pipelines.query.question.words import Phrase, Text, read, words
from pipelines.store.known_names import NO_NAMES, NameIndex, is_own_word
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import base_verb_forms, fold, participle
from pipelines.types import Turn

_MARKS = ".,;:!?'\"()"
_SHORT = 3  # letters of an ordinary word
_READ = 400  # characters of an answer
_RELATIONS = {"beforehand": "before", "afterwards": "after", "afterward": "after", "thereafter": "after"}


def _one(text: Text) -> tuple[int, bool]:
    """(the place of the first word for somebody, True if it says whose); (-1, False) without one."""
    at = next((at for at, word in enumerate(text.all) if word in words("they")), -1)
    if at < 0 or text.all[at] != "her":
        return at, at >= 0 and text.all[at] in ("hers", "his")
    return at, text.after(at) == " " and text.all[at + 1] not in words("after-her")


def points_at_person(question: str) -> bool:
    """True if a question speaks of somebody whom it does not name."""
    text = read(question)
    at, _ = _one(text)
    return at >= 0 and not named_before(text, at)


def named_before(text: Text, at: int) -> bool:
    """True if the clauses before that of a word hold a name: "Did Ann say where she works?" says who she is."""
    opener = next((place for place in range(at - 1, 0, -1) if text.all[place] in words("clause-openers")), 0)
    before = text.text[: text.words[opener].start] if opener else ""
    return any(not name.placed for name in names_in(before)) or any(
        is_own_word(word.typed) and len(word.text) > _SHORT for word in read(before).words
    )


def resolve_references(question: str, turns: Sequence[Turn], known: NameIndex) -> str:
    """The question with the names that it points at, where it is clear which; the rest of it stays.

    The turns are the last first, their questions as they stand alone. "She" is only a known person, "it" is none.
    """
    who = next((name for turn in turns if (name := _person(turn, known))), "")
    named = who if points_at_person(question) else ""
    resolved = _with_time_and_place(question, turns[0], named, known)
    resolved = with_person(resolved, who) if who else resolved
    what = _thing(turns[0], named, known)
    text = read(resolved)
    several = next((at for at, word in enumerate(text.all) if word in words("several")), None)
    if several is not None and (several_things := _several(read(turns[0].question), who)):
        return text.with_words(Phrase(several, several + 1), several_things)
    it = next((at for at, word in enumerate(text.words) if word.text in ("it", "its") and not word.owns), None)
    if not what or it is None:
        return resolved
    return text.with_words(Phrase(it, it + 1), what + "’s" * (text.all[it] == "its"))


def with_person(question: str, who: str) -> str:
    """The question with a name for its first "she" or "her"."""
    text = read(question)
    at, owns = _one(text)
    return text.with_words(Phrase(at, at + 1), f"{who}’s" if owns else who) if at >= 0 else question


def _several(text: Text, who: str) -> str:
    """The things that a question asks for or about, with what they are placed by; empty where it names none."""
    found = text.find("asked-things")
    if not found:
        return ""
    placed = (text.slice(*phrase) for phrase in placed_phrases(text) if who not in text.slice(*phrase).split())
    return " ".join([f"the {text.words[found.last - 1].typed}", *placed])


def placed_phrases(text: Text) -> list[tuple[int, int]]:
    """The places of the phrases that a preposition of place or time leads, with it: "in spring 2020"."""
    starts = [at for at in range(len(text.words) - 1) if text.all[at] in words("placed")]
    return [(at, phrase_end(text, at)) for at in starts]


def phrase_end(text: Text, start: int) -> int:
    """Where the phrase ends that a preposition leads."""
    ends = words("prepositions") | words("placed") | words("aux")
    places = range(start + 2, len(text.words))
    open_ = {"of"}  # "the second preview of Kettle of Birds"
    found = (at for at in places if text.words[at].before != " " or (text.all[at] in ends - open_))
    return next(found, len(text.words))


def _is_persons(title: str, known: NameIndex) -> bool:
    """True for the title that is a person's name: a stored one, or where none is stored, one that looks like it."""
    if known.people:
        return known.kind_of(title) == "person"
    parts = title.split(" ")  # two to four words, each with a capital
    is_plain = all(char.isalpha() or char in "’'-. " for char in title)
    return 1 < len(parts) < 5 and is_plain and all(part[:1].isupper() for part in parts)


def _person(turn: Turn, known: NameIndex) -> str:
    """The person a text speaks of: a stored name, else one that titles a source, else the first that acts as a person
    does, else a source's. A name after "she" is not hers.
    """
    text, titles = turn.question, turn.sources
    they = next((word.start for word in read(text).words if word.text in words("they")), len(text))
    people = [title for title in titles if _is_persons(title, known)]
    named = names_in(text, people)
    stored = (name.text for name in named if known.kind_of(name.text) == "person")
    own_words = {word for title in people for word in fold(title).split()}
    owned = (name.text for name in named if own_words.issuperset(fold(name.text).split()))
    others = (
        name.text
        for name in named
        if not (
            name.placed
            or name.article
            or name.text in titles
            or fold(name.text).split()[0] in words("calendar")
            or they < name.start
        )
        and not known.kind_of(name.text)
        and is_person_name(read(text), name)
        and words("of-things").isdisjoint(name.text.split())
    )
    return next(stored, "") or next(owned, "") or next(others, "") or next(iter(people), "")


def _thing(turn: Turn, who: str, known: NameIndex) -> str:
    """The thing that a text speaks of: the source that is named or asked for, else the only name of no person or place.

    "The Acme outage" is the outage; and after "Which ship was Ann on?" it is the ship, which nothing names.
    """
    text, titles = turn.question, turn.sources
    stored = [text[slice(*span)] for span in known.places(text)]
    if of_things := [name for name in stored if known.kind_of(name) != "person"]:
        return of_things[-1]
    people = {word for title in titles if _is_persons(title, known) for word in fold(title).split()}
    named = [
        name
        for name in names_in(text, titles)
        if name.text != who
        and not people.issuperset(fold(name.text).split())
        and fold(name.text).split()[0] not in words("calendar")
        and known.kind_of(name.text) != "person"
    ]
    asked_text = read(text)
    things = {fold(title) for title in titles if not _is_persons(title, known)}
    called = (name.text for name in named if fold(name.text) in things)
    asks = asked_text.all[:1] in (["what"], ["which"])
    asked = (title for title in titles[:1] if asks and is_own_word(title))
    others = [name for name in named if not (name.placed or name.acts or name.owns)]
    only = others[0] if len(others) == len(named) == 1 and not asked_text.says("asks-for-one") else None
    return next(called, "") or next(asked, "") or (_with_noun(asked_text, only) if only else _owned(asked_text))


def _owned(text: Text) -> str:
    """What somebody is said to have, with whose it is: "Ann's thesis" of "What was Ann's thesis about?"."""
    owners = (at for at, word in enumerate(text.words[:-1]) if word.owns and word.typed[:1].isupper())
    at = next((at for at in owners if text.all[at] not in words("opening")), -1)
    noun = text.words[at + 1] if at >= 0 else None
    ends = noun is not None and (at + 2 == len(text.words) or text.all[at + 2] in STOP_WORDS)
    return f"{text.words[at].typed}’s {noun.typed}" if noun and ends else ""


def _with_noun(text: Text, name: Name) -> str:
    """The name, or with its article the noun that it tells apart: "the Acme outage" of "When was the Acme outage?"."""
    at = next((place for place, word in enumerate(text.words) if word.start > name.end), -1)
    noun = text.words[at]
    ends = at + 1 >= len(text.words) or at == -1 or text.all[at + 1] in words("prepositions")
    is_next = ends and name.article and text.text[name.end : noun.start] == " "
    is_last = is_next and noun.typed.islower() and len(noun.text) > 2
    is_noun = is_last and not participle(noun.typed) and base_verb_forms(noun.typed) == noun.typed
    is_named = is_noun and noun.text not in STOP_WORDS | words("now")
    of = text.slice(at + 1, at + 3) if text.all[at + 1 : at + 2] == ["of"] and at >= 0 else ""
    return f"the {name.text} {noun.typed} {of}".rstrip() if is_named else name.text


def _with_time_and_place(question: str, last: Turn, who: str, known: NameIndex) -> str:
    """The question with "before that" and "there" as the name or year that the last question places something by.

    "There" after "where" is the place that was answered.
    """
    named = [name for name in bounds_in(last.question, last.sources) if name.text != who]
    times = words("bounds-of-time")
    placed = [name for name in named if name.placed and not name.text.isdigit()]
    places = [(name.placed.lower(), name.text) for name in placed if name.placed.lower() not in times]
    text = read(last.question)
    if (where := answered_by(last, known)) and not places and text.all[openers(text) :][:1] == ["where"]:
        places = [("at", where)]
    elif not places and placed:
        places = [("at", placed[-1].text)]
    elif not places and len(named) == 1 and not (named[0].acts or named[0].owns or named[0].text.isdigit()):
        places = [("at", named[0].text)]
    asked = read(question)
    if then := asked.find("then"):
        relation = _RELATIONS.get(asked.all[then.first], asked.words[then.first].typed)
        when = answered_by(last) if said_of(last.question, relation) else _moment(text, named)
        question = asked.with_words(then, f"{relation} {when}") if when else question
    if places:
        where, place = places[-1]
        inside = where if where in words("inside") else "at"
        asked = read(question)
        for at in reversed(range(len(asked.all))):
            beside = {*asked.all[max(at - 1, 0) : at], *asked.all[at + 1 : at + 2]}
            if asked.all[at] == "there" and beside.isdisjoint(words("copula")):
                question = read(question).with_words(Phrase(at, at + 1), f"{inside} {place}")
    return question


def _moment(text: Text, named: Sequence[Name]) -> str:
    """What a question places something by, in its own words, where a name ends it: "the preview of Otto"; or a name."""
    if not named:
        return ""
    phrases = (text.slice(first + 1, last) for first, last in reversed(placed_phrases(text)))
    return next((said for said in phrases if said.endswith(named[-1].text)), named[-1].text)


def said_of(text: str, relation: str) -> bool:
    """True if a text already says what is before, or after."""
    return any(name.placed.lower() == relation.lower() for name in bounds_in(text))


def answered_by(turn: Turn, known: NameIndex = NO_NAMES) -> str:
    """The first name of an answer of which its question has no word: a stored one, else one that stands after "at"."""
    asked = {word.strip(_MARKS) for word in fold(turn.question).split()}
    said = turn.answer[:_READ]
    stored = [said[slice(*span)] for span in known.places(said)]
    places = [name for name in stored if known.kind_of(name) == "other" and asked.isdisjoint(fold(name).split())]
    new = [name for name in names_in(said) if asked.isdisjoint(fold(name.text).split())]
    at = (name.text for name in new if name.placed == "at")
    return next(iter(places), "") or next(at, "") or next((name.text for name in new), "")


def openers(text: Text) -> int:
    """The number of the words "and", "but" that a question opens with, up to three."""
    return next((at for at, word in enumerate(text.all[:3]) if word not in words("opener")), min(len(text.all), 3))
