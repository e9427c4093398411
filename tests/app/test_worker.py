"""The worker does what it is asked, and another one goes on where it was killed."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import text

from app.chat_engine import ChatEngine, build_chat_engine
from app.worker import JobWorker
from config.settings import Settings
from pipelines.store.jobs import JobFile, list_jobs
from pipelines.store.runs import list_runs

KILN = b"# Kiln\n\nThe anagama kiln at Dunsyre was built by Ruth Aldous.\n"


@pytest.fixture
def chat(settings: Settings) -> Iterator[ChatEngine]:
    engine = build_chat_engine(settings)
    yield engine
    engine.close()


def files_of(n: int) -> list[tuple[str, bytes]]:
    return [
        (f"{at}.md", b"# Note %d\n\nThe kiln number %d burns larch for %d hours.\n" % (at, at, at)) for at in range(n)
    ]


def work(chat: ChatEngine) -> None:
    worker = JobWorker(chat.settings)
    while worker.work_once():
        pass
    worker.close()


def outcomes(files: list[JobFile]) -> set[str]:
    return {file.outcome for file in files}


def test_a_job_can_be_undone_whole(chat: ChatEngine) -> None:
    chat.jobs.upload(files_of(3))
    work(chat)
    [job] = chat.jobs.recent()
    assert (job.state, job.files, job.ended, job.failed, len(job.runs)) == ("done", 3, 3, 0, 1)
    assert len(chat.shelf().documents) == 3
    uploads = chat.settings.home.resolve() / "uploads"
    assert len(list(uploads.glob("*.md"))) == 3
    chat.jobs.undo(job)
    work(chat)
    assert chat.shelf().documents == ()
    assert list(uploads.glob("*.md")) == [], "no file is left that nothing names"
    assert len(list((uploads / ".removed").glob("*"))) == 3, "for a day"
    assert [(each.kind, each.state, each.ended) for each in chat.jobs.recent()] == [("undo", "done", 3)]


def test_a_failure_is_retried_alone(chat: ChatEngine) -> None:
    job = chat.jobs.upload([("kiln.md", KILN), ("empty.md", b""), ("x.bin", b"\0\1\2")])
    work(chat)
    assert [(file.name, file.outcome) for file in chat.jobs.files(job)] == [
        ("kiln.md", "added"), ("empty.md", "failed"), ("x.bin", "failed")
    ]  # fmt: skip
    assert all(file.message for file in chat.jobs.files(job)[1:])
    (chat.settings.home.resolve() / "uploads" / "empty.md").write_bytes(KILN + b"\nIt is fired twice.\n")
    (chat.settings.home.resolve() / "uploads" / "x.bin").unlink()
    chat.jobs.retry(job)
    work(chat)
    assert [(file.outcome, file.message) for file in chat.jobs.files(job)] == [
        ("added", ""), ("added", ""), ("failed", "The file of x.bin is gone.")
    ]  # fmt: skip


def test_a_document_gets_another_category_and_is_read_again_from_its_file(chat: ChatEngine) -> None:
    chat.jobs.upload([("kiln.md", KILN)])
    work(chat)
    [document] = chat.shelf().documents
    chat.jobs.reread(document.id, document.name, category="blog")
    work(chat)
    assert [each.category for each in chat.shelf().documents] == ["blog"]
    (chat.settings.home.resolve() / "uploads" / "kiln.md").write_bytes(KILN.replace(b"# Kiln", b"# The kiln"))
    chat.jobs.refresh()
    work(chat)
    assert [(each.title, each.category) for each in chat.shelf().documents] == [("The kiln", "blog")]
    chat.jobs.reread(document.id, document.name, collection="kilns")
    work(chat)
    with chat.ingestion().database.engine.connect() as connection:
        assert connection.execute(text("SELECT collection FROM documents")).scalars().all() == ["kilns"]


def test_a_worker_that_leaves_gives_its_job_back(chat: ChatEngine) -> None:
    job = chat.jobs.upload(files_of(40))
    leaving = threading.Event()
    threading.Timer(0.4, leaving.set).start()
    worker = JobWorker(chat.settings)
    worker.work_once(leaving)
    worker.close()
    found = chat.jobs.find(job)
    assert found
    assert found.state in ("waiting", "done")
    work(chat)
    assert outcomes(chat.jobs.files(job)) == {"added"}
    assert len(chat.shelf().documents) == 40


def test_a_job_of_a_killed_worker_is_finished_by_another_with_every_file(chat: ChatEngine) -> None:
    settings = chat.settings
    assert settings.database_url
    environment = {
        "PATH": os.environ["PATH"], "HOME": str(settings.home), "FOOTNOTE_HOME": str(settings.home),
        "DATABASE_URL": settings.database_url.get_secret_value(), "FOOTNOTE_EMBEDDING__PROVIDER": "hashed",
        "FOOTNOTE_INGESTION__EXECUTOR": "here",
    }  # fmt: skip
    job = chat.jobs.upload(files_of(60))
    process = subprocess.Popen(
        [sys.executable, "-m", "app.worker"], stdin=subprocess.PIPE, env=environment, cwd=Path(__file__).parents[2]
    )
    until = time.monotonic() + 60
    while not (found := chat.jobs.find(job)) or found.ended < 5:
        assert time.monotonic() < until
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    engine = chat.ingestion().database.engine
    assert [each.state for each in list_jobs(engine)] == ["running"]
    with engine.begin() as connection:
        connection.execute(text("UPDATE jobs SET beat_at = beat_at - interval '16 seconds'"))
    work(chat)
    found = chat.jobs.find(job)
    assert found
    assert (found.state, found.ended, found.failed) == ("done", 60, 0)
    assert outcomes(chat.jobs.files(job)) == {"added"}, "what the killed worker stored counts as it was"
    assert len(chat.shelf().documents) == 60
    assert len(list_runs(engine, 9)) == len(found.runs)
    chat.jobs.undo(found)
    work(chat)
    assert chat.shelf().documents == ()


def test_a_document_shows_its_nodes_and_versions_and_an_old_one_is_restored(chat: ChatEngine) -> None:
    for data in (KILN, KILN.replace(b"Aldous", b"Bell")):
        chat.jobs.upload([("kiln.md", data), ("copy.md", data)])
        work(chat)
    document = next(each for each in chat.shelf().documents if each.name == "kiln.md")
    found = chat.document(document.id)
    assert found
    assert [found.document.text[node.start : node.end] for node in found.nodes] == [found.document.text.strip()]
    assert found.alike == ("copy.md",)
    [version] = found.versions
    assert version.run_id
    chat.jobs.restore(document.id, document.name, version.run_id)
    work(chat)
    texts = {each.name: chat.document(each.id) for each in chat.shelf().documents}
    assert {name: "Aldous" in each.document.text for name, each in texts.items() if each} == {
        "kiln.md": True, "copy.md": False
    }  # fmt: skip
    assert chat.document("nobody's") is None


def test_the_owners_questions_are_asked_as_a_job_and_the_report_is_kept(chat: ChatEngine) -> None:
    chat.jobs.upload([("kiln.md", KILN)])
    work(chat)
    quote = {"document": "kiln.md", "text": "The anagama kiln at Dunsyre was built by Ruth Aldous."}
    topic = {"id": "t", "question": "Who built the anagama kiln?", "kind": "fact", "answerable": True,
             "facts": ["Ruth Aldous"], "quotes": [quote]}  # fmt: skip
    place = Path(chat.health.topics_file)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(json.dumps(topic) + "\n")
    job = chat.jobs.evaluate()
    work(chat)
    found, report = chat.jobs.find(job), chat.health.evaluation()
    assert found
    assert found.state == "done"
    assert report
    assert report["measures"]["facts"] == 1.0
    assert [topic["missed"] for topic in report["topics"]] == [[]]
    place.write_text("{")
    broken = chat.jobs.evaluate()
    work(chat)
    found = chat.jobs.find(broken)
    assert found
    assert found.state == "failed"
    assert found.message


def test_nodes_are_made_again_as_a_job(chat: ChatEngine) -> None:
    chat.jobs.upload([("kiln.md", KILN)])
    work(chat)
    with chat.ingestion().database.engine.begin() as connection:
        connection.execute(text("UPDATE document_indexes SET recipe = 'old'"))
    job = chat.jobs.reindex()
    work(chat)
    found = chat.jobs.find(job)
    assert found
    assert (found.state, found.files, found.ended, found.failed) == ("done", 1, 1, 0)


def test_a_worker_reads_settings_that_a_page_has_written(chat: ChatEngine) -> None:
    now = [chat.settings]
    worker = JobWorker(chat.settings, lambda: now[0])
    chat.jobs.upload([("kiln.md", KILN)])
    assert worker.work_once()
    now[0] = chat.settings.model_copy(update={"collection": "kilns"})
    chat.jobs.upload([("glaze.md", b"# Glaze\n\nTenmoku breaks to rust where it is thin.\n")])
    assert worker.work_once()
    worker.close()
    with chat.ingestion().database.engine.connect() as connection:
        rows = connection.execute(text("SELECT name, collection FROM documents ORDER BY name"))
        assert [tuple(row) for row in rows] == [("glaze.md", "kilns"), ("kiln.md", "default")]


def test_ctrl_c_in_a_terminal_is_left_to_the_server(settings: Settings) -> None:
    assert settings.database_url
    server = (
        "import time\nfrom app.worker import WorkerProcess\n"
        "try:\n    with WorkerProcess():\n        print('up', flush=True)\n        time.sleep(60)\n"
        "except KeyboardInterrupt:\n    pass\n"
    )
    database = settings.database_url.get_secret_value()  # which the worker opens if it gets so far
    environment = {**os.environ, "FOOTNOTE_HOME": str(settings.home), "DATABASE_URL": database}
    process = subprocess.Popen(
        [sys.executable, "-c", server], env=environment, text=True, start_new_session=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout
    assert process.stdout.readline() == "up\n"
    time.sleep(0.15)  # in which the worker begins to load
    os.killpg(process.pid, signal.SIGINT)
    assert process.communicate(timeout=30) == ("", "")
    assert process.returncode == 0
