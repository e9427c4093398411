"""The computation of all-MiniLM-L6-v2 as an ONNX model, made from its weights."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

LAYERS, HEADS, HIDDEN = 6, 12, 384

Precision = Literal["int8", "fp32"]
Weights = Mapping[str, NDArray[np.float32]]

_MICROSOFT = "com.microsoft"
_EPSILON = 1e-12
# Two products with an unsigned byte fit 16 bits: x86 processors without VNNI cut off what does not.
_LARGEST_WEIGHT = 64


def build_model(weights: Weights, precision: Precision) -> bytes:
    """A serialised ONNX model: `input_ids` (rows, pieces), without padding, to `mean` (rows, 384), not normalised.

    It is written in ONNX Runtime's fused operators. int8 quantises the weights per output channel and the activations
    per run, and runs on the CPU only. The activations' scale spans every row of a run, so that a text's int8 vector
    depends on the texts beside it: give one row at a time where vectors must repeat.
    """
    graph = _Graph(weights, precision)
    hidden = graph.embeddings()
    for layer in range(LAYERS):
        hidden = graph.layer(hidden, f"encoder.layer.{layer}.")
    graph.add("ReduceMean", [hidden, graph.constant("axes", np.array([1], np.int64))], "mean", keepdims=0)
    serialised: bytes = graph.model.SerializeToString()
    return serialised


class _Graph:
    """A model in the making; every method returns the name of its output."""

    def __init__(self, weights: Weights, precision: Precision) -> None:
        ids = helper.make_tensor_value_info("input_ids", TensorProto.INT32, ["rows", "pieces"])
        mean = helper.make_tensor_value_info("mean", TensorProto.FLOAT, ["rows", HIDDEN])
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(_MICROSOFT, 1)]
        empty = helper.make_graph([], "all-MiniLM-L6-v2", [ids], [mean])
        self.model = helper.make_model(empty, opset_imports=opsets, ir_version=8)
        self._weights = weights
        self._quantised = precision == "int8"

    def constant(self, name: str, array: NDArray[Any]) -> str:
        self.model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def weight(self, name: str) -> str:
        return self.constant(name, self._weights[name])

    def add(self, operator: str, inputs: Sequence[str], *outputs: str, domain: str = "", **attributes: Any) -> str:
        node = helper.make_node(operator, inputs, outputs, outputs[0], domain=domain, **attributes)
        self.model.graph.node.append(node)
        return outputs[0]

    def embeddings(self) -> str:
        prefix = "embeddings."
        segment = self._weights[f"{prefix}token_type_embeddings.weight"][0]
        positions = self._weights[f"{prefix}position_embeddings.weight"] + segment
        inputs = [
            *("input_ids", "", self.weight(f"{prefix}word_embeddings.weight"), self.constant("positions", positions)),
            *("", self.weight(f"{prefix}LayerNorm.weight"), self.weight(f"{prefix}LayerNorm.bias")),
        ]
        outputs = ("embedded", "unused_mask")
        return self.add("EmbedLayerNormalization", inputs, *outputs, domain=_MICROSOFT, epsilon=_EPSILON)

    def layer(self, hidden: str, prefix: str) -> str:
        attended = self.attention(hidden, f"{prefix}attention.self.")
        attended = self.matmul(attended, f"{prefix}attention.output.dense")
        attended = self.residual(attended, hidden, f"{prefix}attention.output.")
        inner = self.matmul(attended, f"{prefix}intermediate.dense")
        bias = self.weight(f"{prefix}intermediate.dense.bias")
        inner = self.add("BiasGelu", [inner, bias], f"{prefix}gelu", domain=_MICROSOFT)
        inner = self.matmul(inner, f"{prefix}output.dense")
        return self.residual(inner, attended, f"{prefix}output.")

    def attention(self, hidden: str, prefix: str) -> str:
        parts = ("query", "key", "value")
        matrix = np.concatenate([self._weights[f"{prefix}{part}.weight"].T for part in parts], axis=1)
        bias = self.constant(f"{prefix}bias", np.concatenate([self._weights[f"{prefix}{part}.bias"] for part in parts]))
        if not self._quantised:
            inputs = [hidden, self.constant(f"{prefix}weight", matrix), bias]
            return self.add("Attention", inputs, f"{prefix}out", domain=_MICROSOFT, num_heads=HEADS)
        outputs = (f"{prefix}input", f"{prefix}input.scale", f"{prefix}input.zero")
        quantised = self.add("DynamicQuantizeLinear", [hidden], *outputs)
        weight, scale, zero = self.quantised(f"{prefix}weight", matrix)
        inputs = [quantised, weight, bias, outputs[1], scale, "", outputs[2], zero]
        return self.add("QAttention", inputs, f"{prefix}out", domain=_MICROSOFT, num_heads=HEADS)

    def matmul(self, value: str, prefix: str) -> str:
        matrix = self._weights[f"{prefix}.weight"].T
        if not self._quantised:
            return self.add("MatMul", [value, self.constant(f"{prefix}.weight", matrix)], f"{prefix}.out")
        inputs = [value, *self.quantised(f"{prefix}.weight", matrix)]
        return self.add("DynamicQuantizeMatMul", inputs, f"{prefix}.out", domain=_MICROSOFT)

    def residual(self, value: str, skip: str, prefix: str) -> str:
        norm = [self.weight(f"{prefix}LayerNorm.weight"), self.weight(f"{prefix}LayerNorm.bias")]
        inputs = [value, skip, *norm, self.weight(f"{prefix}dense.bias")]
        return self.add("SkipLayerNormalization", inputs, f"{prefix}out", domain=_MICROSOFT, epsilon=_EPSILON)

    def quantised(self, name: str, matrix: NDArray[np.float32]) -> tuple[str, str, str]:
        scale = np.abs(matrix).max(axis=0) / np.float32(_LARGEST_WEIGHT)
        rounded = np.rint(matrix / scale).astype(np.int8)
        zero = np.zeros(scale.shape, np.int8)
        return self.constant(name, rounded), self.constant(f"{name}.scale", scale), self.constant(f"{name}.zero", zero)
