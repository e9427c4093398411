"""Both retrievers by the size of the corpus, from 1,000 to a million, as a table and a picture.

    python -m tests.bench.growth ../blog_18f ../readmes --nodes 100000 --picture docs/pictures/growth.svg

The vectors are perturbed ones of a corpus of `tests.bench.search`, under an HNSW index that examines as many of them
as a search would; recall@10 is against exact search. The BM25 index is that of nodes of the corpus; of more than it
has, copies of them in which each third word is another.
"""

import resource
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import count, islice
from pathlib import Path

import numpy as np

from config.settings import get_settings
from pipelines.query.engine import QueryEngine
from pipelines.query.question.language import question_terms
from pipelines.store.index_snapshots import examined
from pipelines.store.lexical_index import LexicalIndex, Segment, with_pairs
from tests.bench import arguments, show
from tests.bench.capacity import measure_index, perturbed
from tests.bench.search import TOPICS, corpus_engine, questions

_SIZES = (1_000, 10_000, 100_000, 1_000_000)
_SAMPLE, _K = 20_000, 20
_WIDTH, _HEIGHT, _EDGE = 640, 320, 56


def dense(engine: QueryEngine, size: int) -> dict[str, float]:
    """Of an HNSW index over so many vectors: seconds of building, bytes a vector, milliseconds, recall@10."""
    vectors = perturbed(engine.store.some_vectors("owner", _SAMPLE), size)
    with engine.database.engine.begin() as connection:
        found = measure_index(connection, vectors, [look := examined(100, size)])
    return {"examined": look, "seconds": found["seconds"], "bytes": found["bytes"], **found["examined"][str(look)]}


def sparse(engine: QueryEngine, size: int, asked: Sequence[str]) -> dict[str, float]:
    """Of a BM25 index over so many nodes: seconds of building, the process's memory, bytes a node, milliseconds."""
    began = time.perf_counter()
    index = LexicalIndex.build(islice(copied([*engine.store.segments("owner")]), size), engine.indexes.parameters)
    built = time.perf_counter() - began
    with tempfile.TemporaryDirectory() as folder:
        index.save(Path(folder) / "index")
        size_on_disk = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
    spent = []
    for question in asked:
        terms = question_terms(question)
        began = time.perf_counter()
        index.best(index.scores(with_pairs(dict.fromkeys(terms, 1.0), terms)), _K)
        spent.append(1000 * (time.perf_counter() - began))
    p50, p95 = np.percentile(spent, (50, 95)).tolist()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": built, "most_megabytes": most, "bytes": size_on_disk / len(index), "p50": p50, "p95": p95}


def copied(segments: Sequence[Segment]) -> Iterator[Segment]:
    """These nodes, then without end copies of them in which each third word is one of another node."""
    yield from segments
    chance = np.random.default_rng(7)
    words = " ".join(each.terms.replace("\t", " ") for each in segments[:_SAMPLE]).split()
    for number in count(1):
        for segment in segments:
            header, _, body = segment.terms.rpartition("\t")
            held = body.split()
            for place in range(number % 3, len(held), 3):
                held[place] = words[chance.integers(len(words))]
            document = f"{segment.document_id}.{number}"
            yield Segment(f"{segment.node_id}.{number}", document, f"{header}\t{' '.join(held)}")


def picture(lines: dict[str, list[tuple[int, float]]]) -> str:
    """An SVG of named lines of (size, milliseconds), both axes by powers of ten."""
    most = max(2, *(np.ceil(np.log10(value)) for line in lines.values() for _, value in line))

    def at(size: float, value: float) -> tuple[float, float]:
        across, up = (np.log10(size) - 3) / 3, (np.log10(value) + 1) / (most + 1)
        return round(_EDGE + across * (_WIDTH - 2 * _EDGE), 1), round(_HEIGHT - _EDGE - up * (_HEIGHT - 2 * _EDGE), 1)

    drawn = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" '
        'font-size="12" role="img"><title>Milliseconds of each retriever (p95) by the size of the corpus</title>'
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>'
    ]
    for power in range(-1, int(most) + 1):
        (left, height), (right, _) = at(1e3, 10.0**power), at(1e6, 10.0**power)
        drawn.append(f'<path d="M{left} {height}H{right}" stroke="#ddd"/>')
        drawn.append(f'<text x="{left - 8}" y="{height + 4}" text-anchor="end">{10.0**power:g} ms</text>')
    for size in _SIZES:
        across, base = at(size, 0.1)
        drawn.append(f'<text x="{across}" y="{base + 20}" text-anchor="middle">{size:,}</text>')
    drawn.append(f'<text x="{_EDGE}" y="24">Milliseconds of each retriever (p95), by the nodes of the corpus</text>')
    for color, (name, line) in zip(("#8a3b12", "#1f5f8b"), lines.items(), strict=True):
        points = [at(size, value) for size, value in line]
        drawn.append(
            f'<polyline points="{" ".join(f"{x},{y}" for x, y in points)}" fill="none" stroke="{color}" '
            'stroke-width="2"/>'
        )
        drawn += [f'<circle cx="{x}" cy="{y}" r="3" fill="{color}"/>' for x, y in points]
        x, y = points[len(points) // 3]  # right of it the lines may meet
        drawn.append(f'<text x="{x}" y="{y - 14}" text-anchor="middle" fill="{color}">{name}</text>')
    return "\n".join([*drawn, "</svg>", ""])


if __name__ == "__main__":
    parser = arguments("growth", __doc__)
    parser.add_argument("sources", nargs="+", help="files and folders whose text the corpus is made of")
    parser.add_argument("--nodes", type=int, default=10_000, help="of the corpus (default: 10000)")
    parser.add_argument("--vectors", type=int, default=1_000_000, help="at most (default: 1000000)")
    parser.add_argument("--words", type=int, default=1_000_000, help="nodes of the BM25 index, at most (1000000)")
    parser.add_argument("--picture", type=Path, help="where to write an SVG")
    given = parser.parse_args()
    engine = corpus_engine(get_settings(), given.sources, given.nodes)
    vectors = {size: dense(engine, size) for size in _SIZES if size <= given.vectors}
    words = {size: sparse(engine, size, questions(TOPICS)) for size in _SIZES if size <= given.words}
    if given.picture:
        lines = {"vectors (HNSW)": vectors, "words (BM25)": words}
        drawn = picture({name: [(size, each["p95"]) for size, each in of.items()] for name, of in lines.items()})
        given.picture.write_text(drawn, encoding="utf-8")
    show({"vectors": vectors, "words": words})
