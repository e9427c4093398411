"""Rewrite a follow-up question so that it stands alone: by a language model, else by rules."""

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from llama_index.core.llms import LLM

from config.prompts import CONDENSE
from pipelines.models.consult import consult, reply_limit
from pipelines.query.delimit import escape_delimiters, fresh_key
from pipelines.query.llm_queries import MAX_REPLY, MAX_SEARCH, parse_queries
from pipelines.query.question.names import Name, bounds_in, names_in
from pipelines.query.question.rules import terms_of, trim
from pipelines.store.known_names import is_own_word
from pipelines.store.tokens import STOP_WORDS
from pipelines.text import base_verb_forms, count_tokens, fold, participle
from pipelines.types import CondensedBy, Turn

NAME = re.compile(r"(?<=[\w,;:)'\"] )(?!I\b)[A-Z][\w'’.+#-]*\w[+#]*")
PLACED = r"(?:in|at|on|from|to|near|within|into|since|until|during|before|after|bei|seit|vor|nach)"
YEAR = r"(?:19|20)\d\d"
OWNER = re.compile(r"['’]s\b")
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
_NAME = re.compile(r"(?<=[\w,;:)'\"] )(?!I\b)[A-Z][\w'’.+#-]*\w|\d[\d.,]*")
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
    if any(fold(name.strip(".,'’")) not in known for name in _NAME.findall(text)):
        return ""
    own_terms, terms = set(terms_of(question)), set(terms_of(text))
    taken = (terms - own_terms) & set(terms_of(known))
    return text if taken and len(own_terms & terms) >= _KEPT * len(own_terms) else ""


OPENER = r"(?:and|but|so|or|ok(?:ay)?|then|also|und|aber|oder)"
_OPENERS = rf"(?:{OPENER}\b[ ,]{{1,3}}){{0,3}}"
_ASKS = (
    r"(?:(?:since|until|till|from|by|with|for|to|seit|bis|von|mit|für) )?"
    r"(?:how (?:long|much|many|often|far|old|come)|how|when|where|why|whom?|whose|which"
    r"|wie (?:lange|viele?|oft)|wie|wann|woher|wohin|wo|warum|wieso|weshalb|wer|wen|wem)"
)
_AUX = (
    r"(?:did|does|do|has|have|had|is|are|was|were|can|could|will|would|should|may|might|must"
    r"|hat|haben|ist|sind|war|waren|wurden?|kann|hatte)"
)
_BARE = re.compile(
    rf"{_OPENERS}({_ASKS})(?: (?:exactly|then|so|not|is (?:that|this|it)|(?:was|is) (?:that|this)|genau|denn|nicht"
    r"|war das))?[ ?.!]*",
    re.IGNORECASE,
)
_VERBLESS = re.compile(rf"{OPENER}\b(?!.*\b{_AUX}\b).*", re.IGNORECASE)
_LED = re.compile(rf"{_OPENERS}(?:{_ASKS}|what|was)\b([^?]{{0,60}}?) ({_AUX})\b(.*)", re.IGNORECASE)
_SUBJECT = re.compile(r"(?:who|what|which \w+|how many \w+) (\w+) (.+)", re.IGNORECASE)
_YES_NO = re.compile(rf"{_AUX}\b.*", re.IGNORECASE)
_ASKS_FIRST = re.compile(rf"{_OPENERS}(?:{_ASKS}|what)\b ?", re.IGNORECASE)
_BEING = frozenset("is are was were".split())
_DANGLING = re.compile(r" (?:about|for|of|like|at|in|on|with|from|to)$", re.IGNORECASE)
_PLACED_AT = re.compile(rf" {PLACED} ", re.IGNORECASE)

_ORDINALS = (
    r"(?:first|second|third|fourth|fifth|last|next|previous|former|latter|latest|erste|zweite|dritte|letzte|nächste)"
)
_INSTEAD = re.compile(
    rf"(?:(?:{OPENER} ){{0,2}}(?:what|how) about|{OPENER}(?: was ist mit| wie (?:ist|steht) es (?:mit|um))?"
    r"|was ist mit|wie (?:ist|steht) es (?:mit|um)),? (.{1,60}?)[ ?.!]*",
    re.IGNORECASE,
)
_NTH = re.compile(
    rf"(?:(?:the|her|his|its|their|der|die|das|den) )?({_ORDINALS}[nrs]?)(?: (?:ones?|time))?", re.IGNORECASE
)
_ORDINAL = re.compile(rf"\b{_ORDINALS}\b", re.IGNORECASE)
_IN_YEAR = re.compile(rf"(?:({PLACED}) )?({YEAR})", re.IGNORECASE)
_RELATION = re.compile(
    rf"(?:(?:(?:that|those|the ones?) (?=[a-z]+ ))?({PLACED}|for|with|by|of|about|für|mit|von) )?(?:the )?",
    re.IGNORECASE,
)
_BY_THEN = re.compile(r"(before|after|since|until) (?:that|this|it|then)", re.IGNORECASE)
_PLACE = re.compile(rf"\b{PLACED}$", re.IGNORECASE)
_SIGNED = re.compile(r"[A-Z][+#]{1,2}|\.[A-Z]\w+")  # C++, C#, .NET
_NOW = re.compile(r",? \b(?:right now|now|today|currently|at present|at the moment|these days)\b", re.IGNORECASE)
_PAST = {"does": "did", "do": "did", "is": "was", "are": "were"}
_PRESENT = re.compile(rf"\b(?:{'|'.join(_PAST)})\b", re.IGNORECASE)
_MOST_WORDS = 5


def substituted(question: str, last: Turn) -> str:
    """The last question with the part of it swapped that a follow-up names; empty where it names no such part.

    Args:
        question: The follow-up.
        last: The turn before it, its question as it stands alone.
    """
    asked = last.question.rstrip(" ?.!")
    return _asked_anew(question, asked) or _instead(_other(question), replace(last, question=asked)) if asked else ""


def _asked_anew(question: str, last: str) -> str:
    """ "When ..." of "And when?": the last question with another word to ask with."""
    bare = _BARE.fullmatch(question)
    if not bare:
        return ""
    asks = bare[1][:1].upper() + bare[1][1:].lower()
    if led := _LED.fullmatch(last):
        matter, verb, rest = led.groups()
        rest = _DANGLING.sub("", rest)
        if verb.lower() in _BEING:
            return f"{asks} {verb}{matter}{rest}?"
        place = at.start() if (at := _PLACED_AT.search(rest)) else len(rest)
        return f"{asks} {verb}{rest[:place]}{matter}{rest[place:]}?"
    if _YES_NO.fullmatch(last):
        return f"{asks} {last[:1].lower()}{last[1:]}?"
    if (subject := _SUBJECT.fullmatch(last)) and (made := participle(subject[1])):
        return f"{asks} was {subject[2]} {made}?"
    opening = _ASKS_FIRST.match(last)
    return f"{asks} {last[opening.end() :]}?" if opening else f"{asks}: {last}?"


def _other(question: str) -> str:
    """The name, year, place in a row or time that a question brings instead of another; empty where it brings none."""
    asked = _INSTEAD.fullmatch(question)
    if not asked or len(asked[1].split()) > _MOST_WORDS:
        return ""
    known = any(pattern.fullmatch(asked[1]) for pattern in (_BY_THEN, _NTH, _IN_YEAR))
    return asked[1] if known or _is_name(_relation_and_name(asked[1])[1]) else ""


def _relation_and_name(other: str) -> tuple[str, str]:
    relation = _RELATION.match(other)
    return (relation[1] or "", other[relation.end() :]) if relation else ("", other)


def _is_name(text: str) -> bool:
    named = names_in(f"x {text}")
    return bool(named and named[0].text == text) or is_own_word(text) or bool(_SIGNED.fullmatch(text))


def _follows(relation: str, before: str) -> bool:
    """True if a text ends with a preposition, and an article or none."""
    words = before.lower().split()[-2:]
    return relation.lower() in (words[1:] if words[-1:] != ["the"] else words[:1])


def _instead(other: str, last: Turn) -> str:
    """The last question with another name, year, place in a row, or time."""
    asked = last.question
    if not other:
        return ""
    if then := _BY_THEN.fullmatch(other):
        return _beside(then[1].lower(), last)
    if nth := _NTH.fullmatch(other):
        return f"{_ORDINAL.sub(nth[1].lower(), asked, count=1)}?" if _ORDINAL.search(asked) else ""
    return _with_year(other, asked) if _IN_YEAR.fullmatch(other) else _with_name(other, last)


def _beside(relation: str, last: Turn) -> str:
    """The last question, asked of the time before or after the one that it names, or that its answer does."""
    times = [name for name in bounds_in(last.question) if name.placed]
    if not times:
        when = answered_by(last)
        return f"{_at_that_time(last.question, relation)} {relation} {when}?" if when else ""
    at, end = times[-1].start, times[-1].end
    before, rest = last.question[:at].rstrip(), last.question[end:]
    when = answered_by(last) if said_of(last.question, relation) else times[-1].text
    return f"{_PLACE.sub(relation, before)} {when}{rest}?" if when and _PLACE.search(before) else ""


def _at_that_time(asked: str, relation: str) -> str:
    """The question without "now", and of what was before in the past tense: "Where did Ann work"."""
    if not _NOW.search(asked):
        return asked
    then = _NOW.sub("", asked)
    return _PRESENT.sub(lambda verb: _PAST[verb[0].lower()], then, count=1) if relation == "before" else then


def _with_year(other: str, last: str) -> str:
    years = list(_IN_YEAR.finditer(last))
    if not years:
        return f"{last} {other if ' ' in other else f'in {other}'}?"
    at = years[-1]
    kept = other if " " in other or not at[1] else f"{at[1]} {other}"
    return f"{last[: at.start()]}{kept}{last[at.end() :]}?"


def _with_name(other: str, last: Turn) -> str:
    """With the last name that stands there as the other does: after the same preposition, or after any."""
    relation, name = _relation_and_name(other)
    asked, found = last.question, names_in(last.question, last.sources)
    same = [one for one in found if not relation or _follows(relation, asked[: one.start])]
    is_person = not relation and is_somebody(name, last.sources)
    if not relation and PERSON.search(asked) and (is_person or not same):
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
_WORD = re.compile(r"\w(?:[\w'’.+#-]*\w)?[+#]*")
_GERMAN_WORDS = frozenset(
    """der die das den dem des ein eine einen einem einer und oder aber wer wen wem wann wo wohin woher warum wieso wie
    welche welcher welches hat haben hatte ist sind war waren wird wurde wurden kann er sie es ihr ihre sein seine mit
    von bei zu zum zur im am auf aus für nach vor seit gibt auch denn""".split()
)
# "Is it true", "are there", "this year" point at nothing that was said.
_EMPTY = re.compile(
    r"\b(?:(?:is|was) it (?:possible|true|correct|likely|safe|legal|better|necessary)|(?:is|are|was|were) there"
    r"|there (?:is|are|was|were)|this (?:year|month|week))\b",
    re.IGNORECASE,
)
_THING = re.compile(
    r"\b(?:it|its|itself|they|them|their|theirs|this|these|those|ones?(?! of)|both|such|same|others?|another|else"
    r"|more(?! than)|there|latter|former)\b"
    r"|\bthat(?=\s*(?:[?.!,]|$|(?:one|time|period|year|case|is|was|mean)\b))"
    rf"|^(?:{OPENER}|what about|how about|was ist mit)\b",
    re.IGNORECASE,
)


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
    words = [word for turn in reversed(chain) for word in _WORD.findall(turn.question) if _tells(word)]
    if not at_thing and points_at_person(question) and (len(terms_of(question)) > 1 or NAME.search(question)):
        topic = [word for word in words if word in _names(chain)]
    elif not at_thing and points_at_person(resolved) and terms_of(question):
        topic = _weightiest([word for word in words if word not in _names(chain, after=True)], weight)
    else:
        topic = _weightiest(words, weight)
    if at_thing and history[-1].sources:
        topic += [word for word in _WORD.findall(history[-1].sources[0]) if _tells(word)][:_TITLE_WORDS]
    present = {word.casefold() for word in _WORD.findall(resolved)}
    unsaid = " ".join(word for word in dict.fromkeys(topic) if word.casefold() not in present)
    return f"{resolved} ({unsaid})" if unsaid else resolved


def is_follow_up(question: str, history: Sequence[Turn], *, typed: str = "") -> bool:
    """True if a question does not say what it is about: it points back, swaps a part of another, or has no matter."""
    if not history:
        return False
    asked = typed or question
    elliptical = _BARE.fullmatch(asked) or _other(asked) or _VERBLESS.fullmatch(asked)  # a part of another question
    if elliptical or _points_at_thing(question) or points_at_person(question):
        return True
    return not terms_of(question) and not NAME.search(question)


def _tells(word: str) -> bool:
    return bool(terms_of(word)) and word.casefold() not in _GERMAN_WORDS


def _points_at_thing(question: str) -> bool:
    """True if a question speaks of a thing that it does not name; "it" after enough matter is what was just named."""
    text = _EMPTY.sub(" ", question)
    found = _THING.search(text)
    return found is not None and len(terms_of(text[: found.start()])) < _NAMED_BEFORE


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
    parts = [PERSON.split(turn.question, maxsplit=1) for turn in chain]
    return {name for part in parts for text in (part[1:] if after else part[:1]) for name in NAME.findall(text)}


def _weightiest(words: Sequence[str], weight: Weight) -> list[str]:
    """The weightiest words, each once, in the order in which they were said."""
    distinct = list(dict.fromkeys(words))
    ranked = sorted(distinct, key=lambda word: -max(weight(term) for term in terms_of(word)))
    kept = set(ranked[:_TOPIC_WORDS])
    return [word for word in distinct if word in kept]


PERSON = re.compile(r"\b(?:he|him|his|she|her|hers)\b", re.IGNORECASE)
GERMAN = re.compile(
    r"\b(?:und|wer|wann|wo|warum|wieso|wie|welche[rsnm]?|ist|hatte|wurde|gibt|das|der|dem|sie|ihre?[mnrs]?|davor|danach)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?:jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?|(?:mon|tues|wednes|thurs|fri|satur|sun)day|januar|februar|märz|mai|juni|juli|oktober|dezember)\b",
    re.IGNORECASE,
)
_MARKS = ".,;:!?'\"()"
_AT = frozenset({"at", "bei"})
_READ = 400  # characters of an answer

_WHAT_IS = re.compile(r"^what(?:['’]s| is| are| was| were| does| did) (?:the )?$", re.IGNORECASE)
_ASKS_FOR = re.compile(r"(?:what|which)\b", re.IGNORECASE)
_ASKS_FOR_ONE = re.compile(
    r"(?:what|which) (?!(?:year|month|day|date|time|is|are|was|were)\b)[a-z]+ (?:is|was)\b", re.I
)
_NOUN = re.compile(r" (?!(?:now|today|like|then|again)\b)([a-z-]{3,})(?=[ ?.!]*$)")
_FULL_NAME = re.compile(r"[A-Z][\w'’-]+(?: [A-Z][\w'’.-]*){1,3}")
_HERS = r"hers\b|his\b|her\b(?= (?!about|in|on|at|to|with|for|and|or|before|after|when|why|then)\w)"
_ONE = re.compile(rf"\b(?:({_HERS})|(?:she|he|him|her)\b)", re.IGNORECASE)
_ONE_GERMAN = re.compile(r"\b(?:((?:ihr|sein)(?:e[mnrs]?)?(?= [A-ZÄÖÜ]))|(?:er|sie|ihn|ihm|ihr)\b)", re.IGNORECASE)
_IT = re.compile(r"\b(its|it)\b(?!['’]| (?:possible|true|correct|likely|safe|legal|better|necessary)\b)", re.IGNORECASE)
_THEN = re.compile(r"\b(before|after|since|until|during) (?:that|this|it|then)\b(?=[^\w'’]*$)|\b(davor|danach)\b", re.I)
_THERE = re.compile(
    r"(?<!\bis )(?<!\bare )(?<!was )(?<!were )\b(?:there|dort)\b(?! (?:is|are|was|were)\b)", re.IGNORECASE
)
_ASKS_WHERE = re.compile(rf"{_OPENERS}where\b", re.IGNORECASE)
_RELATIONS = {"davor": "vor", "danach": "nach"}


def points_at_person(question: str) -> bool:
    """True if a question speaks of somebody whom it does not name."""
    return bool(PERSON.search(question) or (GERMAN.search(question) and _ONE_GERMAN.search(question)))


def resolve_references(question: str, turns: Sequence[Turn]) -> str:
    """The question with the names that it points at, where it is clear which; the rest of it stays.

    Args:
        question: The follow-up.
        turns: The turns before it, the last first, their questions as they stand alone.
    """
    german = not PERSON.search(question) and bool(GERMAN.search(question))
    things = {name for turn in turns for name in _things(turn)}
    who = next((name for turn in turns if (name := _person(turn, things, german=german))), "")
    resolved = _with_time_and_place(question, turns[0], who)
    resolved = with_person(resolved, who, german=german) if who else resolved
    what = "" if german else _thing(turns[0].question, turns[0].sources, who if points_at_person(question) else "")
    return _IT.sub(lambda it: what + "’s" * (it[1].casefold() == "its"), resolved, count=1) if what else resolved


def with_person(question: str, who: str, *, german: bool = False) -> str:
    """The question with a name for its first "she" or "her"."""
    owner, one = (f"{who}s", _ONE_GERMAN) if german else (f"{who}’s", _ONE)
    return one.sub(lambda found: owner if found[1] else who, question, count=1)


def _things(turn: Turn) -> list[str]:
    """The names, folded, of what a question asks "what is": nobody's."""
    named = names_in(turn.question, turn.sources)
    return [fold(name.text) for name in named if _WHAT_IS.search(turn.question[: name.start])]


def _person(turn: Turn, things: Collection[str], *, german: bool) -> str:
    """The person a text speaks of: the name that titles a source, else the first that is no place, else a source's.

    A name after "she" is not hers. Of German, where every noun has a capital, only those that a source is called by.
    """
    text, titles = turn.question, turn.sources
    unnamed = PERSON.search(text)
    people = [title for title in titles if _FULL_NAME.fullmatch(title)]
    named = [name for name in names_in(text, titles) if fold(name.text) not in things]
    words = {word for title in people for word in fold(title).split()}
    owned = (name.text for name in named if words.issuperset(fold(name.text).split()))
    others = (
        name.text
        for name in named
        if not (german or name.placed or name.article or name.text in titles or _TIME.match(name.text))
        and not (unnamed and unnamed.start() < name.start)
    )
    return next(owned, "") or next(others, "") or next(iter(people), "")


def _thing(text: str, titles: Sequence[str], who: str) -> str:
    """The thing that a text speaks of: the source that is named or asked for, else the only name of no person or place.

    "The Acme outage" is the outage; and after "Which ship was Ann on?" it is the ship, which nothing names.
    """
    people = {word for title in titles if _FULL_NAME.fullmatch(title) for word in fold(title).split()}
    named = [
        name
        for name in names_in(text, titles)
        if name.text != who and not people.issuperset(fold(name.text).split()) and not _TIME.match(name.text)
    ]
    things = {fold(title) for title in titles if not _FULL_NAME.fullmatch(title)}
    called = (name.text for name in named if fold(name.text) in things)
    asked = (title for title in titles[:1] if _ASKS_FOR.match(text) and is_own_word(title))
    others = [name for name in named if not (name.placed or name.acts or OWNER.match(text[name.end :]))]
    only = others[0] if len(others) == len(named) == 1 and not _ASKS_FOR_ONE.match(text) else None
    return next(called, "") or next(asked, "") or (_with_noun(text, only) if only else "")


def _with_noun(text: str, name: Name) -> str:
    """The name, or with its article the noun that it tells apart: "the Acme outage" of "When was the Acme outage?"."""
    noun = _NOUN.match(text, name.end) if name.article else None
    is_noun = noun and not participle(noun[1]) and base_verb_forms(noun[1]) == noun[1] and noun[1] not in STOP_WORDS
    return f"the {name.text} {noun[1]}" if noun and is_noun else name.text


def _with_time_and_place(question: str, last: Turn, who: str) -> str:
    """The question with "before that" and "there" as the name or year that the last question places something by.

    "There" after "where" is the place that was answered.
    """
    named = [name for name in bounds_in(last.question, last.sources) if name.text != who]
    places = [(name.placed.lower(), name.text) for name in named if name.placed and not name.text.isdigit()]
    if not places and _ASKS_WHERE.match(last.question):
        places = [("at", where) for where in [answered_by(last)] if where]
    if then := _THEN.search(question):
        relation = then[1] or _RELATIONS[then[2].casefold()]
        when = answered_by(last) if said_of(last.question, relation) else next((n.text for n in reversed(named)), "")
        question = f"{question[: then.start()]}{relation} {when}{question[then.end() :]}" if when else question
    if places:
        where, place = places[-1]
        inside = where if where in {"in", "on", "near", "within", "bei"} else "at"
        question = _THERE.sub(lambda _: f"{inside} {place}", question)
    return question


def is_somebody(name: str, titles: Sequence[str]) -> bool:
    """True if a name is a part of a person's that a source is called by."""
    words = set(fold(name).split())
    return any(words.issubset(fold(title).split()) for title in titles if _FULL_NAME.fullmatch(title))


def said_of(text: str, relation: str) -> bool:
    """True if a text already says what is before, or after."""
    return any(name.placed.lower() == relation.lower() for name in bounds_in(text))


def answered_by(turn: Turn) -> str:
    """The first name of an answer of which its question has no word, one that stands after "at" before any other."""
    asked = {word.strip(_MARKS) for word in fold(turn.question).split()}
    new = [name for name in names_in(turn.answer[:_READ]) if asked.isdisjoint(fold(name.text).split())]
    return next((name.text for name in new if name.placed in _AT), "") or next((name.text for name in new), "")
