"""Rewrite a follow-up question so that it stands alone: by a language model, else by rules."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from llama_index.core.llms import LLM

from config.prompts import CONDENSE
from pipelines.models.consult import consult, reply_limit
from pipelines.query.delimit import escape_delimiters, fresh_key
from pipelines.query.llm_queries import MAX_REPLY, MAX_SEARCH, parse_queries
from pipelines.query.question.names import capitals, is_capital
from pipelines.query.question.references import named_before, points_at_person, resolve_references
from pipelines.query.question.rules import terms_of, trim
from pipelines.query.question.substitution import ENDS, bare_question, is_name_alone, other_part, substituted
from pipelines.query.question.words import Text, read, words
from pipelines.store.known_names import NO_NAMES, NameIndex
from pipelines.text import base_verb_forms, count_tokens, fold, participle
from pipelines.types import CondensedBy, Turn

_CUT = " ..."


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
    known: NameIndex = NO_NAMES,
    rewrite: Callable[[str, Sequence[Turn]], str] = lambda _question, _history: "",
) -> tuple[str, CondensedBy]:
    """(the question as it stands alone, what made it so); a question that stands alone comes back as it was.

    `typed` is the question with its request phrases, `history` the turns before it, oldest first. `rewrite` gives the
    question in the words of a language model; empty where there is none, and the rules decide.
    """
    if not is_follow_up(question, history, typed=typed, known=known):
        return question, ""
    if rewritten := rewrite(typed, history):
        return rewritten, "model"
    whole = _condensed(question, _chain(history, known), typed, known)
    return whole, "rules"


_HINT = "Raise FOOTNOTE_ANSWER__CONDENSE_SECONDS, or set FOOTNOTE_ANSWER__CONDENSE=rules."
_REPLY_TOKENS = 40  # by which its time is expected
_KEPT = 0.5  # of the follow-up's own terms


def rewrite_follow_up(
    question: str, history: Sequence[Turn], llm: LLM, prompt: str = CONDENSE, *, seconds: float
) -> str:
    """The follow-up as a question that is understood alone; empty when the model's reply is none.

    `prompt` is the system prompt. It is given up after so many seconds, or after what the model's measured speed makes
    expect.

    Raises:
        ModelError, ServiceUnavailable: If the model fails or takes too long.
    """
    texts = [text for turn in history for text in (turn.question, turn.answer)]
    key = fresh_key([*texts, question])
    conversation = "\n".join(
        f"User: {escape_delimiters(turn.question)}\nAnswer: {escape_delimiters(turn.answer)}" for turn in history
    )
    quoted = f"<<conversation {key}>>\n{conversation}\n<</conversation {key}>>\n\nFollow-up: {question}"
    messages = [("system", prompt), ("user", quoted)]
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


_MOST_UNSAID = 5  # words; more drown the question
_TURNS = 12  # that are read
_NAMED_BEFORE = 4  # terms before a pronoun, from which it means one of them


def _condensed(question: str, chain: Sequence[Turn], typed: str, known: NameIndex) -> str:
    """The question as it stands alone: what it points at is named, and what it leaves unsaid follows it in brackets.

    A question that only swaps a part of the last one ("And when?", "What about Berlin?") is that one with the part in
    its place; a stored name of which the last one names no other of its kind stands alone. In another question, "she",
    "it", "there" and "before that" are put into words where it is clear what they mean. What is still unsaid is the
    last stored name, else the nouns of the last question that stood alone, and of those since (`chain`, the last
    first).
    """
    if whole := substituted(typed, chain[0], known):
        return whole
    if known.kind_of(other_part(typed, known)):
        return question
    resolved = resolve_references(question, chain, known)
    pointed = _points_at_thing(question) or points_at_person(question)
    points = _points_at_thing(resolved) or (points_at_person(resolved) and not known.owner)  # who "she" is else
    if pointed and not points and (terms_of(question) or len(terms_of(resolved)) > 1):
        return resolved
    present = set(read(resolved).all)
    unsaid = " ".join(word for word in _unsaid(chain, known) if fold(word) not in present)
    return f"{resolved} ({unsaid})" if unsaid else resolved


def _unsaid(chain: Sequence[Turn], known: NameIndex) -> list[str]:
    """The last stored name that is no person's in the questions, else their nouns, each once."""
    for turn in chain:
        for start, end in reversed(known.places(turn.question)):
            if known.kind_of(turn.question[start:end]) != "person":
                return [turn.question[start:end]]
    told = (read(turn.question) for turn in reversed(chain) if not points_at_person(turn.question))
    places = ((text, at) for text in told for at, word in enumerate(text.words) if terms_of(word.typed))
    nouns = (text.words[at].whole for text, at in places if not _is_verb(text, at))
    return list(dict.fromkeys(nouns))[-_MOST_UNSAID:]


def is_follow_up(question: str, history: Sequence[Turn], *, typed: str = "", known: NameIndex = NO_NAMES) -> bool:
    """True if a question does not say what it is about: it points back, swaps a part of another, or has no matter."""
    if not history:
        return False
    asked = read(typed or question)
    opens = bool(asked.words) and (asked.all[0] in words("opener") or asked.says("verbless"))
    names = capitals(question) or known.places(question)
    is_verbless = (opens or asked.says("subjectless")) and not asked.has("aux") and not names
    is_reply = is_name_alone(asked.text.strip(ENDS)) and read(history[-1].question).has("they")
    if is_verbless or is_reply or bare_question(asked) or other_part(asked.text, known):  # a part of another question
        return True
    return _points_at_thing(question) or points_at_person(question) or not (terms_of(question) or capitals(question))


def _is_verb(text: Text, at: int) -> bool:
    """True for an adverb, too, and for a verb that is known by its form or place."""
    word, before = text.words[at].typed, text.all[max(at - 1, 0) : at]
    if not word.islower():
        return False
    if participle(word) or base_verb_forms(word) != word or word.endswith("ly") or word in words("clause-openers"):
        return True
    is_led = before != [] and (before[0] in words("subjects") or is_capital(text, at - 1))
    return is_led and not text.set.isdisjoint(words("acting"))


def _points_at_thing(question: str) -> bool:
    """True if a question speaks of a thing that it does not name; "it" after enough matter is what was just named.

    "Is it true", "are there", "this year" point at nothing that was said.
    """
    text = read(question)
    empty = {at for place in text.all_of("empty") for at in range(place.first, place.last)}
    pointing = (place.first for place in text.all_of("pointing") if place.first not in empty)
    places = [at for at in pointing if not named_before(text, at)]
    return bool(places) and len(terms_of(text.slice(0, min(places)))) < _NAMED_BEFORE


def _chain(history: Sequence[Turn], known: NameIndex) -> list[Turn]:
    """The turns back to the last question that stands alone, the last one first, with what they point at named.

    A follow-up that swapped a part of the one before it stands alone by what it was read as.
    """
    chain: list[Turn] = []
    recent = history[-_TURNS:]
    for place, turn in enumerate(recent):
        text = trim(turn.question)
        follows = is_follow_up(text, recent[:place], typed=turn.question, known=known)
        whole = substituted(turn.question, chain[0], known) if follows else ""
        resolved = whole or (resolve_references(text, chain, known) if follows else text)
        stands = bool(whole) or (not follows and len(terms_of(text)) > 1)
        chain = [replace(turn, question=resolved), *(() if stands else chain)]
    return chain
