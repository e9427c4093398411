"""Answer by a language model: stream its reply, verify each sentence, and keep what the sources support."""

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from llama_index.core.llms import LLM

from config.prompts import NO_MORE
from pipelines.answers import Answer, Citation, Footnote, Preview, Sentence, Source, Token, Verdict
from pipelines.errors import ModelError
from pipelines.models.consult import TIMEOUT_HINT, ReplyStream
from pipelines.query.answer import AnswerEvent, WriterInput, abstention
from pipelines.query.citation_markers import strip_unfinished_marker
from pipelines.query.confidence import confidence
from pipelines.query.delimit import Context
from pipelines.query.layout import CitedText, cited_sentences, joined, without
from pipelines.query.prompt import WritingOptions, build_messages
from pipelines.query.reply import (
    ModelReply,
    before_sources_list,
    clean_reply,
    is_empty_reply,
    is_refusal,
    listed_source_numbers,
    looks_like_json,
    parse_json_reply,
    strip_sources_list,
)
from pipelines.query.verify import check_source, verify
from pipelines.store.tokens import tokenise
from pipelines.text import canonical
from pipelines.types import ModelReading, ReadingOutcome, Turn
from pipelines.wording import format_count

_DOUBTFUL_VERDICTS = ("unsupported", "uncited")
_REPEATED = "The language model began to repeat itself and was stopped."
_SLOW = 3.0  # seconds without a word, after which a quotation is shown
_ENDS = ".,!?:\n|>"  # of what may complete a sentence, or a loop
_LEAST_TERMS = 3  # terms that a sentence must have to be looked up in the sources
_ADDED = "{counted} of the language model's answer named no source; what supports this was found and is cited."


@dataclass(frozen=True, slots=True)
class ModelDraft:
    """The Answer of a model, None if no source supports its reply; what it was shown and wrote, and what broke it
    off.
    """

    answer: Answer | None
    reading: ModelReading
    failure: str = ""


def write_by_model(
    task: WriterInput,
    llm: LLM,
    history: Sequence[Turn],
    writing: WritingOptions,
    preview: Callable[[], Answer | None] | None = None,
) -> Generator[AnswerEvent, None, ModelDraft]:
    """Yield Tokens and Footnotes as the model writes, then a Verdict for each sentence; return the outcome.

    While a slow model reads (no word after three seconds), the answer that `preview` gives, if any, is yielded first.

    A Token is a sentence that is complete and verified; the first one has support. JSON is yielded when it is complete.
    Unsupported sentences are marked or removed, as `writing` says, and this is noted.

    Raises:
        ModelError, ServiceUnavailable: If the model fails before its first word, or says nothing that can be read.
    """
    model = str(llm.metadata.model_name)
    prompt = build_messages(task.intent, task.context, history, writing)
    completion = ReplyStream(llm, prompt, seconds=writing.seconds, hint=TIMEOUT_HINT)
    verifier = _Verifier(task)
    try:
        if preview is not None and not completion.wait(_SLOW) and (quotation := preview()):
            yield Preview(quotation)
        raw, shown = yield from _streamed(completion, verifier, writing)
    finally:
        completion.cancel()  # a reader who stops ends the request, too
    written = clean_reply(raw, task.context.sources)
    reply = _parse_reply(written.text, model, is_cut=completion.truncated and not written.is_over)
    reading = read_from(model, task.context, outcome="answered")
    if writing.keeps_prompts:
        reading = replace(reading, prompt=tuple(prompt), reply=raw)
    draft = _drafted(reply, verifier, is_cut=completion.truncated)
    if written.repeats:
        draft = replace(draft, notes=(*draft.notes, _REPEATED))
    is_empty = is_empty_reply(reply.text) and is_empty_reply(raw) and not completion.truncated
    if is_empty or (draft.refused and not any(sentence.citations for sentence in draft.sentences)):
        refusal = abstention(task, "llm", model)
        if writing.is_trusted:
            yield Token(refusal.answer)
        return ModelDraft(refusal, replace(reading, outcome="refused", left_out=draft.left_out))
    if not draft.sentences:
        raise ModelError(f"{model} wrote no sentence.", hint="Try again, or choose another model.")
    if not draft.has_support(writing):
        written_sentences = tuple(sentence.text for sentence in draft.sentences)
        left_out = replace(reading, outcome="unsupported", left_out=written_sentences)
        return ModelDraft(None, left_out, str(completion.failure or ""))
    if writing.unsupported == "remove":
        draft = _without_doubtful(draft, writing)
    yield from _new_events(draft, shown, task.context.sources)
    yield from (Verdict(index, sentence) for index, sentence in enumerate(draft.sentences))
    answer = Answer(
        question=task.intent.question,
        answered=True,
        confidence=confidence(task.evidence, draft.sentences, task.intent.terms),
        mode="llm",
        model=model,
        answer=draft.text,
        sentences=draft.sentences,
        sources=task.context.sources,
        truncated=completion.truncated,
        fallback_reason=str(completion.failure or ""),
        notes=draft.notes,
        usage=completion.usage,
    )
    return ModelDraft(answer, replace(reading, left_out=draft.left_out))


def read_from(model: str, context: Context, *, outcome: ReadingOutcome) -> ModelReading:
    """The record of a reply that was written from the sources of a context."""
    return ModelReading(
        model, tuple((source.document_id, source.start, source.end) for source in context.sources), outcome
    )


@dataclass(frozen=True, slots=True)
class _Draft:
    """Verified sentences, the same as parts of the reply's text, notes on what was changed, and what was left out."""

    sentences: tuple[Sentence, ...]
    parts: tuple[CitedText, ...]
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def refused(self) -> bool:
        """True if the model said that the sources do not answer all of the question."""
        return NO_MORE in self.notes

    @property
    def text(self) -> str:
        """The Markdown of the answer."""
        cited = zip(self.parts, self.sentences, strict=True)
        return joined([part._replace(citations=sentence.citations) for part, sentence in cited])

    def keep(self, is_kept: Callable[[Sentence], bool]) -> "_Draft":
        """The draft without the other sentences."""
        dropped = [index for index, sentence in enumerate(self.sentences) if not is_kept(sentence)]
        return replace(
            self,
            sentences=tuple(filter(is_kept, self.sentences)),
            parts=tuple(without(self.parts, dropped)),
            left_out=(*self.left_out, *(self.sentences[index].text for index in dropped)),
        )

    def doubtful(self, writing: WritingOptions) -> list[Sentence]:
        """The sentences without support, except those that give a link of the persona, and frames of what has support.

        A frame is a line that leads in to the next one, the head of a table, or a line of code beside supported ones.
        """
        links = writing.persona.links
        lacking = [sentence.verdict in _DOUBTFUL_VERDICTS for sentence in self.sentences]
        found = []
        for at in reversed(range(len(lacking))):  # what a frame leads in to comes before it
            if not lacking[at]:
                continue
            if any(link in self.sentences[at].text for link in links) or self._is_frame(at, lacking):
                lacking[at] = False
            else:
                found.append(self.sentences[at])
        return found[::-1]

    def has_support(self, writing: WritingOptions) -> bool:
        """True if the sources support enough of the draft for an answer: a sentence, of a trusted model in part."""
        if writing.is_trusted:
            return len(self.doubtful(writing)) < len(self.sentences)
        return any(sentence.verdict in ("supported", "misattributed") for sentence in self.sentences)

    def _is_frame(self, at: int, lacking: Sequence[bool]) -> bool:
        """True if sentence `at` is uncited and frames others that have support."""
        part, sentence = self.parts[at], self.sentences[at]
        if part.is_code:
            return any(not bad for bad, other in zip(lacking, self.parts, strict=True) if other.is_code)
        after = next(iter(lacking[at + 1 : at + 2]), True)
        is_row = sentence.text.startswith("|") and at + 1 < len(self.parts) and self.parts[at + 1].text.startswith("|")
        return sentence.verdict == "uncited" and not after and (sentence.text.endswith(":") or is_row)


class _Verifier:
    """Verifies the sentences of a reply against the sources of its task, each once while the reply grows."""

    def __init__(self, task: WriterInput) -> None:
        self.sources = task.context.sources
        self._judge = task.judge
        self._verified: dict[tuple[str, tuple[int, ...]], Sentence] = {}
        self._best: dict[str, Citation | None] = {}

    def verify(self, text: str, cited: Sequence[int]) -> Sentence:
        """The sentence with its verdict."""
        key = text, tuple(cited)
        if key not in self._verified:
            self._verified[key] = verify(text, key[1], self.sources, self._judge)
        return self._verified[key]

    def best_source(self, text: str) -> Citation | None:
        """The place of the source that supports a sentence best; None if none does."""
        if text not in self._best:
            found = (check_source(text, source, self._judge) for source in self.sources)
            right = (one for one in found if one.verdict == "supported")
            self._best[text] = max(right, key=lambda one: one.support, default=None)
        return self._best[text]


def _streamed(
    completion: ReplyStream, verifier: _Verifier, writing: WritingOptions
) -> Generator[Token | Footnote, None, tuple[str, str]]:
    """Yield the sentences of a reply as they are complete and verified; return (the whole reply, the text yielded).

    They come from the first on that a source supports, so that a reply without support is never shown. What may be
    JSON waits for the end. The request is closed where the model repeats itself.
    """
    raw, shown, streams = "", "", writing.output == "prose"
    numbers = [source.n for source in verifier.sources]
    drafted = 0  # complete sentences that were verified
    for piece in completion:
        raw += piece
        if not any(mark in piece for mark in _ENDS):
            continue
        reply = clean_reply(raw, verifier.sources)
        if streams and not looks_like_json(reply.text):
            text = canonical(reply.text)
            complete = len(cited_sentences(text, numbers)) - 1
            if complete > drafted:
                draft = _drafted(ModelReply(text), verifier, is_whole=False)
                shown = yield from _new_events(_presentable(draft, writing), shown, verifier.sources)
            drafted = complete
        if reply.is_over:
            completion.close()
            break
    return raw, shown


def _new_events(draft: "_Draft", shown: str, sources: Sequence[Source]) -> Generator[Token | Footnote, None, str]:
    """Yield what a draft adds to the text that was shown, code by whole blocks, and footnotes; return the text shown
    now.
    """
    numbered = {source.n: source for source in sources}
    for count, (part, sentence) in enumerate(zip(draft.parts, draft.sentences, strict=True), start=1):
        text = joined([each._replace(citations=()) for each in draft.parts[:count]])
        in_code = part.is_code and count < len(draft.parts) and draft.parts[count].is_code
        if not in_code and len(text) > len(shown) and text.startswith(shown):
            yield Token(text[len(shown) :])
            yield from (Footnote(n, numbered[n]) for n in sentence.citations)
            shown = text
    return shown


def _presentable(draft: "_Draft", writing: WritingOptions) -> "_Draft":
    """The sentences of an unfinished draft that may be shown: none before the first that a source supports."""
    if not draft.has_support(writing):
        return draft.keep(lambda _: False)
    doubtful = draft.doubtful(writing)
    return draft.keep(lambda sentence: sentence not in doubtful) if writing.unsupported == "remove" else draft


def _parse_reply(written: str, model: str, *, is_cut: bool) -> ModelReply:
    """Parse a reply into its text and the sources that its JSON lists."""
    reply = parse_json_reply(written) if looks_like_json(written) else ModelReply(written)
    if reply is None:
        raise ModelError(
            f"{model} answered with JSON that cannot be read.",
            hint="Set FOOTNOTE_ANSWER__OUTPUT=prose, or choose another model.",
        )
    text = canonical(reply.text)
    return replace(reply, text=strip_unfinished_marker(text) if is_cut else text)


def _drafted(reply: ModelReply, verifier: _Verifier, *, is_whole: bool = True, is_cut: bool = False) -> _Draft:
    """The sentences of a reply with their verdicts, without refusals.

    A sentence that names no source cites the source that supports it, if one is found. The last sentence of a reply
    that is not whole is left out: it may go on, or its marker follow.
    """
    text = strip_sources_list(reply.text) if is_whole else before_sources_list(reply.text)
    parts = cited_sentences(text, [source.n for source in verifier.sources])
    parts = parts if is_whole else parts[:-1]
    while not is_whole and parts and parts[-1].is_code:  # the block may go on
        parts = parts[:-1]
    written = _Draft(tuple(_verified_sentences(parts, reply, verifier)), tuple(parts))
    written = replace(written, sentences=_with_code_cited(written, verifier))
    kept = written.keep(lambda s: not is_refusal(s.text, is_supported=s.verdict not in _DOUBTFUL_VERDICTS))
    found = tuple(_with_found_source(sentence, verifier) for sentence in kept.sentences)
    if is_cut and found and _is_short(found[-1].text):  # it may be a piece of a sentence
        found = (*found[:-1], kept.sentences[-1])
    added = sum(bool(now.citations) and not then.citations for now, then in zip(found, kept.sentences, strict=True))
    notes = (NO_MORE,) * (len(found) < len(written.sentences))
    notes += (_ADDED.format(counted=format_count(added, "sentence")),) * (added > 0)
    return replace(kept, sentences=found, notes=notes)


def _with_code_cited(draft: _Draft, verifier: _Verifier) -> tuple[Sentence, ...]:
    """The sentences; the lines of a block of code that cites nothing cite the source where most of them stand."""
    sentences = list(draft.sentences)
    for is_code, run in groupby(range(len(sentences)), key=lambda at: draft.parts[at].is_code):
        block = list(run)
        if not is_code or any(sentences[at].citations for at in block):
            continue
        lines = {source.n: {line.strip() for line in source.snippet.splitlines()} for source in verifier.sources}
        best = max(lines, key=lambda n: sum(sentences[at].text in lines[n] for at in block))
        for at in block:
            if (text := sentences[at].text) in lines[best]:
                sentences[at] = verifier.verify(text, (best,))
    return tuple(sentences)


def _with_found_source(sentence: Sentence, verifier: _Verifier) -> Sentence:
    """The sentence with the source that supports it best, if it cites none.

    One of fewer than three terms must stand there word for word, with at least two words.
    """
    is_short = _is_short(sentence.text)
    if sentence.citations or len(sentence.text.split()) < (2 if is_short else 1):
        return sentence
    best = verifier.best_source(sentence.text)
    is_found = best is not None and (best.support == 1 or not is_short)
    return verifier.verify(sentence.text, (best.n,)) if best and is_found else sentence


def _is_short(text: str) -> bool:
    return len(set(tokenise(text))) < _LEAST_TERMS


def _verified_sentences(parts: Sequence[CitedText], reply: ModelReply, verifier: _Verifier) -> Iterator[Sentence]:
    """The sentences with their verdicts; if none has a marker, each cites the listed source that supports it best."""
    listed = () if any(part.citations for part in parts) else listed_source_numbers(reply.sources, verifier.sources)
    for part in parts:
        found = verifier.verify(part.text, part.citations or listed)
        if not part.citations and listed:
            best = next((one.n for one in found.evidence if one.n in listed), listed[0])
            found = verifier.verify(part.text, (best,))
        yield found


def _without_doubtful(draft: _Draft, writing: WritingOptions) -> _Draft:
    doubtful = draft.doubtful(writing)
    if not doubtful:
        return draft
    counted = f"{format_count(len(doubtful), 'sentence')} of the language model's answer"
    note = f"{counted} {'was' if len(doubtful) == 1 else 'were'} left out, as no source supports it."
    return replace(draft.keep(lambda sentence: sentence not in doubtful), notes=(*draft.notes, note))
