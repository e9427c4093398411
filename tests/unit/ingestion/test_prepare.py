"""Why a document could not be prepared: a class, a sentence and what to do, whatever it met."""

import pytest

from pipelines.errors import ConfigError, LoadError
from pipelines.ingestion.prepare import PreparationFailure, crashed, is_memory_error, out_of_memory, out_of_time


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    """The error as it is caught, when the cause led to it."""
    try:
        try:
            if cause is not None:
                raise cause
        finally:
            raise error
    except type(error) as caught:
        return caught


def test_an_error_of_ours_says_what_it_says() -> None:
    failure = PreparationFailure.of(LoadError("a.pdf is broken.", hint="Copy it again."), "load", "a.pdf")
    assert failure == PreparationFailure("load", "LoadError", "a.pdf is broken.", "Copy it again.")


def test_a_wrong_setting_ends_the_run() -> None:
    assert PreparationFailure.of(ConfigError("There is no parser x."), "parse", "a.pdf").fatal


def test_an_error_of_a_library_names_the_document_and_keeps_its_trace() -> None:
    failure = PreparationFailure.of(raised(KeyError("page")), "load", "a.pdf")
    assert (failure.error, failure.message) == ("KeyError", "a.pdf: 'page'")
    assert "Traceback" in failure.detail


def test_what_a_library_makes_of_a_lack_of_memory_is_one() -> None:
    assert is_memory_error(MemoryError())
    assert is_memory_error(raised(LoadError("a.pdf is broken."), MemoryError()))
    assert not is_memory_error(raised(LoadError("a.pdf is broken."), ValueError()))


@pytest.mark.parametrize(
    ("code", "how"),
    [
        (-11, "crashed (signal 11, Segmentation fault)"),
        (-9, "was killed from outside (signal 9), perhaps by the system for want of memory"),
        (1, "ended (exit code 1)"),
    ],
)
def test_the_end_of_a_worker_is_told_by_its_code(code: int, how: str) -> None:
    assert crashed("load", "a.pdf", code, "").message == f"a.pdf could not be read: its worker process {how}."


@pytest.mark.parametrize(("stage", "error"), [("read", "LoadError"), ("load", "LoadError"), ("parse", "ParseError")])
def test_the_class_is_that_of_the_stage(stage: str, error: str) -> None:
    for failure in (out_of_time(stage, "a", 1), out_of_memory(stage, "a", 600), crashed(stage, "a", 1, "")):
        assert (failure.stage, failure.error, failure.fatal) == (stage, error, False)
