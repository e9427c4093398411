"""PREVIEW: the result and the cost of a plan, found by preparing its documents; writes nothing."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace

from llama_index.core.schema import TextNode

from pipelines.ingestion.context_header import HEADER_TOKENS, ContextHeader, HeaderCost
from pipelines.ingestion.execute import FATAL_ERRORS, prepare_all
from pipelines.ingestion.parsers import build_parser, parse
from pipelines.ingestion.parsers.nodes import make_nodes
from pipelines.ingestion.pipeline import CachedEmbedder, TextEmbedder, embedded_text
from pipelines.ingestion.plan import Plan, Step
from pipelines.ingestion.prepare import PreparationFailure, PreparedDocument, require_nodes
from pipelines.ingestion.run import Ingestion
from pipelines.models.identity import llm_identity
from pipelines.models.usage import cost, embedding_price, llm_price
from pipelines.store.documents import StoredDocument, is_as_stored
from pipelines.store.model_caches import known_texts, text_sha
from pipelines.text import count_tokens
from pipelines.types import IngestItem, Outcome

Progress = Callable[[int, int], None]  # (documents prepared, of how many)
MAX_WHOLE, SAMPLE = 1_000, 200  # so many documents are all prepared; of more, so many
_NO_HEADERS = HeaderCost(0, 0)


@dataclass(frozen=True, slots=True)
class DocumentPreview:
    """The result and cost of running a plan; costs are US dollars, None if the price is not known.

    Attributes:
        items: One per step, in the plan's order, as the run would report it, without `seconds`.
        estimated: The indexes of items whose nodes depend on a model; their nodes and embeddings are upper bounds.
        embeddings: The texts that the embedding cache lacks, each counted once, with the first document that has it.
        sentence_groups: How many of them a parser embeds only to find boundaries.
        tokens: cl100k tokens of the embeddings.
        headers: The requests to a language model for headers, and the tokens that it would read.
        embedding_cost: The cost of the embeddings.
        header_cost: The most that the headers cost, read and written.
        sampled: The number of documents that were prepared, if the sums are estimated from these; 0 = all were.
        due: The number of documents that the run would prepare.
    """

    items: tuple[IngestItem, ...]
    estimated: frozenset[int]
    embeddings: int
    sentence_groups: int
    tokens: int
    headers: HeaderCost
    embedding_cost: float | None
    header_cost: float | None
    sampled: int = 0
    due: int = 0

    @property
    def cost(self) -> float | None:
        """The total cost of the run."""
        if self.embedding_cost is None or self.header_cost is None:
            return None
        return round(self.embedding_cost + self.header_cost, 6)

    def count(self, outcome: Outcome) -> int:
        """The number of documents with this outcome."""
        return sum(item.outcome == outcome for item in self.items)


@dataclass(frozen=True, slots=True)
class _Forecast:
    """The expected result of one document; `texts` are the keys of texts that the cache lacks, with their tokens."""

    item: IngestItem
    texts: Mapping[str, int] = field(default_factory=dict)
    groups: frozenset[str] = frozenset()
    headers: HeaderCost = _NO_HEADERS
    estimated: bool = False


def preview(
    ingestion: Ingestion,
    plan: Plan,
    on_progress: Progress = lambda *_: None,
    *,
    whole: bool = True,
) -> DocumentPreview:
    """Forecast what `ingestion.run` would do with this plan now.

    A document whose parser embeds counts a node for each group of sentences, the upper bound, unless the cache holds
    all of its groups. A node whose header is still to be written counts as new.

    Args:
        ingestion: What would run.
        plan: Its steps.
        on_progress: Called after each document that was prepared.
        whole: False to prepare a sample of more than `MAX_WHOLE` documents and estimate the sums from it. The others
            count as added or updated, with no number of nodes.

    Raises:
        ConfigError: If the run would raise it.
        ServiceUnavailable: If the database cannot be reached.
    """
    known = {document.id: document for document in ingestion.known()}
    due = [place for place, step in enumerate(plan.steps) if step.action in ("add", "update")]
    places = due if whole or len(due) <= MAX_WHOLE else _sample(plan.steps, due)
    tasks = ingestion.tasks(replace(plan, steps=tuple(plan.steps[place] for place in places)), known)
    forecasts: dict[int, _Forecast] = {}
    with closing(prepare_all(ingestion.executor, tasks, replace(ingestion.options, keep=False))) as results:
        for done, (index, prepared) in enumerate(results, 1):
            place = places[index]
            forecasts[place] = _forecast(ingestion, plan.steps[place], prepared, known)
            on_progress(done, len(tasks))
    found = [
        forecasts.get(place) or _Forecast(_forecast_without_parsing(step, known))
        for place, step in enumerate(plan.steps)
    ]
    return _total(ingestion, found, len(due), len(places))


def _sample(steps: Sequence[Step], places: Sequence[int]) -> list[int]:
    """Choose documents evenly over their kinds and sizes, in the order of the plan."""

    def kind_and_size(place: int) -> tuple[str, int]:
        item = steps[place].item
        size = item.stamp.partition(":")[0]
        return item.name.rpartition(".")[2], int(size) if size.isdecimal() else 0

    ordered = sorted(places, key=kind_and_size)
    return sorted(ordered[(2 * number + 1) * len(ordered) // (2 * SAMPLE)] for number in range(SAMPLE))


def _forecast_without_parsing(step: Step, known: Mapping[str, StoredDocument]) -> IngestItem:
    """The item of a step that is not parsed."""
    if step.action in ("add", "update"):
        return IngestItem(step.item.name, "updated" if step.document_id else "added", document_id=step.document_id)
    if step.error is not None:
        return PreparationFailure.of(step.error, step.stage, step.item.name).item(step.item.name, step.document_id)
    outcome: Outcome = "unchanged" if step.action == "unchanged" else "removed"
    return IngestItem(step.item.name, outcome, document_id=step.document_id, nodes=known[step.document_id].nodes)


def _forecast(
    ingestion: Ingestion,
    step: Step,
    prepared: PreparedDocument | PreparationFailure,
    known: Mapping[str, StoredDocument],
) -> _Forecast:
    if isinstance(prepared, PreparationFailure):
        return _Forecast(prepared.item(step.item.name, step.document_id))
    stored = known.get(prepared.document.id)
    item = IngestItem(step.item.name, "updated" if stored else "added", document_id=prepared.document.id)
    if prepared.metadata_only:
        same = stored is not None and is_as_stored(prepared.document, stored)
        outcome: Outcome = "unchanged" if same else "metadata"
        return _Forecast(replace(item, outcome=outcome, nodes=stored.nodes if stored else 0))
    try:
        return _forecast_embedding(ingestion, prepared, item)
    except FATAL_ERRORS:
        raise
    except Exception as error:  # noqa: BLE001 - as in the run, one bad document stops only itself
        return _Forecast(PreparationFailure.of(error, "parse", step.item.name).item(step.item.name, step.document_id))


def texts_to_embed(ingestion: Ingestion, prepared: PreparedDocument) -> Mapping[str, int]:
    """The keys of the texts of a prepared document that the embedding cache lacks, each with its cl100k tokens."""
    return _forecast_embedding(ingestion, prepared, IngestItem(prepared.document.name, "added")).texts


def _forecast_embedding(ingestion: Ingestion, prepared: PreparedDocument, item: IngestItem) -> _Forecast:
    """The item of a prepared document with its nodes, its headers, and its texts that the embedding cache lacks."""
    document, nodes, groups, exact = prepared.document, list(prepared.nodes or ()), list[str](), True
    if prepared.embeds:
        parser = build_parser(prepared.parser, ingestion.options.sizes)
        pieces = parser.finest(document)
        groups = [document.text[piece.start : piece.end] for piece in pieces]
        exact = not _uncached(ingestion, groups)
        if exact:
            embedder = CachedEmbedder(ingestion.embed_model, ingestion.database.engine, ingestion.identity)
            parsed = parse(document, prepared.parser, ingestion.options.sizes, TextEmbedder(embedder))
            nodes = list(require_nodes(document, parsed))
        else:
            made = ContextHeader()(make_nodes(document, pieces, parser.name, parser.version))
            nodes = [node for node in made if isinstance(node, TextNode)]
    writer, headers, unwritten, final = ingestion.header_writer, _NO_HEADERS, dict[str, int](), nodes
    if writer is not None:
        missing = writer.missing(document.id, nodes)
        headers = HeaderCost(len(missing), sum(writer.tokens(document, node) for node in missing))
        without = {node.text for node in missing}
        drafts = _unshared(document.id, [embedded_text(node) for node in nodes if node.text in without])
        unwritten = {key: tokens + HEADER_TOKENS for key, tokens in drafts.items()}
        final = [node for node in writer.with_known(document.id, nodes) if node.text not in without]
    texts = [embedded_text(node) for node in final]
    known = _uncached(ingestion, [*groups, *texts] if exact else groups) | unwritten
    known |= {} if exact else _unshared(document.id, texts)
    keys = frozenset(map(text_sha, groups))
    return _Forecast(replace(item, nodes=len(nodes)), known, keys, headers, estimated=not exact)


def _unshared(document_id: str, texts: Sequence[str]) -> dict[str, int]:
    """Keys and tokens of texts that are not final, so that no other document can share their embedding."""
    return {f"{document_id} {text_sha(text)}": count_tokens(text) for text in texts}


def _uncached(ingestion: Ingestion, texts: Sequence[str]) -> dict[str, int]:
    """The keys of the texts that the embedding cache lacks, each with its tokens."""
    keys = {text_sha(text): text for text in texts}
    known = known_texts(ingestion.database.engine, ingestion.identity.slug, list(keys))
    return {key: count_tokens(text) for key, text in keys.items() if key not in known}


def _total(ingestion: Ingestion, found: Sequence[_Forecast], due: int, prepared: int) -> DocumentPreview:
    """Sum up the run; a text that several documents share is embedded with the first."""
    new: dict[str, int] = {}
    items = []
    for each in found:
        before = len(new)
        new |= each.texts
        items.append(replace(each.item, embedded=len(new) - before) if each.texts else each.item)

    def estimated(count: int) -> int:
        return round(count * due / prepared) if prepared < due else count

    settings, tokens = ingestion.settings, estimated(sum(new.values()))
    calls, read = (sum(each.headers.calls for each in found), sum(each.headers.tokens for each in found))
    headers = HeaderCost(estimated(calls), estimated(read))
    written = headers.calls * HEADER_TOKENS
    return DocumentPreview(
        items=tuple(items),
        estimated=frozenset(place for place, each in enumerate(found) if each.estimated),
        embeddings=estimated(len(new)),
        sentence_groups=estimated(len(new.keys() & {key for each in found for key in each.groups})),
        tokens=tokens,
        headers=headers,
        embedding_cost=cost(tokens, embedding_price(ingestion.identity, settings.embedding.price)),
        header_cost=cost(headers.tokens + written, llm_price(llm_identity(settings), settings.llm.price)),
        sampled=prepared if prepared < due else 0,
        due=due,
    )
