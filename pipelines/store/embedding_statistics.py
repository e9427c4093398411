"""Whitening: the mean and the variances of a corpus's vectors, taken out of a question's vector before the search."""

import io
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from pipelines.observe import log, log_failure
from pipelines.store.originals import write_whole
from pipelines.store.read_snapshot import Mark
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


def saved_statistics(
    folder: Path, sample: Callable[[Audience, int], Vector], mark: Callable[[], Mark], audience: Audience
) -> EmbeddingStatistics | None:
    """The statistics of the nodes that this audience may see at a mark of the corpus; None if there are none.

    They are measured on a sample, and saved in the folder for other processes; a file that cannot be read or written
    means that they are measured again. They stay while the sample does, as it most often does in a large corpus.
    """
    path, now, sampled, statistics = folder / f"space-{audience}.npz", mark(), -1, None
    try:
        if path.exists():
            with path.open("rb") as file, np.load(file, allow_pickle=False) as saved:
                statistics = EmbeddingStatistics(saved["mean"], saved["directions"], saved["variances"])
                if now == Mark(*saved["mark"].tolist()):
                    return statistics
                sampled = int(saved.get("sampled", -1))
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        log_failure("vector space unreadable, measuring it again", error, path=str(path))
    vectors = sample(audience, SAMPLE)
    if not len(vectors):
        return None
    checksum, content = zlib.crc32(np.ascontiguousarray(vectors).data), io.BytesIO()
    if statistics is None or checksum != sampled:
        statistics = measure_statistics(vectors)
        log("info", "vector space measured", audience=audience, vectors=len(vectors))
    np.savez(content, mark=now, sampled=checksum, **asdict(statistics))
    try:
        write_whole(path, content.getvalue())
    except OSError as error:
        log_failure("vector space not kept", error, path=str(path))
    return statistics
