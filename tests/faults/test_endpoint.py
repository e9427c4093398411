"""A model endpoint that fails in any way leaves every document whole, is not asked without end, and is named."""

import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from config.settings import EmbeddingSettings
from pipelines.errors import ServiceUnavailable
from pipelines.ingestion.run import build_ingestion
from tests.conftest import open_folder
from tests.fake_openai import FakeOpenAI, Fault
from tests.faults.checks import finishes, whole_after
from tests.faults.children import in_child
from tests.faults.conftest import Rehearsal, rehearsals
from tests.faults.plays import PLAYS, Stage
from tests.faults.seeds import Point

RETRIES = 1
AFTER = 3  # requests that are answered well before the endpoint fails


@dataclass(frozen=True)
class Outage:
    """What every request meets from some moment on, and how the run tells of it.

    Attributes:
        asked: How often a batch is asked for before it is given up.
    """

    fault: Fault
    says: str
    asked: int = 1


OUTAGES = {
    "429 without Retry-After": Outage(Fault("status", status=429), "takes no more requests", asked=1 + RETRIES),
    "429 with Retry-After": Outage(Fault("status", status=429, retry_after="0"), "takes no more", asked=1 + RETRIES),
    "429 with a Retry-After that is too long": Outage(Fault("status", status=429, retry_after="3600"), "takes no more"),
    "500": Outage(Fault("status", status=500), "fails with status 500", asked=1 + RETRIES),
    "503 with Retry-After": Outage(Fault("status", status=503, retry_after="0"), "status 503", asked=1 + RETRIES),
    "garbage": Outage(Fault("garbage"), "the form of a chat completion"),
    "a web page": Outage(Fault("page"), "the form of a chat completion"),
    "too few vectors": Outage(Fault("count"), "vectors for"),
    "vectors of another dimension": Outage(Fault("dimension"), "dimensions, not"),
    "vectors that are not numbers": Outage(Fault("nan"), "not finite"),
    "no answer in time": Outage(Fault("slow", seconds=0.3), "did not answer in time", asked=1 + RETRIES),
}


@pytest.fixture(scope="module")
def endpoint() -> Iterator[FakeOpenAI]:
    """The model's server."""
    with FakeOpenAI(dimension=64) as server:
        yield server


@pytest.fixture(scope="module")
def remote(stage: Stage, endpoint: FakeOpenAI) -> Iterator[Rehearsal]:
    """Plays with a remote model, rehearsed while it answers."""
    homes = open_folder("footnote-faults-")
    asked = EmbeddingSettings(
        provider="openai",
        model="scripted",
        dimension=64,
        retries=RETRIES,
        pause_ms=0,
        timeout_seconds=0.15,
        batch_size=4,
    )
    changes = {"embedding": asked, "openai_api_base": endpoint.url}
    with rehearsals(replace(stage, homes=homes, changes=changes), "remote") as rehearsed:
        yield rehearsed
    shutil.rmtree(homes, ignore_errors=True)


@pytest.mark.parametrize("name", OUTAGES)
def test_an_endpoint_that_fails_for_any_text_ends_the_run_and_the_next_run_finishes(
    name: str, remote: Rehearsal, endpoint: FakeOpenAI, database: str
) -> None:
    outage, play = OUTAGES[name], remote(PLAYS[0])
    settings = play.copy(database)
    endpoint.requests.clear()
    endpoint.fail(*[None] * AFTER, *[outage.fault] * 1000)  # type: ignore[list-item]
    ended = in_child(lambda: play.act(settings))
    endpoint.faults.clear()
    asked = Counter(str(request.body["input"]) for request in endpoint.requests[AFTER:])
    assert len(asked) <= 2  # a batch, and a plain word, which tells whose fault it is
    assert max(asked.values()) <= outage.asked
    whole_after(play, settings, f"the endpoint: {name}", Point("embedding", name, 1), ended.how)
    assert ended.how == "exit 5"
    assert outage.says in ended.error
    finishes(play, settings)


def test_an_endpoint_that_is_gone_in_the_middle_of_a_run_ends_it_and_the_next_run_finishes(
    remote: Rehearsal, database: str
) -> None:
    play = remote(PLAYS[0])
    settings = play.copy(database)
    with FakeOpenAI(dimension=64) as other:
        ingestion = build_ingestion(settings.model_copy(update={"openai_api_base": other.url}))
        plan = ingestion.plan([str(play.world.folder)], allow_removals=True)
        closed = False

        def close(done: int, *_: object) -> None:
            nonlocal closed
            if not closed:
                closed = True
                other._server.shutdown()
                other._server.server_close()

        with pytest.raises(ServiceUnavailable, match="cannot be reached"):
            ingestion.run(plan, on_progress=close)
        ingestion.database.engine.dispose()
    whole_after(play, settings, "the endpoint: refuses connections", Point("embedding", "refused", 1), "exit 5")
    finishes(play, settings)


def test_vectors_in_another_order_reach_the_texts_that_they_are_of(
    remote: Rehearsal, endpoint: FakeOpenAI, database: str
) -> None:
    play = remote(PLAYS[0])
    settings = play.copy(database)
    endpoint.fail(*[Fault("shuffled")] * 1000)
    play.act(settings)
    endpoint.faults.clear()
    finishes(play, settings)
