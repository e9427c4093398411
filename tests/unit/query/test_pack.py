import json
from dataclasses import replace
from typing import Any

import pytest

from config.settings import FactorSettings, LLMSettings, Settings
from pipelines.answers import Conflict
from pipelines.errors import PackError
from pipelines.query.pack import pack_json, read_pack, relevant_settings, web_address, without_secrets
from pipelines.query.replay import check_quotation
from pipelines.store.versions import Hashes
from tests.unit.query.packs import pack, sentence, source

FORTY = sentence("The crane moved „forty“ containers\n\tan hour. 🜁")


def changed(**changes: Any) -> bytes:
    """A pack's JSON with other values on top; None takes one out."""
    held = json.loads(pack_json(pack(FORTY))) | changes
    return json.dumps({name: value for name, value in held.items() if value is not None}).encode()


def test_a_pack_is_read_as_it_was_written() -> None:
    conflict = Conflict("value", "Speed: 40 [1], 50 [2]", (FORTY.evidence[0], replace(FORTY.evidence[0], n=2)))
    whole = pack(
        FORTY,
        sources=(source(1), source(2, "other")),
        told={"nearest": (source(3),), "notes": ("a note",), "conflicts": (conflict,), "truncated": True},
    )
    assert read_pack(pack_json(whole).encode(), "x.json") == whole


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (pack_json(pack(FORTY)).encode()[:-40], "not JSON"),
        (b"[]", "not an answer pack"),
        (b'{"answer": "an answer of another house"}', "not an answer pack"),
        (changed(format="else"), "not an answer pack"),
        (changed(schema_version=99), "version 99"),
        (changed(schema_version=None), "version None"),
        (changed(made_at=None), "made_at"),
        (changed(answer={"answered": "perhaps"}), "answer"),
        (pack_json(pack(FORTY)).replace('"n": 1', '"n": 2', 1).encode(), "there is no source 2"),
        (changed(schema_version=1), "version 1"),
        (changed(settings=1), "settings"),
        (changed(fingerprint="\x00"), "not an answer pack"),
        (changed(fingerprint="\ud800"), "not JSON"),
        (b" " * 20_000_001, "larger"),
    ],
)
def test_a_damaged_or_foreign_file_is_a_typed_error_that_names_it(raw: bytes, said: str) -> None:
    with pytest.raises(PackError, match=said) as raised:
        read_pack(raw, "x.json")
    assert "x.json" in raised.value.message
    assert raised.value.hint


@pytest.mark.parametrize(
    ("uri", "address"),
    [
        ("file:///home/ann/resume.pdf", ""),
        ("/home/ann/resume.pdf", ""),
        ("notion:1234", ""),
        ("https://ann:token@example.org:8443/a/b?X-Signature=abc#f", "https://example.org:8443/a/b"),
        ("https://github.com/ann/reeds", "https://github.com/ann/reeds"),
        ("http://[broken", ""),
        ("https://example.org:99999/", ""),
    ],
)
def test_of_a_documents_address_only_the_public_part_of_one_on_the_web_is_told(uri: str, address: str) -> None:
    assert web_address(uri) == address


def test_notes_lose_keys_folders_and_what_follows_a_host() -> None:
    told = "The model at https://me:pw@api.example/v1?key=sk-1 refused sk-1; see /home/ann/var/log."
    assert without_secrets(told, ["/home/ann/var", "sk-1"]) == "The model at https://api.example refused …; see …/log."


def test_the_settings_of_a_pack_hold_no_address_and_of_a_path_only_its_last_part() -> None:
    settings = Settings(
        _env_file=None,
        openai_api_key="sk-secret",
        factors=FactorSettings(rerank="/home/ann/models/reranker"),
        llm=LLMSettings(api_base="http://ann:pw@10.0.0.7/v1"),
    )
    values = relevant_settings(settings)
    assert values["factors.rerank"] == "reranker"
    assert values["retrieval.top_n"] == 5
    said = json.dumps(values)
    assert not [secret for secret in ("sk-secret", "10.0.0.7", "/home", "pw@") if secret in said]


@pytest.mark.parametrize(
    ("texts", "stored", "stands"),
    [
        ({"v1": "Moved forty."}, "v1", "now"),
        ({"v1": "Moved forty.", "v2": "It never moved forty. Or so."}, "v2", "no"),
        ({"v1": "forty.", "v2": "Today it moved forty."}, "v2", "now"),
        ({"v1": "forty.", "v2": "Today it moved fifty."}, "v2", "older"),
        ({"v1": "forty."}, None, "older"),
        ({"v2": "It moved forty."}, "v2", "now"),
        ({"v2": "It moved fifty."}, "v2", "unknown"),
        ({}, None, "unknown"),
    ],
)
def test_a_quotation_is_looked_for_in_todays_document_and_in_the_version_it_quotes(
    texts: dict[str, str], stored: str | None, stands: str
) -> None:
    start = texts.get("v1", "forty.").find("forty") if stands != "no" else 1
    quoted = replace(sentence("forty").evidence[0], content_sha="v1", start=start, end=start + 5)
    now = {"crane": Hashes("crane.md", stored, "", None)} if stored else {}
    assert check_quotation(quoted, now, lambda _, sha: texts.get(sha)) == stands
