"""Whitening: the mean and the variances of a corpus's vectors, taken out of a question's vector before the search."""

import os
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from pipelines.observe import log, log_failure
from pipelines.types import Audience

Vector = NDArray[np.float32]

SAMPLE = 2000
_PRIOR = 200  # windows that weigh as much as the assumption of equal variances
_FLOOR = 0.1  # of the mean variance; a direction with less is noise


@dataclass(frozen=True, slots=True)
class EmbeddingStatistics:
    """The mean of a corpus's unit vectors, and the directions in which they vary.

    Attributes:
        mean: (d,).
        directions: (d, d), one direction a column.
        variances: (d,), of each direction as a share of their mean.
    """

    mean: Vector
    directions: Vector
    variances: Vector

    def whiten(self, question: Sequence[float], power: float) -> Vector:
        """The unit vector to search for instead of a question's: w = V (s + 0.1)^-power V' (q - mean).

        Ranking unit vectors x by x·w ranks them by their inner product with the question after both were centred and
        each direction was divided by a power of its variance, so that what all documents share counts less. The power 0
        leaves the question unchanged.

        Source: Mu, Viswanath, ICLR 2018, arXiv:1702.01417; Su, Cao, Liu, Ou, 2021, arXiv:2103.15316.
        """
        asked = np.asarray(question, dtype=np.float32)
        if power == 0:
            return asked
        centred = asked - self.mean
        scaled = self.directions @ ((self.variances + _FLOOR) ** -power * (self.directions.T @ centred))
        length = float(np.linalg.norm(scaled))
        return (scaled / length).astype(np.float32) if length > 0 else asked

    def background(self, question: Sequence[float]) -> tuple[float, float]:
        """Mean and standard deviation of the cosine similarity of the corpus's vectors to a question's."""
        asked = np.asarray(question, dtype=np.float32)
        asked = asked / (float(np.linalg.norm(asked)) or 1.0)
        along = (self.directions.T @ asked) ** 2
        each = max(1.0 - float(self.mean @ self.mean), 0.0) / len(self.mean)  # all vectors have length 1
        return float(self.mean @ asked), float(np.sqrt(each * self.variances @ along))


def measure_statistics(vectors: Vector) -> EmbeddingStatistics:
    """The statistics of a sample of vectors (n, d), shrunk for a small sample.

    The mean and the covariance are shrunk towards 0 and towards a multiple of the identity by n / (n + 200).

    Source: Ledoit, Wolf, JMVA 2004, doi:10.1016/S0047-259X(03)00096-4, with a fixed weight.
    """
    trust = len(vectors) / (len(vectors) + _PRIOR)
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    covariance = centred.T @ centred / max(len(vectors), 1)
    even = np.trace(covariance) / len(covariance) or 1.0
    variances, directions = np.linalg.eigh(trust * covariance / even + (1 - trust) * np.eye(len(covariance)))
    return EmbeddingStatistics(
        (trust * mean).astype(np.float32), directions.astype(np.float32), np.maximum(variances, 0).astype(np.float32)
    )


class StatisticsCache:
    """The statistics of each audience's nodes at the corpus version, saved on disk between processes."""

    def __init__(self, folder: Path, sample: Callable[[Audience, int], Vector], version: Callable[[], int]) -> None:
        self._folder = folder
        self._sample = sample
        self._version = version
        self._cached: dict[Audience, tuple[int, EmbeddingStatistics | None]] = {}
        self._lock = threading.Lock()

    def current(self, audience: Audience) -> EmbeddingStatistics | None:
        """The statistics of the nodes that this audience may see; None if there are none."""
        version = self._version()
        if (cached := self._cached.get(audience)) is not None and cached[0] == version:
            return cached[1]
        with self._lock:
            cached = self._cached.get(audience)
            if cached is None or cached[0] != version:
                cached = self._cached[audience] = (version, self._at(version, audience))
            return cached[1]

    def _at(self, version: int, audience: Audience) -> EmbeddingStatistics | None:
        path = self._folder / f"space-{audience}.npz"
        if (saved := _load(path, version)) is not None:
            return saved
        vectors = self._sample(audience, SAMPLE)
        if not len(vectors):
            return None
        statistics = measure_statistics(vectors)
        _save(path, version, statistics)
        log("info", "vector space measured", audience=audience, vectors=len(vectors))
        return statistics


def carry_over(folder: Path, audience: Audience, version: int) -> None:
    """Store the saved statistics again as those of a later corpus version, at which the vectors are the same."""
    path = folder / f"space-{audience}.npz"
    if (statistics := _load(path)) is not None:
        _save(path, version, statistics)


def _load(path: Path, version: int | None = None) -> EmbeddingStatistics | None:
    """The saved statistics; None if there are none of this version."""
    if not path.exists():
        return None
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
            if version not in (None, int(saved["version"])):
                return None
            return EmbeddingStatistics(saved["mean"], saved["directions"], saved["variances"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        log_failure("vector space unreadable, measuring it again", error, path=str(path))
        return None


def _save(path: Path, version: int, statistics: EmbeddingStatistics) -> None:
    """Write the file whole or not at all; if it cannot be written, the next start measures again."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".new-", suffix=".npz", delete=False) as file:
            np.savez(file, version=version, **asdict(statistics))
        os.replace(file.name, path)
    except OSError as error:
        log_failure("vector space not kept", error, path=str(path))
