"""Questions and filter values that were made to break something: results or a typed error, and nothing changes."""

import random
from collections.abc import Iterator
from dataclasses import fields, replace
from pathlib import Path

import pytest
from sqlalchemy import text

from config.settings import Settings
from pipelines.errors import FootnoteError
from pipelines.ingestion.run import ingest
from pipelines.query.engine import QueryEngine, build_query_engine
from pipelines.types import Filters

_TIMES = [60, pytest.param(300, marks=pytest.mark.trial)]
_STINGS = (
    "'", '"', "''", "\\", "%", "%s", "%(x)s", ":x", "::int", "{0}", "{}", "$1", "--", "/*", "*/", ";",
    "\x00", "\r\n", "\t", "' OR '1'='1", "'; DROP TABLE documents; --", "\") OR 1=1 --", "a & b | !c",
    "foo:*", "<->", "(((", "[[a-", "(?P<x>", "\\p{L}", "\ud800", "\udfff", "\u202e", "\u200b", "\ufeff",
    "e\u0301", "🦦", "👩‍👩‍👧", "ß", "İ", "№", "𝔘", "\U0010ffff", "null", "None", "NaN", "-1", "1e309",
    "2023", "0000", "99999999999999999999", "<script>", "${HOME}", "../../etc/passwd", "“quoted", "”",
    "«a»", '"" ""', '"crane"', "in 2023", "since 0000", "FY99-98", "last year", "the",
)  # fmt: skip
_PLANES = ((0x20, 0x7E), (0xA0, 0xD7FF), (0xE000, 0xFFFD), *((p << 16, (p << 16) + 0xFFFD) for p in range(1, 17)))


def hostile(random: random.Random) -> str:
    """A few stings, words, and characters of every plane, in any order; now and then far too long."""
    parts = [random.choice(_STINGS) for _ in range(random.randint(0, 4))]
    parts += random.choices(("crane", "How", "many", "containers", "did", "it", "move"), k=random.randint(0, 4))
    parts += ["".join(chr(random.randint(*random.choice(_PLANES))) for _ in range(random.randint(0, 6)))]
    random.shuffle(parts)
    said = random.choice(("", " ")).join(parts)
    return said * (1 + 100_000 // (len(said) + 1)) if random.random() < 0.03 else said


def hostile_filters(random: random.Random) -> Filters:
    """One to three filters with hostile values."""
    given: dict[str, object] = {}
    for field in random.sample(fields(Filters), random.randint(1, 3)):
        if field.name == "year":
            given["year"] = tuple(random.choice((0, -1, 2023, 10**30, -(10**30))) for _ in range(2))
        elif field.name in ("since", "until"):
            given[field.name] = random.choice((hostile(random), "2023-02-30", "2023-01-01", "0001-01-01", "9999-12-31"))
        else:
            given[field.name] = tuple(hostile(random) for _ in range(random.randint(1, 3)))
    return replace(Filters(), **given)


@pytest.fixture(scope="module")
def _folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    for name, body in (
        ("crane.md", "The crane moved 40 containers an hour."),
        ('it\'s 100% "odd".md', "O'Neil: {x} %s"),
    ):
        (folder / name).write_text(f"# {name}\n\n{body}\n")
    return folder


@pytest.fixture
def engine(settings: Settings, _folder: Path) -> Iterator[QueryEngine]:
    assert ingest(settings, [str(_folder)]).count("added") == 2
    engine = build_query_engine(settings)
    yield engine
    engine.database.engine.dispose()


def state(engine: QueryEngine) -> list[object]:
    """Everything that a question must not change: documents, nodes, terms, the corpus version, the tables there are."""
    with engine.database.engine.connect() as connection:
        held = [
            connection.execute(text(f"SELECT md5(string_agg(t::text, '|' ORDER BY t::text)) FROM {table} t")).scalar()
            for table in (
                "documents",
                f"data_{engine.store.table}",
                "lexical_segments",
                "corpus_version",
                "ingest_items",
            )
        ]
        tables = connection.execute(text("SELECT count(*) FROM pg_class WHERE relkind = 'r'")).scalar()
    return [*held, tables]


def asked(engine: QueryEngine, question: str, filters: Filters, *, whole: bool) -> str:
    try:
        if whole:
            engine.ask(question, filters=filters)
            return "answered"
        found = engine.search(question, filters=filters)
        assert len(found.results) <= engine.settings.retrieval.top_n
        return "searched"
    except FootnoteError as error:
        return type(error).__name__ if error.message else "a silent error"


@pytest.mark.parametrize("times", _TIMES)
def test_hostile_questions_return_results_or_a_typed_error_and_change_nothing(engine: QueryEngine, times: int) -> None:
    before, seeded = state(engine), random.Random(20)
    came = [asked(engine, hostile(seeded), Filters(), whole=n % 6 == 0) for n in range(times)]
    assert {"searched", "answered", "RetrievalError", "TooLarge"} == set(came)
    assert came.count("searched") > times / 2
    assert state(engine) == before


@pytest.mark.parametrize("times", _TIMES)
def test_hostile_filters_return_results_or_a_typed_error_and_change_nothing(engine: QueryEngine, times: int) -> None:
    before, seeded = state(engine), random.Random(21)
    came = [asked(engine, "How many containers?", hostile_filters(seeded), whole=False) for _ in range(times)]
    assert {"searched", "RetrievalError"} == set(came)
    assert state(engine) == before


def test_a_filter_matches_a_name_full_of_special_characters_exactly(engine: QueryEngine) -> None:
    found = engine.search("odd", filters=Filters(document=('it\'s 100% "odd".md',)))
    assert {result.document_name for result in found.results} == {'it\'s 100% "odd".md'}
