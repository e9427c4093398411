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

from data.make_model import LAYERS, Int8Graph, read_weights  # noqa: E402
from pipelines.models import minilm  # noqa: E402


class ReaderGraph(Int8Graph):
    """`answers` (rows, 1, 1): the log-odds that a text answers, of the first piece's vector."""

    outputs: Mapping[str, Sequence[str | int]] = {"answers": ("rows", 1, 1)}

    def after_attention(self, attended: str, hidden: str, prefix: str) -> str:
        if prefix == f"encoder.layer.{LAYERS - 1}.":  # of the last layer, the first piece's vector alone is read
            place = self.constant("first", np.array([0], np.int64))
            attended, hidden = (
                self.add("Gather", [each, place], f"{each}.first", axis=1) for each in (attended, hidden)
            )
        return super().after_attention(attended, hidden, prefix)

    def finish(self, hidden: str) -> None:
        weight = self.constant("head.weight", self.weights.arrays["head.weight"].T)
        self.add("Add", [self.add("MatMul", [hidden, weight], "head"), self.weight("head.bias")], "answers")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weights", type=Path)
    data = ReaderGraph(read_weights(parser.parse_args().weights)).serialised()
    (minilm.FOLDER / minilm.READER_MODEL).write_bytes(data)
    print(f"    READER_MODEL: ModelFile({len(data)}, {hashlib.sha256(data).hexdigest()!r}),")
    return 0


if __name__ == "__main__":
    sys.exit(main())
