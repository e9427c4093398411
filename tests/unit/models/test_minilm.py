import json
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from data.make_model import make_files
from pipelines.errors import ConfigError
from pipelines.models import minilm
from pipelines.models.minilm import MiniLM, examine_model, load_minilm, pool_windows, windows

HERE = Path(__file__).parent
SENTENCES = (HERE / "sentences.txt").read_text(encoding="utf-8").splitlines()
REFERENCE = json.loads((HERE / "reference_vectors.json").read_text(encoding="utf-8"))


def _cosines(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return (left * right).sum(axis=1) / np.linalg.norm(left, axis=1) / np.linalg.norm(right, axis=1)


def test_fp32_vectors_are_those_of_sentence_transformers(fp32: MiniLM) -> None:
    assert _cosines(fp32.embed_texts(REFERENCE["texts"]), np.array(REFERENCE["vectors"])).min() >= 0.9999


def test_int8_vectors_are_near_those_of_fp32(int8: MiniLM, fp32: MiniLM) -> None:
    cosines = _cosines(int8.embed_texts(SENTENCES), fp32.embed_texts(SENTENCES))
    assert cosines.mean() >= 0.99
    assert cosines.min() >= 0.98


def test_vectors_come_in_the_order_of_the_texts_and_have_unit_length(int8: MiniLM) -> None:
    texts = [SENTENCES[0] * 30, "short", "", *SENTENCES[:5]]
    together = int8.embed_texts(texts)
    assert together.dtype == np.float32
    assert together.shape == (len(texts), 384)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    np.testing.assert_array_equal(together, np.concatenate([int8.embed_texts([text]) for text in texts]))


def test_no_texts_give_no_vectors(int8: MiniLM) -> None:
    assert int8.embed_texts([]).shape == (0, 384)


def test_the_pieces_of_a_text_have_their_places_and_the_mean_that_embeds_it(int8: MiniLM) -> None:
    text = "Cargo cranes lift 40 boxes."
    pieces = int8.embed_pieces([text, SENTENCES[0]])[0]
    words = [text[start:end] for start, end in zip(pieces.starts, pieces.ends, strict=True)]
    assert words == ["Cargo", "cranes", "lift", "40", "boxes", "."]
    assert pieces.vectors.shape == (6, 384)
    assert _cosines(pieces.vectors.mean(axis=0)[None], int8.embed_texts([text])).min() > 0.9


def test_a_long_text_has_each_of_its_pieces_once(int8: MiniLM) -> None:
    text = " ".join(SENTENCES[:60])
    pieces = int8.embed_pieces([text])[0]
    assert len(pieces.vectors) == len(pieces.starts) > 2 * minilm.WINDOW_PIECES
    assert (np.diff(pieces.starts) > 0).all()
    alone = int8.embed_pieces([text[: pieces.ends[99]]])[0]
    np.testing.assert_array_equal(alone.starts, pieces.starts[:100])


@pytest.mark.parametrize("text", ["", " ", "\n\t", "\x00", "\ud800", "🙂", "a" * 5000])
def test_any_text_has_a_finite_unit_vector(int8: MiniLM, text: str) -> None:
    vector = int8.embed_texts([text])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_threads_that_embed_at_once_agree_with_one_thread(int8: MiniLM) -> None:
    expected = int8.embed_texts(SENTENCES[:24])
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda row: int8.embed_texts([SENTENCES[row]])[0], range(24)))
    np.testing.assert_array_equal(np.stack(found), expected)


def test_the_last_sentence_of_a_long_text_can_be_found(int8: MiniLM) -> None:
    filler = " ".join(SENTENCES[20:75])
    with_answer = f"{filler} Zofia keeps bees on the roof of the town hall."
    assert windows(len(int8._tokenizer.encode(filler).ids))[1:], "the text must be longer than a window"
    without, holding, query = int8.embed_texts([filler, with_answer, "Who keeps bees on a roof?"])
    assert query @ holding > query @ without


def test_embed_windows_gives_one_unit_vector_a_window(int8: MiniLM) -> None:
    short, long = int8.embed_windows([SENTENCES[0], " ".join(SENTENCES)])
    np.testing.assert_allclose(short, int8.embed_texts([SENTENCES[0]]), atol=1e-6)
    assert len(long) > 5
    np.testing.assert_allclose(np.linalg.norm(long, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("count", [0, 1, 253, 254])
def test_a_text_that_fits_is_one_window(count: int) -> None:
    assert windows(count) == [(0, count)]


@pytest.mark.parametrize("count", [255, 300, 476, 477, 800, 2001, 26623])
def test_windows_cover_every_piece_fit_the_model_and_overlap(count: int) -> None:
    spans = windows(count)
    assert {place for start, end in spans for place in range(start, end)} == set(range(count))
    assert max(end - start for start, end in spans) <= 254
    assert len({end - start for start, end in spans}) == 1
    assert all(left[1] - right[0] >= 32 for left, right in pairwise(spans))


def test_windows_are_as_few_as_the_overlap_allows() -> None:
    assert len(windows(254 + (254 - 32))) == 2
    assert len(windows(254 + (254 - 32) + 1)) == 3


def test_pooling_weighs_directions_by_word_pieces() -> None:
    means = np.array([[2, 0], [0, 9]], np.float32)
    np.testing.assert_allclose(pool_windows(means, [30, 10]), np.array([3, 1]) / np.sqrt(10), rtol=1e-6)


def test_a_process_shares_one_model(int8: MiniLM) -> None:
    with ThreadPoolExecutor(4) as pool:
        loaded = set(pool.map(lambda _: load_minilm(precision="int8", device="cpu"), range(4)))
    assert loaded == {int8}


# the files


def test_the_committed_files_are_made_of_the_published_weights(published: Path) -> None:
    for name, made in make_files(published).items():
        assert (minilm.FOLDER / name).read_bytes() == made, name


def test_the_first_start_converts_nothing_and_opens_no_socket() -> None:
    script = (
        "import sys\n"
        "sys.addaudithook(lambda event, args: print(event) if event.startswith('socket.') else None)\n"
        "from pipelines.models.minilm import load_minilm\n"
        "print(load_minilm().embed_texts(['a', 'b']).shape)\n"
        "print([name for name in ('onnx', 'llama_index', 'torch', 'transformers') if name in sys.modules])"
    )
    before = {path: path.stat().st_mtime_ns for path in minilm.FOLDER.iterdir()}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("(2, 384)\n[]\n", "")
    assert {path: path.stat().st_mtime_ns for path in minilm.FOLDER.iterdir()} == before


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the packaged files, which is the one that is opened."""
    folder = tmp_path / "weights"
    shutil.copytree(minilm.FOLDER, folder)
    monkeypatch.setattr(minilm, "FOLDER", folder)
    monkeypatch.setattr(minilm, "_LOADED", {})
    return folder


def damage(path: Path, how: str) -> None:
    if how == "missing":
        path.unlink()
    else:
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] if how == "truncated" else data[:-1] + bytes([data[-1] ^ 1]))


@pytest.mark.parametrize("name", [minilm.TOKENIZER, minilm.INT8_MODEL, minilm.WORD_EMBEDDINGS])
@pytest.mark.parametrize("how", ["missing", "truncated", "altered"])
def test_a_damaged_file_is_named_with_what_to_do(copied: Path, name: str, how: str) -> None:
    damage(copied / name, how)
    with pytest.raises(ConfigError) as caught:
        load_minilm(device="cpu")
    assert str(copied / name) in caught.value.message
    assert "Install Footnote again" in caught.value.hint
    assert examine_model() == (False, caught.value.message, caught.value.hint)


def test_a_damaged_file_that_is_put_back_is_opened_without_a_restart(copied: Path) -> None:
    damage(copied / minilm.TOKENIZER, "truncated")
    with pytest.raises(ConfigError):
        load_minilm(device="cpu")
    shutil.copyfile(Path(minilm.__file__).parent / "weights" / minilm.TOKENIZER, copied / minilm.TOKENIZER)
    assert load_minilm(device="cpu").embed_texts(["a"]).shape == (1, 384)


def test_intact_model_files_pass_the_check() -> None:
    assert examine_model() == (True, f"all-MiniLM-L6-v2 in {minilm.FOLDER}", "")


# fp32 and CUDA


def test_a_missing_gpu_is_a_warning_and_the_cpu_is_used(int8: MiniLM, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", logger="footnote"):
        model = load_minilm(device="cuda")
    assert "CUDA is not available" in caplog.text
    np.testing.assert_array_equal(model.embed_texts(["a"]), int8.embed_texts(["a"]))


@pytest.mark.parametrize("model_path", ["", "nowhere"])
def test_fp32_needs_a_folder_with_the_published_weights(tmp_path: Path, model_path: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load_minilm(precision="fp32", device="cpu", model_path=model_path and str(tmp_path / model_path))
    assert "FOOTNOTE_EMBEDDING__MODEL_PATH" in caught.value.hint


def test_other_weights_are_refused(tmp_path: Path) -> None:
    shutil.copyfile(minilm.FOLDER / minilm.TOKENIZER, tmp_path / minilm.TOKENIZER)
    (tmp_path / minilm.WEIGHTS).write_bytes(bytes(minilm.SOURCE_FILES[minilm.WEIGHTS].size))
    with pytest.raises(ConfigError, match="SHA-256"):
        load_minilm(precision="fp32", model_path=str(tmp_path), device="cpu")
    assert examine_model(str(tmp_path))[0] is False
