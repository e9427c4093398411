"""Rewrite a follow-up question so that it stands alone: by a language model, else by rules."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from llama_index.core.llms import LLM

from config.prompts import CONDENSE
from pipelines.models.consult import consult, reply_limit
from pipelines.query.delimit import escape_delimiters, fresh_key
from pipelines.query.llm_queries import MAX_REPLY, MAX_SEARCH, parse_queries
from pipelines.query.question.names import Name, bounds_in, capitals, is_capital, names_in
from pipelines.query.question.rules import terms_of, trim
from pipelines.query.question.words import Phrase, Text, is_year, read, words
from pipelines.store.known_names import is_own_word
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import base_verb_forms, count_tokens, fold, participle
from pipelines.types import CondensedBy, Turn

_CUT = " ..."
Weight = Callable[[str], float]


def recent_turns(history: Sequence[Turn], *, tokens: float, turns: int = 4) -> tuple[Turn, ...]:
    """The last turns, oldest first: at most `turns`, and at most so many cl100k tokens of questions and answers.

    A turn that does not fit ends it, but that the last turn's answer is cut to what there is room for.
    """
    kept: list[Turn] = []
    left = tokens
    for turn in reversed(history[-turns:] if turns else ()):
        fitting = turn if kept or _size(turn) <= left else _cut(turn, left - _size(Turn(turn.question, _CUT)))
        left -= _size(fitting)
        if left < 0:
            break
        kept.append(fitting)
    return tuple(reversed(kept))


def _size(turn: Turn) -> int:
    return count_tokens(turn.question) + count_tokens(turn.answer)


def _cut(turn: Turn, tokens: float) -> Turn:
    """The turn with as many of its answer's first words as fit into so many tokens."""
    words = turn.answer.split()
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count_tokens(" ".join(words[:middle])) <= tokens else (low, middle - 1)
    return replace(turn, answer=" ".join(words[:low]) + _CUT if low else "")


def stand_alone(
    question: str,
    history: Sequence[Turn],
    typed: str,
    *,
    weight: Weight = lambda _: 1.0,
    rewrite: Callable[[str, Sequence[Turn]], str] = lambda _question, _history: "",
) -> tuple[str, CondensedBy]:
    """(the question as it stands alone, what made it so); a question that stands alone comes back as it was.

    Args:
        question: Without its request phrases.
        history: The turns before it, oldest first, greetings left out.
        typed: The question with its request phrases.
        weight: How rare an index term is; the index's idf.
        rewrite: The question in the words of a language model; empty where there is none, and the rules decide.
    """
    if not is_follow_up(question, history, typed=typed):
        return question, ""
    if rewritten := rewrite(typed, history):
        return rewritten, "model"
    whole = _condensed(question, history, weight, typed=typed)
    return whole, "rules" if whole != question else ""


_HINT = "Raise FOOTNOTE_ANSWER__CONDENSE_SECONDS, or set FOOTNOTE_ANSWER__CONDENSE=rules."
_REPLY_TOKENS = 40  # by which its time is expected
_KEPT = 0.5  # of the follow-up's own terms


def rewrite_follow_up(question: str, history: Sequence[Turn], llm: LLM, *, seconds: float) -> str:
    """The follow-up as a question that is understood alone; empty when the model's reply is none.

    Args:
        question: The follow-up.
        history: The turns before it, oldest first, within their budget.
        llm: Asked once.
        seconds: It is given up after so many, or after what its measured speed makes expect.

    Raises:
        ModelError, ServiceUnavailable: If the model fails or takes too long.
    """
    texts = [text for turn in history for text in (turn.question, turn.answer)]
    key = fresh_key([*texts, question])
    conversation = "\n".join(
        f"User: {escape_delimiters(turn.question)}\nAnswer: {escape_delimiters(turn.answer)}" for turn in history
    )
    quoted = f"<<conversation {key}>>\n{conversation}\n<</conversation {key}>>\n\nFollow-up: {question}"
    messages = [("system", CONDENSE), ("user", quoted)]
    limit = reply_limit(llm, messages, reply_tokens=_REPLY_TOKENS, least=seconds)
    reply = consult(llm, messages, seconds=limit, limit=MAX_REPLY, hint=_HINT)
    return checked_rewrite(reply, question, history)


def checked_rewrite(reply: str, question: str, history: Sequence[Turn]) -> str:
    """The one question of a reply, if it says what the follow-up says and takes the rest from the conversation.

    Empty when there is none or are several, when it is no question, names somebody, something or a number that was
    not spoken of, takes nothing from the conversation, or loses half of the follow-up's own terms.
    """
    found = parse_queries(reply, question, 2)
    if len(found) != 1 or not found[0].endswith("?") or len(found[0]) >= MAX_SEARCH:
        return ""
    text = found[0]
    known = fold(" ".join((question, *(t for turn in history for t in (turn.question, turn.answer, *turn.sources)))))
    said = read(text)
    named = (word for at, word in enumerate(said.words) if is_capital(said, at) or word.text[0].isdigit())
    if any(word.text not in known for word in named):
        return ""
    own_terms, terms = set(terms_of(question)), set(terms_of(text))
    taken = (terms - own_terms) & set(terms_of(known))
    return text if taken and len(own_terms & terms) >= _KEPT * len(own_terms) else ""


_PAST = {"does": "did", "do": "did", "is": "was", "are": "were"}
_MAX_WORDS = 5
_ENDS = " ?.!"


def substituted(question: str, last: Turn) -> str:
    """The last question with the part of it swapped that a follow-up names; empty where it names no such part.

    Args:
        question: The follow-up.
        last: The turn before it, its question as it stands alone.
    """
    asked, whole = last.question.rstrip(_ENDS), question.strip(_ENDS)
    if asked and is_name_alone(whole) and read(asked).has("they"):
        return f"{with_person(asked, whole)}?"
    return (
        _asked_anew(read(question), read(asked)) or _instead(_other(question), replace(last, question=asked))
        if asked
        else ""
    )


def is_name_alone(question: str) -> bool:
    """True if a question is a name and nothing else, as in reply to "Which one do you mean?"."""
    named = names_in(f"x {question}")
    return bool(named) and named[0].text == question and read(question).all[0] not in words("opener")


def _openers(text: Text) -> int:
    """The number of the words "and", "but" that a question opens with, up to three."""
    return next((at for at, word in enumerate(text.all[:3]) if word not in words("opener")), min(len(text.all), 3))


def _bare(text: Text) -> str:
    """The words to ask with, of a question that has no others: "since when" of "And since when exactly?"."""
    asks = text.at("asks", _openers(text))
    if not asks:
        return ""
    tail = text.at("bare-tail", asks.last)
    return text.slice(asks.first, asks.last) if (tail.last if tail else asks.last) == len(text.words) else ""


def _asked_anew(question: Text, last: Text) -> str:
    """ "When ..." of "And when?": the last question with another word to ask with."""
    bare = _bare(question)
    if not bare or not last.words:
        return ""
    asks, text = bare[:1].upper() + bare[1:].lower(), last.text
    opening = last.at("asks-of-all", _openers(last))
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


def _other(question: str) -> str:
    """The name, year, place in a row or time that a question brings instead of another; empty where it brings none."""
    text = read(question)
    lead = text.at("instead", 0)
    if not lead or not 0 < len(text.words) - lead.last <= _MAX_WORDS:
        return ""
    other = question[text.words[lead.last].start :].rstrip(_ENDS)
    known = any(read(other).says(name) for name in ("by-then", "nth", "in-a-year"))
    return other if known or _is_name(_relation_and_name(other)[1]) else ""


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


def _follows(relation: str, before: str) -> bool:
    """True if a text ends with a preposition, and an article or none."""
    last = before.lower().split()[-2:]
    return relation.lower() in (last[1:] if last[-1:] != ["the"] else last[:1])


def _instead(other: str, last: Turn) -> str:
    """The last question with another name, year, place in a row, or time."""
    asked, said, text = last.question, read(other), read(last.question)
    if not other:
        return ""
    if said.says("by-then"):
        return _beside(said.all[0], last)
    if said.says("nth"):
        nth = next(word.typed.lower() for word in said.words if word.text in words("ordinals"))
        ordinal = next((word for word in text.words if word.text in words("ordinals")), None)
        return f"{asked[: ordinal.start]}{nth}{asked[ordinal.end :]}?" if ordinal else ""
    if not said.says("in-a-year"):
        return _with_name(other, last)
    places = [at for at, word in enumerate(text.words) if is_year(word.text)]
    if not places:
        return f"{asked} {other if ' ' in other else f'in {other}'}?"
    year, before = text.words[places[-1]], text.all[places[-1] - 1 : places[-1]]
    led = bool(before) and before[0] in words("placed") and " " in other
    start = text.words[places[-1] - 1].start if led else year.start
    return f"{asked[:start]}{other}{asked[year.end :]}?"


def _beside(relation: str, last: Turn) -> str:
    """The last question, asked of the time before or after the one that it names, or that its answer does."""
    times = [name for name in bounds_in(last.question) if name.placed]
    if not times:
        when = answered_by(last)
        return f"{_at_that_time(last.question, relation)} {relation} {when}?" if when else ""
    at, end = times[-1].start, times[-1].end
    before, rest = last.question[:at].rstrip(), last.question[end:]
    when = answered_by(last) if said_of(last.question, relation) else times[-1].text
    led = before.split()[-1:] != [] and fold(before.split()[-1]) in words("placed")
    return f"{before.rpartition(' ')[0]} {relation} {when}{rest}?" if when and led else ""


def _at_that_time(asked: str, relation: str) -> str:
    """The question without "now", and of what was before in the past tense: "Where did Ann work"."""
    text = read(asked)
    if not (now := text.find("right-now")):
        return asked
    start, end = text.words[now.first].start, text.words[now.last - 1].end
    then = asked[:start].rstrip(" ,") + asked[end:]
    verb = next((word for word in read(then).words if word.text in _PAST), None)
    return f"{then[: verb.start]}{_PAST[verb.text]}{then[verb.end :]}" if verb and relation == "before" else then


def _with_name(other: str, last: Turn) -> str:
    """With the last name that stands there as the other does: after the same preposition, or after any."""
    relation, name = _relation_and_name(other)
    asked, found = last.question, names_in(last.question, last.sources)
    same = [one for one in found if not relation or _follows(relation, asked[: one.start])]
    is_person = not relation and is_somebody(name, last.sources)
    if not relation and read(asked).has("they") and (is_person or not same):
        return f"{with_person(asked, name)}?"
    if is_person:
        same = [one for one in same if one.acts or is_somebody(one.text, last.sources)] or same
    if not relation and other.lower().startswith("the "):
        same = [one for one in found if one.article] or same
    if same:
        return f"{asked[: same[-1].start]}{name}{asked[same[-1].end :]}?"
    return f"{asked} {other}?" if found else ""


_TOPIC_WORDS = 5  # measured on multi-turn questions: fewer lose the topic, more drown the question
_TITLE_WORDS = 6
_TURNS = 12  # that are read
_NAMED_BEFORE = 4  # terms before a pronoun, from which it means one of them


def _condensed(question: str, history: Sequence[Turn], weight: Weight, *, typed: str = "") -> str:
    """The question as it stands alone: what it points at is named, and what it leaves unsaid follows it.

    A question that only swaps a part of the last one ("And when?", "What about Berlin?") is that one with the part in
    its place. In another, "she", "it", "there" and "before that" are put into words where it is clear what they mean.
    What is still unsaid are the weightiest words of the last question that stood alone, and of those since. A question
    with matter of its own that points at a person is given the last names only; one that points at a thing, also the
    title of the first source cited.

    Args:
        question: Without its request phrases.
        history: The turns before it, oldest first, greetings left out.
        weight: How rare an index term is; the index's idf.
        typed: The question with its request phrases ("and"), where it has any.
    """
    chain = _chain(history)
    if whole := substituted(typed or question, chain[0]):
        return whole
    resolved = resolve_references(question, chain)
    at_thing = _points_at_thing(resolved)
    pointed = _points_at_thing(question) or points_at_person(question)
    if pointed and not (at_thing or points_at_person(resolved)) and (terms_of(question) or len(terms_of(resolved)) > 1):
        return resolved
    said = [word.whole for turn in reversed(chain) for word in read(turn.question).words if _tells(word.typed)]
    if not at_thing and points_at_person(question) and (len(terms_of(question)) > 1 or capitals(question)):
        topic = [word for word in said if word in _names(chain)]
    elif not at_thing and points_at_person(resolved) and terms_of(question):
        topic = _weightiest([word for word in said if word not in _names(chain, after=True)], weight)
    else:
        topic = _weightiest(said, weight)
    if at_thing and history[-1].sources:
        titled = (word.typed for word in read(history[-1].sources[0]).words)
        topic += [word for word in titled if _tells(word)][:_TITLE_WORDS]
    present = set(read(resolved).all)
    unsaid = " ".join(word for word in dict.fromkeys(topic) if fold(word) not in present)
    return f"{resolved} ({unsaid})" if unsaid else resolved


def is_follow_up(question: str, history: Sequence[Turn], *, typed: str = "") -> bool:
    """True if a question does not say what it is about: it points back, swaps a part of another, or has no matter."""
    if not history:
        return False
    asked = read(typed or question)
    opens = bool(asked.words) and asked.all[0] in words("opener")
    is_verbless = opens and not asked.has("aux") and not capitals(question)
    is_reply = is_name_alone(asked.text.strip(_ENDS)) and read(history[-1].question).has("they")
    if is_verbless or is_reply or _bare(asked) or _other(asked.text):  # a part of another question
        return True
    return _points_at_thing(question) or points_at_person(question) or not (terms_of(question) or capitals(question))


def _tells(word: str) -> bool:
    return bool(terms_of(word))


def _points_at_thing(question: str) -> bool:
    """True if a question speaks of a thing that it does not name; "it" after enough matter is what was just named.

    "Is it true", "are there", "this year" point at nothing that was said.
    """
    text = read(question)
    empty = {at for place in text.all_of("empty") for at in range(place.first, place.last)}
    places = [place.first for place in text.all_of("pointing") if place.first not in empty]
    return bool(places) and len(terms_of(text.slice(0, min(places)))) < _NAMED_BEFORE


def _chain(history: Sequence[Turn]) -> list[Turn]:
    """The turns back to the last question that stands alone, the last one first, with what they point at named.

    A follow-up that swapped a part of the one before it stands alone by what it was read as.
    """
    chain: list[Turn] = []
    recent = history[-_TURNS:]
    for place, turn in enumerate(recent):
        text = trim(turn.question)
        follows = is_follow_up(text, recent[:place], typed=turn.question)
        whole = substituted(turn.question, chain[0]) if follows else ""
        resolved = whole or (resolve_references(text, chain) if follows else text)
        stands = bool(whole) or (not follows and len(terms_of(text)) > 1)
        chain = [replace(turn, question=resolved), *(() if stands else chain)]
    return chain


def _names(chain: Sequence[Turn], *, after: bool = False) -> set[str]:
    """The names in the questions, but for those after a "she", which are not who that is; or these alone."""
    found = set()
    for text in (read(turn.question) for turn in chain):
        they = next((at for at, word in enumerate(text.all) if word in words("they")), len(text.all))
        places = range(they, len(text.all)) if after else range(they)
        found |= {text.words[at].whole for at in places if is_capital(text, at)}
    return found


def _weightiest(said: Sequence[str], weight: Weight) -> list[str]:
    """The weightiest words, each once, in the order in which they were said."""
    distinct = list(dict.fromkeys(said))
    ranked = sorted(distinct, key=lambda word: -max(weight(term) for term in terms_of(word)))
    kept = set(ranked[:_TOPIC_WORDS])
    return [word for word in distinct if word in kept]


_MARKS = ".,;:!?'\"()"
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
    return read(question).has("they")


def resolve_references(question: str, turns: Sequence[Turn]) -> str:
    """The question with the names that it points at, where it is clear which; the rest of it stays.

    Args:
        question: The follow-up.
        turns: The turns before it, the last first, their questions as they stand alone.
    """
    things = {name for turn in turns for name in _things(turn)}
    who = next((name for turn in turns if (name := _person(turn, things))), "")
    named = who if points_at_person(question) else ""
    resolved = _with_time_and_place(question, turns[0], named)
    resolved = with_person(resolved, who) if who else resolved
    what = _thing(turns[0].question, turns[0].sources, named)
    text = read(resolved)
    it = next((at for at, word in enumerate(text.words) if word.text in ("it", "its") and not word.owns), None)
    if not what or it is None or (text.all[it + 1 : it + 2] and text.all[it + 1] in words("certain")):
        return resolved
    own = "’s" * (text.all[it] == "its")
    return f"{resolved[: text.words[it].start]}{what}{own}{resolved[text.words[it].end :]}"


def with_person(question: str, who: str) -> str:
    """The question with a name for its first "she" or "her"."""
    text = read(question)
    at, owns = _one(text)
    if at < 0:
        return question
    name = f"{who}’s" if owns else who
    return f"{question[: text.words[at].start]}{name}{question[text.words[at].end :]}"


def _things(turn: Turn) -> list[str]:
    """The names, folded, of what a question asks "what is": nobody's."""
    named = names_in(turn.question, turn.sources)
    return [fold(name.text) for name in named if read(turn.question[: name.start]).says("what-is")]


def _is_full_name(title: str) -> bool:
    """True for a title of two to four words, each with a capital, as a person's name has them."""
    parts = title.split(" ")
    return (
        1 < len(parts) < 5
        and all(part[:1].isalpha() and part[:1].isupper() for part in parts)
        and title.replace("’", "").replace("'", "").replace("-", "").replace(".", "").replace(" ", "").isalpha()
    )


def _person(turn: Turn, things: Collection[str]) -> str:
    """The person a text speaks of: the name that titles a source, else the first that is no place, else a source's.

    A name after "she" is not hers.
    """
    text, titles = turn.question, turn.sources
    they = next((word.start for word in read(text).words if word.text in words("they")), len(text))
    people = [title for title in titles if _is_full_name(title)]
    named = [name for name in names_in(text, titles) if fold(name.text) not in things]
    own_words = {word for title in people for word in fold(title).split()}
    owned = (name.text for name in named if own_words.issuperset(fold(name.text).split()))
    others = (
        name.text
        for name in named
        if not (name.placed or name.article or name.text in titles or _is_time(name) or they < name.start)
    )
    return next(owned, "") or next(others, "") or next(iter(people), "")


def _is_time(name: Name) -> bool:
    return fold(name.text).split()[0] in words("calendar")


def _thing(text: str, titles: Sequence[str], who: str) -> str:
    """The thing that a text speaks of: the source that is named or asked for, else the only name of no person or place.

    "The Acme outage" is the outage; and after "Which ship was Ann on?" it is the ship, which nothing names.
    """
    people = {word for title in titles if _is_full_name(title) for word in fold(title).split()}
    named = [
        name
        for name in names_in(text, titles)
        if name.text != who and not people.issuperset(fold(name.text).split()) and not _is_time(name)
    ]
    asked_text = read(text)
    things = {fold(title) for title in titles if not _is_full_name(title)}
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
    noun = text.words[-1]
    is_last = name.article and text.text[name.end : noun.start] == " " and noun.typed.islower() and len(noun.text) > 2
    is_noun = is_last and not participle(noun.typed) and base_verb_forms(noun.typed) == noun.typed
    is_named = is_noun and noun.text not in STOP_WORDS | words("now")
    return f"the {name.text} {noun.typed}" if is_named else name.text


def _with_time_and_place(question: str, last: Turn, who: str) -> str:
    """The question with "before that" and "there" as the name or year that the last question places something by.

    "There" after "where" is the place that was answered.
    """
    named = [name for name in bounds_in(last.question, last.sources) if name.text != who]
    places = [(name.placed.lower(), name.text) for name in named if name.placed and not name.text.isdigit()]
    text = read(last.question)
    if not places and text.all[_openers(text) :][:1] == ["where"]:
        places = [("at", where) for where in [answered_by(last)] if where]
    elif not places and len(named) == 1 and not (named[0].acts or named[0].owns or named[0].text.isdigit()):
        places = [("at", named[0].text)]
    asked = read(question)
    if then := asked.find("then"):
        relation = _RELATIONS.get(asked.all[then.first], asked.words[then.first].typed)
        when = answered_by(last) if said_of(last.question, relation) else next((n.text for n in reversed(named)), "")
        question = _with(asked, then, f"{relation} {when}") if when else question
    if places:
        where, place = places[-1]
        inside = where if where in words("inside") else "at"
        asked = read(question)
        for at in reversed(range(len(asked.all))):
            beside = {*asked.all[max(at - 1, 0) : at], *asked.all[at + 1 : at + 2]}
            if asked.all[at] == "there" and beside.isdisjoint(words("copula")):
                question = _with(read(question), Phrase(at, at + 1), f"{inside} {place}")
    return question


def _with(text: Text, place: Phrase, said: str) -> str:
    """The text with other words in a place."""
    return f"{text.text[: text.words[place.first].start]}{said}{text.text[text.words[place.last - 1].end :]}"


def is_somebody(name: str, titles: Sequence[str]) -> bool:
    """True if a name is a part of a person's that a source is called by."""
    own = set(fold(name).split())
    return any(own.issubset(fold(title).split()) for title in titles if _is_full_name(title))


def said_of(text: str, relation: str) -> bool:
    """True if a text already says what is before, or after."""
    return any(name.placed.lower() == relation.lower() for name in bounds_in(text))


def answered_by(turn: Turn) -> str:
    """The first name of an answer of which its question has no word, one that stands after "at" before any other."""
    asked = {word.strip(_MARKS) for word in fold(turn.question).split()}
    new = [name for name in names_in(turn.answer[:_READ]) if asked.isdisjoint(fold(name.text).split())]
    return next((name.text for name in new if name.placed == "at"), "") or next((name.text for name in new), "")
