"""Make pipelines/models/weights/reader-int8.onnx from fitted weights; needs the package `onnx`.

    python data/make_reader.py model.safetensors

The file is written by `python data/fit_reader.py`: the tensors of all-MiniLM-L6-v2, fitted but for the word
embeddings, and `head.weight`, `head.bias`.
"""

import argparse
import hashlib
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from data.make_model import EPSILON, Int8Graph, read_weights  # noqa: E402
from pipelines.models import minilm  # noqa: E402


class ReaderGraph(Int8Graph):
    """`answers` (rows, 1, 1): the log-odds that a text answers, of the first piece's vector."""

    outputs: Mapping[str, Sequence[str | int]] = {"answers": ("rows", 1, 1)}

    def residual(self, value: str, skip: str, prefix: str) -> str:
        # On a CPU, SkipLayerNormalization takes three times as long as the three operators that it joins.
        beside = self.add("Add", [value, skip], f"{prefix}sum")
        norm = self.norm(f"{prefix}LayerNorm.")
        summed = self.add("Add", [beside, self.weight(f"{prefix}dense.bias")], f"{prefix}biased")
        return self.add("LayerNormalization", [summed, *norm], f"{prefix}out", axis=-1, epsilon=EPSILON)

    def finish(self, hidden: str) -> None:
        first = self.add("Gather", [hidden, self.constant("first", np.array(0, np.int64))], "first.vector", axis=1)
        weight = self.constant("head.weight", self.weights.arrays["head.weight"].T)
        self.add("Add", [self.add("MatMul", [first, weight], "head"), self.weight("head.bias")], "answers")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    data = ReaderGraph(read_weights(parser.parse_args().weights)).serialised()
    (minilm.FOLDER / minilm.READER_MODEL).write_bytes(data)
    print(f"    READER_MODEL: ModelFile({len(data)}, {hashlib.sha256(data).hexdigest()!r}),")
    return 0


if __name__ == "__main__":
    sys.exit(main())
