import threading
import time

import pytest

from pipelines.errors import ModelError, ServiceUnavailable
from pipelines.models.consult import consult
from tests.unit.query.voice import Voice

ASKED = [("system", "Be brief."), ("user", "Question: why?")]


def test_a_reply_is_what_the_model_says() -> None:
    assert consult(Voice(replies=["one\ntwo"]), ASKED, seconds=5, limit=100) == "one\ntwo"


def test_a_model_that_takes_too_long_is_given_up() -> None:
    began = time.perf_counter()
    with pytest.raises(ServiceUnavailable, match=r"took more than 0\.1 s"):
        consult(Voice(replies=["late"], wait=10.0), ASKED, seconds=0.1, limit=100)
    assert time.perf_counter() - began < 5


def test_an_abandoned_model_call_does_not_keep_the_process_alive() -> None:
    with pytest.raises(ServiceUnavailable):
        consult(Voice(replies=["late"], wait=0.4), ASKED, seconds=0.01, limit=100)
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "consult")


def test_a_reply_is_cut_at_the_limit() -> None:
    assert consult(Voice(replies=["word\n" * 1000]), ASKED, seconds=5, limit=12) == "word\nword\nwo"


def test_whatever_a_model_raises_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="boom"):
        consult(Voice(replies=["!boom"]), ASKED, seconds=5, limit=100)
