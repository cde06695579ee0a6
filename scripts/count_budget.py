#!/usr/bin/env python3
"""Counts what models take, with nothing of onnxsmith but the conventions of docs/budgets.md.

    .venv/bin/python scripts/count_budget.py CASES [--max-flops N] [--max-memory N] [--max-total N]
                                                   [--flops A..B] [--memory A..B]

CASES is a folder of cases or models. Types come from ONNX's shape inference, functions are inlined by ONNX's inliner. Models of which
values decide what is computed or how large it is (loops, branches, sizes that are names, parameters that are computed) are skipped, and
it is said how many: case.json has what they lead to. So are those with values that are no tensors of numbers, or of which ONNX's
inference does not tell the type, and with operators that are written out in others where they are read (LSTM, Attention).
Exit code 1 where a model exceeds a limit, or is counted otherwise in its case.json.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

import numpy as np
import onnx
from onnx import AttributeProto, TensorProto, helper, inliner, numpy_helper, shape_inference

MOVES = set(
    "BitCast Compress Concat DepthToSpace SpaceToDepth Dropout Expand EyeLike Flatten Gather GatherElements GatherND NonZero OneHot Pad Reshape ReverseSequence Shape "
    "Size Slice Split Squeeze Unsqueeze Tile Transpose Trilu Identity Constant".split()
)
# Operations for each element of the first output.
PER_OUTPUT = {
    "BatchNormalization": 2, "Clip": 2, "Shrink": 3, "LpNormalization": 3, "RMSNormalization": 4, "Softmax": 5,
    "LogSoftmax": 5, "Hardmax": 5, "MeanVarianceNormalization": 6, "LayerNormalization": 7, "GroupNormalization": 7,
    "InstanceNormalization": 7, "LeakyRelu": 4, "Elu": 4, "Selu": 4, "HardSigmoid": 4, "ThresholdedRelu": 4, "Swish": 4,
    "Celu": 4, "QuantizeLinear": 3, "DequantizeLinear": 2, "DynamicQuantizeLinear": 5,
}  # fmt: skip
# One for each element of the first operand.
PER_INPUT = {"ArgMax", "ArgMin", "GlobalAveragePool", "GlobalMaxPool"}
# Operands that are parameters, besides the second one of each reduction.
PARAMETERS = {
    **dict.fromkeys("Reshape Expand Tile Squeeze Unsqueeze Split TopK OneHot CumSum CumProd Trilu".split(), [1]),
    "Slice": [1, 2, 3, 4], "Pad": [1, 3],
}  # fmt: skip
# Operators that are written out in others, which are counted then.
WRITTEN_OUT = set(
    "AffineGrid Attention Bernoulli BlackmanWindow CausalConvWithState CenterCropPad Col2Im ConvInteger DFT DeformConv GRU HammingWindow HannWindow "
    "LSTM LinearAttention MatMulInteger MaxRoiPool MaxUnpool MelWeightMatrix NegativeLogLikelihoodLoss NonMaxSuppression QLinearConv QLinearMatMul "
    "RNN RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range Resize RoiAlign RotaryEmbedding STFT SoftmaxCrossEntropyLoss SwiGLU "
    "TensorScatter Unique".split()
)
# Elements of dtypes that are packed, several to a byte.
NARROW_BITS = {
    getattr(TensorProto, name): bits
    for name, bits in {"INT4": 4, "UINT4": 4, "FLOAT4E2M1": 4, "INT2": 2, "UINT2": 2}.items()
    if hasattr(TensorProto, name)
}
# One for each element of the output and each operand.
PER_OPERAND = {"Max", "Min", "Sum", "Mean"}


def attributes(node):
    return {a.name: helper.get_attribute_value(a) for a in node.attribute}


def einsum_sizes(equation, operands, result):
    """The size of each axis: those of letters, and those of the rest, which the result has in any case."""
    sizes, letters = {}, 0
    for labels, shape in zip(equation.replace(" ", "").split("->")[0].split(","), operands):
        labels = labels.replace("...", "." * (len(shape) - len(labels.replace("...", ""))))
        sizes.update({label: size for label, size in zip(labels, shape) if label != "."})
        letters = max(letters, labels.count("."))
    at = equation.replace(" ", "").partition("->")[2].find("...")
    at = max(at, 0)
    return [*sizes.values(), *result[at : at + letters]]


def flops(node, shape, constants):
    x, y = [shape.get(name) for name in node.input], [shape[name] for name in node.output if name]
    count, op, a = math.prod(y[0]), node.op_type, attributes(node)
    if op in MOVES:
        return 0
    if op in PER_OUTPUT:
        return PER_OUTPUT[op] * count
    if op in PER_INPUT or op.startswith("Reduce"):
        return math.prod(x[0])
    if op == "GlobalLpPool":
        return 2 * math.prod(x[0])
    if op == "Det":
        rows = x[0][-1]
        return (2 * rows**3 // 3 + rows**2 // 2 + rows) * count
    if op == "GridSample":
        mode = a.get("mode", b"linear").decode().removeprefix("bi")
        return ({"nearest": 1, "linear": 4, "cubic": 32}[mode] << (len(x[0]) - 2)) * count
    if op in ("ScatterElements", "ScatterND"):
        return 0 if a.get("reduction", b"none") == b"none" else count
    if op == "ConvTranspose":
        return 2 * math.prod(x[1][1:]) * math.prod(x[0])
    if op == "Einsum":
        return math.prod(einsum_sizes(a["equation"].decode(), x, y[0])) * len(node.input)
    if op in PER_OPERAND:
        return count * len(node.input)
    if op == "MatMul":
        return 2 * x[0][-1] * count
    if op == "Gemm":
        return (2 * x[0][0 if a.get("transA") else 1] + 3) * count
    if op == "Conv":
        return (2 * math.prod(x[1][1:]) + (len(node.input) > 2 and bool(node.input[2]))) * count
    if op in ("AveragePool", "MaxPool", "LpPool"):
        cells = math.prod(a["kernel_shape"])
        return {"AveragePool": cells + 1, "MaxPool": cells, "LpPool": 2 * cells + 1}[op] * count
    if op == "LRN":
        return (2 * a["size"] + 4) * count
    if op == "Gelu":
        return (9 if a.get("approximate") == b"tanh" else 5) * count
    if op == "TopK":
        return math.prod(x[0]) * max(int(constants[node.input[1]].item()), 1)
    return sum(math.prod(shape) for shape in y)


def is_counted(value_type):
    """Whether it is a tensor of numbers of which the dtype is known."""
    return value_type.tensor_type.elem_type not in (TensorProto.UNDEFINED, TensorProto.STRING)


def size(value_type):
    dims = [d.dim_value for d in value_type.shape.dim]
    bits = NARROW_BITS.get(value_type.elem_type) or 8 * helper.tensor_dtype_to_np_dtype(value_type.elem_type).itemsize
    return -(-math.prod(dims) * bits // 8), dims


def parameters(node):
    """The operands of which the values decide how large a result is, or how it lies."""
    if node.op_type in PARAMETERS or node.op_type.startswith("Reduce"):
        return [node.input[i] for i in PARAMETERS.get(node.op_type, [1]) if i < len(node.input) and node.input[i]]
    return []


def is_program(graph, constants):
    """Whether what is computed depends on values: on which side of a branch, how often, or how large."""
    holds_bodies = any(a.type in (AttributeProto.GRAPH, AttributeProto.GRAPHS) for n in graph.node for a in n.attribute)
    open_sizes = any(not d.HasField("dim_value") for v in graph.input for d in v.type.tensor_type.shape.dim)
    return holds_bodies or open_sizes or any(name not in constants for n in graph.node for name in parameters(n))


def count(path):
    """Operations, peak bytes, total bytes; nothing of a program."""
    model = inliner.inline_local_functions(onnx.load(path))
    # Not strict: of LpPool's windows that begin in the padding at the end (ceil_mode), ONNX's inference leaves out one at
    # most. What the model declares stands.
    graph = shape_inference.infer_shapes(model, data_prop=True).graph
    ports = [*graph.input, *graph.value_info, *graph.output]
    operators = {n.op_type for n in graph.node}
    if not all(is_counted(v.type) for v in ports) or operators & WRITTEN_OUT:
        return None
    values = {v.name: size(v.type.tensor_type) for v in ports}
    constants = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    for t in graph.initializer:
        values[t.name] = size(helper.make_tensor_type_proto(t.data_type, t.dims).tensor_type)
    folded = [n for n in graph.node if n.op_type == "Constant"]
    for n in folded:
        (value,) = attributes(n).values()
        constants[n.output[0]] = numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.array(value)
    if is_program(graph, constants):
        return None
    nodes = [n for n in graph.node if n.op_type != "Constant"]
    if any(name and name not in values for n in nodes for name in n.output):
        return None
    held = {v.name for v in graph.input} | set(constants)
    last = {name: i for i, n in enumerate(nodes) for name in [*n.output, *n.input] if name}
    last.update({v.name: len(nodes) for v in graph.output})
    shape = {name: dims for name, (_, dims) in values.items()}
    live = peak = sum(values[name][0] for name in held)
    operations = 0
    for i, node in enumerate(nodes):
        operations += flops(node, shape, constants)
        live += sum(values[name][0] for name in node.output if name)
        peak = max(peak, live)
        live -= sum(values[name][0] for name in {*node.input, *node.output} - held - {""} if last[name] == i)
    used = held | {name for n in nodes for name in n.output if name}
    return operations, peak, sum(values[name][0] for name in used)


def number(text):
    unit = {"K": 1e3, "M": 1e6, "G": 1e9}.get(text[-1], 1)
    return float(text.rstrip("KMG")) * unit


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", type=pathlib.Path)
    for flag in ("--max-flops", "--max-memory", "--max-total"):
        parser.add_argument(flag, type=number, default=math.inf)
    for flag in ("--flops", "--memory"):
        parser.add_argument(flag)
    args = parser.parse_args()
    models = sorted(args.cases.rglob("*.onnx"))
    taken, programs, wrong, over = [], 0, 0, 0
    for path in models:
        found = count(path)
        if found is None:
            programs += 1
            continue
        taken.append(found)
        about = path.parent / "case.json"
        told = json.loads(about.read_text()).get("footprint") if about.exists() else None
        if told and tuple(told[k] for k in ("flops", "peak_bytes", "total_bytes")) != found:
            wrong += 1
            print(f"{path}: {found} here, {told} in case.json")
        if any(f > most for f, most in zip(found, (args.max_flops, args.max_memory, args.max_total))):
            over += 1
            print(f"{path}: {found} is over the limit")
    print(f"{len(taken)} models, {over} over a limit, {wrong} told otherwise by case.json; {programs} skipped")
    if not taken:
        sys.exit(bool(models) and "none of the models can be counted")
    for i, name in enumerate(("FLOPs", "peak bytes", "total bytes")):
        amounts = [t[i] for t in taken]
        print(f"{name}: {min(amounts)} to {max(amounts)}, median {statistics.median(amounts):.0f}")
    for i, span in ((0, args.flops), (1, args.memory)):
        if span:
            least, most = map(number, span.split(".."))
            inside = [t[i] for t in taken if least <= t[i] <= most]
            beyond = sum(t[i] > most for t in taken)
            above = sum(a > math.sqrt(least * most) for a in inside)
            print(
                f"{span}: {beyond} beyond, {100 * len(inside) / len(taken):.1f} % inside, "
                f"{100 * above / max(len(inside), 1):.1f} % of these above {math.sqrt(least * most):.4g}"
            )
            over += beyond
    sys.exit(bool(over or wrong))


if __name__ == "__main__":
    main()
