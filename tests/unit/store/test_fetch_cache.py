"""The cache of what was fetched from remote sources."""

import hashlib
import json
import stat
from pathlib import Path

import pytest

from pipelines.errors import StoreError
from pipelines.store.fetch_cache import (
    Fetched,
    forget_fetched,
    forget_listing,
    recall_fetched,
    recall_listings,
    remember_fetched,
    remember_listing,
)
from pipelines.store.originals import keep_original, original_path

URI = "https://example.org/a?b=c"
BODY = b"body"


@pytest.fixture
def kept(tmp_path: Path) -> Fetched:
    fetched = Fetched(URI, "v1", hashlib.sha256(BODY).hexdigest(), len(BODY), {"etag": '"x"', "below": ["1", "2"]})
    keep_original(tmp_path, fetched.sha, BODY, name="a")
    remember_fetched(tmp_path, fetched)
    return fetched


def test_what_was_fetched_is_recalled_as_it_was(tmp_path: Path, kept: Fetched) -> None:
    assert recall_fetched(tmp_path, URI) == kept


def test_a_later_fetch_takes_the_place_of_an_earlier(tmp_path: Path, kept: Fetched) -> None:
    remember_fetched(tmp_path, Fetched(URI, "v2", kept.sha, kept.size))
    assert recall_fetched(tmp_path, URI) == Fetched(URI, "v2", kept.sha, kept.size)


def test_a_cached_uri_without_its_bytes_is_fetched_again(tmp_path: Path, kept: Fetched) -> None:
    original_path(tmp_path, kept.sha).unlink()
    assert recall_fetched(tmp_path, URI) is None


def test_what_is_forgotten_is_fetched_again(tmp_path: Path, kept: Fetched) -> None:
    forget_fetched(tmp_path, URI)
    forget_fetched(tmp_path, URI)
    assert recall_fetched(tmp_path, URI) is None


@pytest.mark.parametrize("note", ["", "{", "[]", "null", '{"uri": "https://example.org/a?b=c"}', "\x00"])
def test_a_damaged_cache_file_is_ignored(tmp_path: Path, kept: Fetched, note: str) -> None:
    (place,) = (tmp_path / "fetched").rglob("*.json")
    place.write_text(note)
    assert recall_fetched(tmp_path, URI) is None


def test_a_cache_file_of_another_address_is_ignored(tmp_path: Path, kept: Fetched) -> None:
    (place,) = (tmp_path / "fetched").rglob("*.json")
    place.write_text(json.dumps({**json.loads(place.read_text()), "uri": "https://example.org/other"}))
    assert recall_fetched(tmp_path, URI) is None


def test_what_a_source_lists_is_known_in_its_collection_until_it_is_forgotten(tmp_path: Path) -> None:
    remember_listing(tmp_path, "default", "notion:1", ["b", "a"])
    remember_listing(tmp_path, "default", "github:ann", ["c"])
    remember_listing(tmp_path, "other", "notion:1", ["d"])
    assert recall_listings(tmp_path, "default") == {"notion:1": {"a", "b"}, "github:ann": {"c"}}
    remember_listing(tmp_path, "default", "https://example.org/A", ["e"])
    forget_listing(tmp_path, "notion:1")
    forget_listing(tmp_path, "https://example.org/a")
    assert recall_listings(tmp_path, "default") == {"github:ann": {"c"}, "https://example.org/A": {"e"}}
    forget_listing(tmp_path, "https://example.org/A")
    assert recall_listings(tmp_path, "default") == {"github:ann": {"c"}}
    assert recall_listings(tmp_path, "other") == {}
    forget_listing(tmp_path, "github:Ann")
    assert recall_listings(tmp_path, "default") == {}


def test_a_damaged_listing_is_ignored(tmp_path: Path) -> None:
    remember_listing(tmp_path, "default", "notion:1", ["a"])
    (note,) = (tmp_path / "fetched" / "listings").rglob("*.json")
    note.write_text("[")
    assert recall_listings(tmp_path, "default") == {}


def test_a_cache_file_is_readable_by_its_owner_only(tmp_path: Path, kept: Fetched) -> None:
    (place,) = (tmp_path / "fetched").rglob("*.json")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600


def test_a_cache_file_that_cannot_be_written_is_an_error_with_the_uri(tmp_path: Path) -> None:
    (tmp_path / "fetched").write_text("in the way")
    with pytest.raises(StoreError, match=r"example\.org"):
        remember_fetched(tmp_path, Fetched(URI, "v1", "0" * 64, 4))
