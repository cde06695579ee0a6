#!/usr/bin/env python3
"""Prints what ONNX's shape inference says of few axes and of none, and of sizes of 0: ops/src/testing/lower_ends.txt.

Each line is a use of an operator as the text form writes it, on a first operand of rank 0, 1 or 2, and what ONNX's checker, with
`full_check`, gives it: the shapes of its outputs, `?` where one is open, or `refused`.
"""

import sys

import onnx
from onnx import TensorProto, helper

OPSET = 28
SHAPES = [[], [0], [2], [0, 2], [2, 0], [2, 3]]
DTYPES = {"f32": TensorProto.FLOAT, "i64": TensorProto.INT64, "u8": TensorProto.UINT8, "bool": TensorProto.BOOL}


def ones(shape):
    """A shape with sizes of 1."""
    return [1] * len(shape)


def first(shape):
    """The size of the first axis, if there is one."""
    return shape[:1] or [1]


def channels(shape):
    """A parameter with an element for each channel."""
    return [shape[1] if len(shape) > 1 else 1]


# Name, attributes, the attributes that ONNX writes as operands (name, value; None leaves an operand out), further operands by the
# first one's shape, and how many outputs there are.
USES = [
    *[(name, {}, [], [], 1) for name in (
        "Relu", "Softmax", "LogSoftmax", "Hardmax", "Flatten", "Transpose", "Squeeze", "Size", "Shape", "Det", "EyeLike",
        "GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "LpNormalization", "Trilu",
    )],
    ("MeanVarianceNormalization", {"axes": [0]}, [], [], 1),
    ("LRN", {"size": 3}, [], [], 1),
    *[(name, {}, axes, [], 1) for name in ("ReduceSum", "ReduceMean", "ReduceMax", "ReduceLogSumExp", "ReduceProd")
      for axes in ([], [("axes", [0])], [("axes", [1])])],
    *[(name, {"axis": axis, "keepdims": 0}, [], [], 1) for name in ("ArgMax",) for axis in (0, 1)],
    *[("TopK", {"axis": 0}, [("K", k)], [], 2) for k in (0, 1)],
    ("CumSum", {}, [("axis", 0)], [], 1),
    ("Unsqueeze", {}, [("axes", [0])], [], 1),
    ("Flatten", {"axis": 0}, [], [], 1),
    ("Split", {"axis": 0}, [("split", [1, 1])], [], 2),
    ("Split", {"axis": 0}, [("split", [0])], [], 1),
    ("Concat", {"axis": 0}, [], [("f32", lambda s: s)], 1),
    *[("Gather", {"axis": 0}, [], [("i64", lambda s, of=of: of)], 1) for of in ([], [0], [2])],
    ("GatherElements", {"axis": 0}, [], [("i64", lambda s: s)], 1),
    *[("GatherND", {}, [], [("i64", lambda s, of=of: of)], 1) for of in ([], [0], [1], [2, 1])],
    ("ScatterElements", {"axis": 0}, [], [("i64", lambda s: s), ("f32", lambda s: s)], 1),
    ("ScatterND", {}, [], [("i64", lambda s: [1]), ("f32", lambda s: s[1:])], 1),
    ("OneHot", {}, [("depth", 3)], [("f32", lambda s: [2])], 1),
    ("OneHot", {}, [("depth", 0)], [("f32", lambda s: [2])], 1),
    ("Compress", {"axis": 0}, ["count"], [("bool", lambda s: [1])], 1),
    ("Compress", {}, ["count"], [("bool", lambda s: [1])], 1),
    ("ReverseSequence", {}, [], [("i64", lambda s: s[1:] or [1])], 1),
    *[("MatMul", {}, [], [("f32", lambda s, of=of: of)], 1) for of in ([], [2], [0, 1])],
    ("Gemm", {}, [], [("f32", lambda s: [s[1] if len(s) > 1 else 1, 4])], 1),
    *[(name, {"kernel_shape": [1]}, [], [], 1) for name in ("MaxPool", "AveragePool", "LpPool")],
    ("Conv", {}, [], [("f32", lambda s: [4, *channels(s)])], 1),
    ("ConvTranspose", {}, [], [("f32", lambda s: [*channels(s), 4])], 1),
    ("BatchNormalization", {}, [], [("f32", channels)] * 4, 1),
    ("InstanceNormalization", {}, [], [("f32", channels)] * 2, 1),
    ("GroupNormalization", {"num_groups": 1}, [], [("f32", channels)] * 2, 1),
    ("LayerNormalization", {"axis": 0}, [], [("f32", lambda s: s)], 1),
    ("RMSNormalization", {"axis": 0}, [], [("f32", lambda s: s)], 1),
    ("QuantizeLinear", {}, [], [("f32", lambda s: [])], 1),
    ("QuantizeLinear", {"axis": 0}, [], [("f32", first)], 1),
    ("DynamicQuantizeLinear", {}, [], [], 3),
    ("DepthToSpace", {"blocksize": 1}, [], [], 1),
    ("SpaceToDepth", {"blocksize": 1}, [], [], 1),
    ("Clip", {}, [], [("f32", lambda s: [])], 1),
    ("PRelu", {}, [], [("f32", lambda s: s)], 1),
    ("Add", {}, [], [("f32", ones)], 1),
]


def model(name, attributes, written, operands, outputs):
    """A model of one node."""
    inputs, initializers, names = [], [], []
    for i, (dtype, shape) in enumerate(operands):
        inputs.append(helper.make_tensor_value_info(f"x{i}", DTYPES[dtype], shape))
        names.append(f"x{i}")
    for operand in (operand for operand in written if not isinstance(operand, str)):
        attribute, value = operand
        shape = [len(value)] if isinstance(value, list) else ([1] if attribute == "K" else [])
        values = value if isinstance(value, list) else [value]
        initializers.append(helper.make_tensor(attribute, TensorProto.INT64, shape, values))
        # OneHot's depth stands before its values.
        names.insert(1 if attribute == "depth" else len(names), attribute)
    results = [f"y{i}" for i in range(outputs)]
    node = helper.make_node(name, names, results, **attributes)
    types = [onnx.ValueInfoProto(name=result) for result in results]
    graph = helper.make_graph([node], "graph", inputs, types, initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=13)


def said(made):
    """The shapes that inference gives, or that it refuses the model."""
    try:
        inferred = onnx.shape_inference.infer_shapes(made, check_type=True, strict_mode=True, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return "refused"
    shapes = []
    for output in inferred.graph.output:
        tensor = output.type.tensor_type
        sizes = [str(d.dim_value) if d.HasField("dim_value") else "?" for d in tensor.shape.dim]
        shapes.append(f"[{', '.join(sizes)}]" if tensor.HasField("shape") else "?")
    return ", ".join(shapes)


def line(name, attributes, written, operands, verdict):
    """A use, and what is said of it."""
    named = dict(attributes)
    for operand in written:
        if operand == "count":
            named["count"] = 1
        else:
            named[operand[0].lower() if operand[0] == "K" else operand[0]] = operand[1]
    types = ", ".join(f"{dtype}[{', '.join(map(str, shape))}]" for dtype, shape in operands)
    braces = ", ".join(f"{key} = {value}" for key, value in named.items())
    return f"{name}({types})" + (f" {{{braces}}}" if named else "") + f" -> {verdict}"


def main():
    """Prints the table."""
    print(f"# Made by scripts/lower_ends.py with onnx {onnx.__version__}, opset {OPSET}.")
    for name, attributes, written, further, outputs in USES:
        for shape in SHAPES:
            dtype = "i64" if name == "OneHot" else "f32"
            operands = [(dtype, shape), *[(dtype, of(shape)) for dtype, of in further]]
            verdict = said(model(name, attributes, written, operands, outputs))
            print(line(name, attributes, written, operands, verdict))


if __name__ == "__main__":
    sys.exit(main())
