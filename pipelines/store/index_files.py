"""The files of a saved index: a folder of arrays and one description, with a checksum each, at a mark of the corpus."""

import json
import os
import tempfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipelines.store.read_snapshot import Mark

Arrays = Mapping[str, NDArray[Any]]
UNFINISHED = ".new-"  # begins the name of a folder that is being written
_CHECKSUMS = "checksums.json"
_FEW, _MANY, _SHARE = 200, 2000, 0.1  # nodes that may have changed since an index was saved


def save_index(folder: Path, mark: Mark, arrays: Arrays, content: Mapping[str, Any]) -> None:
    """Write an index of all nodes at a mark to a folder, whole or not at all.

    A folder that another process wrote meanwhile stays, as it is the same. Of the arrays, by name, `a/b` is the file
    `b.npy` in the folder `a`; `content` is what else the index consists of, as JSON.

    Raises:
        OSError: If it cannot be written.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=UNFINISHED, ignore_cleanup_errors=True) as scratch:
        target = Path(scratch) / "index"
        target.mkdir()
        for name, array in arrays.items():
            path = target / f"{name}.npy"
            path.parent.mkdir(exist_ok=True)
            np.save(path, array)
        (target / "ids.json").write_text(json.dumps({"mark": mark, **content}))
        (target / _CHECKSUMS).write_text(json.dumps(checksums(target)))
        try:
            os.replace(target, folder)
        except OSError:
            if not folder.exists():
                raise


def load_index(folder: Path) -> tuple[Mark, Arrays, dict[str, Any]]:
    """The mark, the arrays, mapped into memory, and the rest of a saved index.

    Reading every file for its checksum takes about 1 ms per MB, as long as the rest: 30 ms for 20,000 nodes.

    Raises:
        ValueError: If a file is missing or unknown, or does not have its checksum.
    """
    if json.loads((folder / _CHECKSUMS).read_text()) != checksums(folder):
        raise ValueError(f"The files in {folder} differ from those that were saved.")
    content = json.loads((folder / "ids.json").read_text())
    arrays = {
        path.relative_to(folder).with_suffix("").as_posix(): np.load(path, mmap_mode="r").view(np.ndarray)
        for path in folder.rglob("*.npy")
    }  # a memmap's own indexing is slow
    return Mark(*content.pop("mark")), arrays, content


def checksums(folder: Path) -> dict[str, int]:
    """The CRC-32 of each file of a saved index, by its path in the folder."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.name != _CHECKSUMS)
    return {path.relative_to(folder).as_posix(): zlib.crc32(np.memmap(path, np.uint8, "r").data) for path in files}


def is_far(changed: int, saved: int) -> bool:
    """True if so many nodes changed since an index was saved that a new one is due: 200, a tenth, at most 2,000."""
    return changed > max(_FEW, min(_MANY, int(saved * _SHARE)))
