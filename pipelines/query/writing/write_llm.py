"""WRITE: Context -> events and an Answer by a language model: streamed, then verified, its JSON read and mended."""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from llama_index.core.llms import LLM

from config.prompts import NO_MORE, REPAIR
from pipelines.errors import FootnoteError, ModelError
from pipelines.observe import log_failure
from pipelines.query.verification.cite import check, verify
from pipelines.query.verification.markers import MarkerFilter, cited_sentences, without_unfinished
from pipelines.query.writing.confidence import confidence
from pipelines.query.writing.prompt import Manner, Messages, messages
from pipelines.query.writing.reply import Reply, is_json, numbers_of, read_json
from pipelines.query.writing.spoken import gives_up, outside_thoughts, says_nothing, sentences_only
from pipelines.query.writing.write import Brief, Written, abstention, joined
from pipelines.store.tokens import tokenise
from pipelines.text import canonical
from pipelines.types import Answer, Footnote, Sentence, Source, Token, Turn, Verdict

_DOUBTFUL = ("unsupported", "uncited")
_FOUND_BY = 3  # terms that a sentence must have to be looked up in the sources
_ADDED = "{counted} of the language model's answer named no source; a source that bears it out was found and is cited."


def write_by_llm(brief: Brief, llm: LLM, history: Sequence[Turn], manner: Manner) -> Written:
    """Tokens and Footnotes as the model speaks, then a Verdict for each sentence; returns the Answer.

    JSON is not streamed: its text comes when it is whole. What `manner` does to sentences that no source bears out is
    done to the Answer and its verdicts, and noted; the tokens have gone out before.

    Raises:
        ModelError, ServiceUnavailable: If the model fails before its first word, or says nothing that can be read.
    """
    from pipelines.models.llm import complete  # its libraries take a second to import

    model = str(llm.metadata.model_name)
    prompt = messages(brief.intent, brief.context, history, manner)
    completion = complete(llm, prompt)
    said, shown = yield from _heard(
        outside_thoughts(completion), brief.context.sources, streams=manner.output == "prose"
    )
    reply = _read(said, model, is_cut=completion.truncated)
    yield from _shown(reply.text if is_json(said) else said[shown:], brief.context.sources)
    if says_nothing(reply.text) and not completion.truncated:
        return abstention(brief, "llm", model)
    draft = _told(reply, brief)
    if NO_MORE in draft.notes and not any(sentence.citations for sentence in draft.sentences):
        return abstention(brief, "llm", model)
    if not draft.sentences:
        raise ModelError(f"{model} wrote no sentence.", hint="Try again, or choose another model.")
    if manner.unsupported == "repair" and draft.doubtful(manner) and not completion.truncated:
        draft = _repaired(draft, brief, llm, prompt, manner)
    if manner.unsupported == "remove":
        draft = _without_doubtful(draft, manner)
    if not draft.sentences:
        return replace(abstention(brief, "llm", model), notes=draft.notes)
    yield from (Verdict(index, sentence) for index, sentence in enumerate(draft.sentences))
    return Answer(
        question=brief.intent.question,
        answered=True,
        confidence=confidence(brief.evidence, draft.sentences, brief.intent.terms),
        mode="llm",
        model=model,
        answer=joined(draft.sentences),
        sentences=draft.sentences,
        sources=brief.context.sources,
        truncated=completion.truncated,
        fallback_reason=str(completion.failure or ""),
        notes=draft.notes,
        usage=completion.usage,
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """Verified sentences, and what was done to them."""

    sentences: tuple[Sentence, ...]
    notes: tuple[str, ...] = ()

    def doubtful(self, manner: Manner) -> list[Sentence]:
        """Those that no source bears out, but for one that gives a link of the persona's."""
        linked = manner.persona.links
        return [s for s in self.sentences if s.verdict in _DOUBTFUL and not any(link in s.text for link in linked)]


def _heard(
    pieces: Iterable[str], sources: Sequence[Source], *, streams: bool
) -> Generator[Token | Footnote, None, tuple[str, int]]:
    """What the model says, passed on as it comes; returns (all of it, how much of it was passed on).

    From a brace or a code mark on it is held back: JSON is never shown.
    """
    markers, numbered = MarkerFilter(), {source.n: source for source in sources}
    said, shown = "", 0
    for piece in pieces:
        said += piece
        if not streams:
            continue
        free = min((place for place in map(piece.find, "{`") if place >= 0), default=len(piece))
        yield from _events(markers.feed(piece[:free]), numbered)
        shown += free
        streams = free == len(piece)
    yield from _events(markers.close(), numbered)
    return said, shown


def _shown(text: str, sources: Sequence[Source]) -> Iterator[Token | Footnote]:
    markers, numbered = MarkerFilter(), {source.n: source for source in sources}
    yield from _events(markers.feed(text), numbered)
    yield from _events(markers.close(), numbered)


def _events(pieces: Iterator[str | int], sources: Mapping[int, Source]) -> Iterator[Token | Footnote]:
    for piece in pieces:
        if isinstance(piece, str):
            yield Token(piece)
        elif piece in sources:
            yield Footnote(piece, sources[piece])


def _read(said: str, model: str, *, is_cut: bool) -> Reply:
    """The text of a reply, and the sources that its JSON lists.

    Raises:
        ModelError: If it is JSON that cannot be read.
    """
    reply = read_json(said) if is_json(said) else Reply(said)
    if reply is None:
        raise ModelError(
            f"{model} answered with JSON that cannot be read.",
            hint="Set FOOTNOTE_ANSWER__OUTPUT=prose, or choose another model.",
        )
    text = canonical(reply.text)
    return replace(reply, text=without_unfinished(text) if is_cut else text)


def _told(reply: Reply, brief: Brief) -> _Draft:
    """The sentences that say something, with their verdicts; what names no source cites the one that bears it out."""
    written = tuple(_verified(reply, brief))
    held = [sentence for sentence in written if not gives_up(sentence.text, is_cited=bool(sentence.citations))]
    mended = tuple(_sourced(sentence, brief) for sentence in held)
    added = sum(bool(now.citations) and not then.citations for now, then in zip(mended, held, strict=True))
    notes = (NO_MORE,) * (len(held) < len(written))
    return _Draft(mended, (*notes, *(_ADDED.format(counted=f"{added} sentence{'s' * (added != 1)}"),) * (added > 0)))


def _sourced(sentence: Sentence, brief: Brief) -> Sentence:
    """A sentence with the source that bears it out, where it names none and is long enough to be found."""
    if sentence.citations or len(set(tokenise(sentence.text))) < _FOUND_BY:
        return sentence
    found = (check(sentence.text, source, brief.judge) for source in brief.context.sources)
    best = max((one for one in found if one.verdict == "supported"), key=lambda one: one.support, default=None)
    return verify(sentence.text, (best.n,), brief.context.sources, brief.judge) if best else sentence


def _verified(reply: Reply, brief: Brief) -> Iterator[Sentence]:
    """The sentences with their verdicts; where none has a number, each cites the listed source that bears it out."""
    sources = brief.context.sources
    cited = cited_sentences(sentences_only(reply.text), [source.n for source in sources])
    listed = () if any(numbers for _, numbers in cited) else numbers_of(reply.sources, sources)
    for text, numbers in cited:
        found = verify(text, numbers or listed, sources, brief.judge)
        if not numbers and listed:
            best = next((one.n for one in found.evidence if one.n in listed), listed[0])
            found = verify(text, (best,), sources, brief.judge)
        yield found


def _repaired(draft: _Draft, brief: Brief, llm: LLM, prompt: Messages, manner: Manner) -> _Draft:
    """The answer as the model writes it when it is told what is not borne out, if less is left of that; asked once."""
    from pipelines.models.llm import complete

    doubtful = draft.doubtful(manner)
    listed = "\n".join(f"- {sentence.verdict}: {sentence.text}" for sentence in doubtful)
    asked_again = [("assistant", joined(draft.sentences)), ("user", REPAIR.replace("{sentences}", listed))]
    asked = f"{_counted(doubtful)} not borne out by its source. The language model was asked once to repair the answer"
    try:
        completion = complete(llm, [*prompt, *asked_again])
        said = "".join(outside_thoughts(completion))
        reply = _read(said, str(llm.metadata.model_name), is_cut=completion.truncated)
        told = _told(reply, brief)
        again = replace(told, notes=(f"{asked}, and did.", *told.notes))
    except FootnoteError as error:
        log_failure("an answer was not repaired", error)
        return replace(draft, notes=(f"{asked}, and failed: {error}",))
    is_better = again.sentences and not completion.truncated and len(again.doubtful(manner)) < len(doubtful)
    return again if is_better else replace(draft, notes=(f"{asked}, which made it no better.",))


def _without_doubtful(draft: _Draft, manner: Manner) -> _Draft:
    doubtful = draft.doubtful(manner)
    if not doubtful:
        return draft
    kept = tuple(sentence for sentence in draft.sentences if sentence not in doubtful)
    return _Draft(kept, (*draft.notes, f"{_counted(doubtful)} left out, as no source bears it out."))


def _counted(sentences: Sequence[Sentence]) -> str:
    return f"{len(sentences)} sentence{'s' * (len(sentences) != 1)} of the language model's answer " + (
        "was" if len(sentences) == 1 else "were"
    )
