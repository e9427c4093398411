"""PREVIEW: what a plan would come to and cost, found by preparing its documents; writes nothing."""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from llama_index.core.schema import TextNode

from pipelines.errors import ConfigError
from pipelines.ingestion.contextualise import Contextualise
from pipelines.ingestion.embed import Embedder, TextEmbedder, embedded_text
from pipelines.ingestion.failure import Failure
from pipelines.ingestion.header_writer import HeaderCost
from pipelines.ingestion.parsers import build_parser, parse
from pipelines.ingestion.parsers.nodes import make_nodes
from pipelines.ingestion.parsers.semantic import SemanticParser
from pipelines.ingestion.plan import Plan, Step
from pipelines.ingestion.prepare import Prepared, some
from pipelines.ingestion.run import Ingestion, Overrides
from pipelines.ingestion.together import FOR_ALL
from pipelines.models.identity import llm_identity
from pipelines.models.prices import cost, embedding_price, llm_price
from pipelines.store.documents import Known, is_as_stored
from pipelines.store.vectors import known_texts, text_sha
from pipelines.text import count_tokens
from pipelines.types import IngestItem, Outcome

Watch = Callable[[int, int], None]  # (documents prepared, of how many)
_NO_HEADERS = HeaderCost(0, 0)


@dataclass(frozen=True, slots=True)
class Preview:
    """What a run of a plan would do; costs are US dollars, None where the price is not known.

    Attributes:
        items: One a step, in the plan's order, as the run would report it, but for `seconds`.
        estimated: The places of the items whose nodes show only once a model was asked: they have at most so many
            nodes and embeddings.
        embeddings: The texts that the embedding cache lacks, each counted once, with the first document that has it.
        sentence_groups: How many of them a parser embeds only to find where to cut.
        tokens: cl100k tokens of the embeddings.
        headers: How often a language model would be asked for a header, and the tokens that it would read.
        embedding_cost: What the embeddings cost.
        header_cost: What the headers cost at most, read and written.
    """

    items: tuple[IngestItem, ...]
    estimated: frozenset[int]
    embeddings: int
    sentence_groups: int
    tokens: int
    headers: HeaderCost
    embedding_cost: float | None
    header_cost: float | None

    @property
    def cost(self) -> float | None:
        """All that the run costs."""
        if self.embedding_cost is None or self.header_cost is None:
            return None
        return round(self.embedding_cost + self.header_cost, 6)

    def count(self, outcome: Outcome) -> int:
        """How many documents would end so."""
        return sum(item.outcome == outcome for item in self.items)


@dataclass(frozen=True, slots=True)
class _Foreseen:
    """What a run would make of one document; `texts` are the keys of what the cache lacks, each with its tokens."""

    item: IngestItem
    texts: Mapping[str, int] = field(default_factory=dict)
    groups: frozenset[str] = frozenset()
    headers: HeaderCost = _NO_HEADERS
    estimated: bool = False


def preview(ingestion: Ingestion, plan: Plan, overrides: Overrides, on_progress: Watch = lambda *_: None) -> Preview:
    """What `ingestion.run` would do with this plan now.

    A document that a parser cuts by meaning is foreseen with a node for each group of sentences, the most that there
    can be, unless the cache holds all of its groups. A node whose header is still to be written counts as new.

    Raises:
        ConfigError: If the run would end with it.
        ServiceUnavailable: If the database cannot be reached.
    """
    known = {document.id: document for document in ingestion.known()}
    found = {
        place: _Foreseen(_at_once(step, known))
        for place, step in enumerate(plan.steps)
        if step.action not in ("add", "update")
    }
    tasks = ingestion.tasks(plan, overrides, known)
    results = ingestion.executor(tasks, replace(ingestion.options, keep=False))
    try:
        for done, (place, prepared) in enumerate(results, 1):
            found[place] = _foresee(ingestion, plan.steps[place], prepared, known)
            on_progress(done, len(tasks))
    finally:
        if isinstance(results, Generator):
            results.close()
    return _summed(ingestion, [found[place] for place in range(len(plan.steps))])


def _at_once(step: Step, known: Mapping[str, Known]) -> IngestItem:
    """What becomes of a step that needs no parsing."""
    if step.error is not None:
        return Failure.of(step.error, step.stage, step.item.name).item(step.item.name, step.document_id)
    outcome: Outcome = "unchanged" if step.action == "unchanged" else "removed"
    return IngestItem(step.item.name, outcome, document_id=step.document_id, nodes=known[step.document_id].nodes)


def _foresee(ingestion: Ingestion, step: Step, prepared: Prepared | Failure, known: Mapping[str, Known]) -> _Foreseen:
    if isinstance(prepared, Failure):
        if prepared.fatal:
            raise ConfigError(prepared.message, hint=prepared.hint)
        return _Foreseen(prepared.item(step.item.name, step.document_id))
    held = known.get(prepared.document.id)
    item = IngestItem(step.item.name, "updated" if held else "added", document_id=prepared.document.id)
    if prepared.metadata_only:
        same = held is not None and is_as_stored(prepared.document, held)
        outcome: Outcome = "unchanged" if same else "metadata"
        return _Foreseen(replace(item, outcome=outcome, nodes=held.nodes if held else 0))
    try:
        nodes, groups, exact = _nodes(ingestion, prepared)
    except FOR_ALL:
        raise
    except Exception as error:  # noqa: BLE001 - as in the run, one bad document stops only itself
        return _Foreseen(Failure.of(error, "parse", step.item.name).item(step.item.name, step.document_id))
    headers, texts, unknown = _headed(ingestion, prepared, nodes)
    if exact:
        lacking = _lacking(ingestion, [*groups, *texts])
    else:
        lacking = _lacking(ingestion, groups) | _uncertain(prepared.document.id, texts)
    return _Foreseen(
        replace(item, nodes=len(nodes)),
        lacking | unknown,
        frozenset(text_sha(text) for text in groups),
        headers,
        estimated=not exact,
    )


def texts_to_embed(ingestion: Ingestion, prepared: Prepared) -> dict[str, int]:
    """The keys of the texts that the embedding cache lacks for a prepared document, each with its cl100k tokens."""
    nodes, groups, exact = _nodes(ingestion, prepared)
    _, texts, unknown = _headed(ingestion, prepared, nodes)
    known = _lacking(ingestion, [*groups, *texts] if exact else groups)
    return known | unknown | ({} if exact else _uncertain(prepared.document.id, texts))


def _nodes(ingestion: Ingestion, prepared: Prepared) -> tuple[list[TextNode], list[str], bool]:
    """(the nodes, the groups of sentences that are embedded to find them, whether these are just the nodes)."""
    document, sizes = prepared.document, ingestion.options.sizes
    if not prepared.embeds:
        return list(prepared.nodes or ()), [], True
    parser = build_parser(prepared.parser, sizes)
    assert isinstance(parser, SemanticParser)
    pieces = parser.finest(document)
    groups = [document.text[piece.start : piece.end] for piece in pieces]
    if _lacking(ingestion, groups):
        nodes = Contextualise()(make_nodes(document, pieces, parser.name, parser.version))
        return [node for node in nodes if isinstance(node, TextNode)], groups, False
    embedder = TextEmbedder(Embedder(ingestion.embed_model, ingestion.database.engine, ingestion.identity))
    return list(some(document, parse(document, prepared.parser, sizes, embedder))), groups, True


def _headed(
    ingestion: Ingestion, prepared: Prepared, nodes: Sequence[TextNode]
) -> tuple[HeaderCost, list[str], dict[str, int]]:
    """(what the headers cost, the texts to be embedded, and those of which the header is still to be written)."""
    writer, document = ingestion.header_writer, prepared.document
    if writer is None:
        return _NO_HEADERS, [embedded_text(node) for node in nodes], {}
    asked = writer.missing(document.id, nodes)
    unwritten = {node.text for node in asked}
    texts = [embedded_text(node) for node in writer.with_known(document.id, nodes) if node.text not in unwritten]
    unknown = _uncertain(document.id, [embedded_text(node) for node in nodes if node.text in unwritten])
    longest = ingestion.settings.headers.max_tokens
    said = HeaderCost(len(asked), sum(writer.tokens(document, node) for node in asked))
    return said, texts, {key: tokens + longest for key, tokens in unknown.items()}


def _uncertain(document_id: str, texts: Sequence[str]) -> dict[str, int]:
    """Keys and tokens of texts that no other document shares, because they are not yet what will be embedded."""
    return {f"{document_id} {text_sha(text)}": count_tokens(text) for text in texts}


def _lacking(ingestion: Ingestion, texts: Sequence[str]) -> dict[str, int]:
    """The keys of the texts that the embedding cache lacks, each with its tokens."""
    keys = {text_sha(text): text for text in texts}
    known = known_texts(ingestion.database.engine, ingestion.identity.slug, list(keys))
    return {key: count_tokens(text) for key, text in keys.items() if key not in known}


def _summed(ingestion: Ingestion, found: Sequence[_Foreseen]) -> Preview:
    """The whole run: a text that several documents share is embedded with the first."""
    new: dict[str, int] = {}
    items = []
    for each in found:
        before = len(new)
        new |= each.texts
        items.append(replace(each.item, embedded=len(new) - before))
    settings, tokens = ingestion.settings, sum(new.values())
    headers = HeaderCost(sum(each.headers.calls for each in found), sum(each.headers.tokens for each in found))
    written = headers.calls * settings.headers.max_tokens
    return Preview(
        items=tuple(items),
        estimated=frozenset(place for place, each in enumerate(found) if each.estimated),
        embeddings=len(new),
        sentence_groups=len(new.keys() & {key for each in found for key in each.groups}),
        tokens=tokens,
        headers=headers,
        embedding_cost=cost(tokens, embedding_price(ingestion.identity, settings.embedding.price)),
        header_cost=cost(headers.tokens + written, llm_price(llm_identity(settings), settings.llm.price)),
    )
