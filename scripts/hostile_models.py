#!/usr/bin/env python3
"""Writes models that ask for more than anybody has, to see that each is refused by a clear error, at once and in little memory.

Each is small. loop.onnx asks for 2^63 - 1 trips, while.onnx for a loop without an end, input.onnx for an input of 2^40 elements,
shape.onnx, tile.onnx, pad.onnx, range.onnx and constant.onnx for values of 2^40 elements that are computed, computed.onnx for such a one if
its input says so, ifs.onnx for 10,000 Ifs inside each other, functions.onnx for 40 functions of which each calls the one before twice, and
itself.onnx for a function that calls itself. Try them with

    onnxsmith run OUT/*.onnx --on interp,cpu
"""

import argparse
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = helper.make_opsetid("", 21)
NESTED = 10_000
DOUBLED = 40


def value(name, shape, dtype=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, numbers, dtype=np.int64):
    return numpy_helper.from_array(np.array(numbers, dtype), name)


def model(nodes, inputs, outputs, constants=(), functions=()):
    graph = helper.make_graph(nodes, "graph", inputs, outputs, list(constants))
    opsets = [OPSET, *([helper.make_opsetid("ours", 1)] if functions else [])]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=list(functions))


def loop(trips):
    """A loop that doubles; `None` trips are as many as it takes."""
    body = helper.make_graph(
        [helper.make_node("Add", ["v", "v"], ["w"]), helper.make_node("Identity", ["c"], ["d"])],
        "body",
        [value("i", [], TensorProto.INT64), value("c", [], TensorProto.BOOL), value("v", [2])],
        [value("d", [], TensorProto.BOOL), value("w", [2])],
    )
    constants = [constant("yes", True, np.bool_)] + ([] if trips is None else [constant("n", trips)])
    node = helper.make_node("Loop", ["" if trips is None else "n", "yes", "x"], ["y"], body=body)
    return model([node], [value("x", [2])], [value("y", [2])], constants)


def large(op_type, operands, constants):
    """A sum over what an operator makes large."""
    nodes = [helper.make_node(op_type, operands, ["large"]), helper.make_node("ReduceSum", ["large"], ["y"], keepdims=0)]
    return model(nodes, [value("x", [1])], [value("y", None)], constants)


def nested():
    """Ifs inside each other, written as bytes: Python would not reach the end."""
    condition, exit_ = [value("c", [], TensorProto.BOOL)], [value("y", [2])]
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", [], exit_).SerializeToString()
    other = helper.make_graph([helper.make_node("Abs", ["x"], ["y"])], "e", [], exit_).SerializeToString()
    for _ in range(NESTED):
        branches = [(b"then_branch", graph), (b"else_branch", other)]
        attributes = b"".join(
            field(5, field(1, name) + field(6, branch) + number(20, onnx.AttributeProto.GRAPH)) for name, branch in branches
        )
        node = field(1, b"c") + field(2, b"y") + field(4, b"If") + attributes
        graph = field(1, node) + field(2, b"g") + field(12, exit_[0].SerializeToString())
    whole = model([], [value("x", [2]), *condition], [])
    for port in whole.graph.input:
        graph += field(11, port.SerializeToString())
    whole.ClearField("graph")
    return whole.SerializeToString() + field(7, graph)


def field(tag, content):
    """A protobuf field that holds bytes."""
    return varint(tag << 3 | 2) + varint(len(content)) + content


def number(tag, content):
    """A protobuf field that holds a number."""
    return varint(tag << 3) + varint(content)


def varint(of):
    out = bytearray()
    while of > 0x7F:
        out.append(of & 0x7F | 0x80)
        of >>= 7
    return bytes([*out, of])


def doubled():
    """Functions that grow to 2^40 nodes."""
    functions = [
        helper.make_function("ours", "F0", ["x"], ["y"], [helper.make_node("Neg", ["x"], ["y"])], [OPSET]),
        *(
            helper.make_function(
                "ours", f"F{i}", ["x"], ["y"],
                [helper.make_node(f"F{i - 1}", [a], [b], domain="ours") for a, b in [("x", "m"), ("m", "y")]],
                [OPSET, helper.make_opsetid("ours", 1)],
            )
            for i in range(1, DOUBLED + 1)
        ),
    ]  # fmt: skip
    node = helper.make_node(f"F{DOUBLED}", ["x"], ["y"], domain="ours")
    return model([node], [value("x", [2])], [value("y", [2])], functions=functions)


def itself():
    node = helper.make_node("F", ["x"], ["y"], domain="ours")
    function = helper.make_function("ours", "F", ["x"], ["y"], [node], [OPSET, helper.make_opsetid("ours", 1)])
    return model([node], [value("x", [2])], [value("y", [2])], functions=[function])


def models():
    many = [2**20, 2**20]
    yield "loop", loop(2**63 - 1)
    yield "while", loop(None)
    yield "input", model([helper.make_node("Neg", ["x"], ["y"])], [value("x", many)], [value("y", many)])
    yield "shape", large("Expand", ["x", "s"], [constant("s", many)])
    yield "tile", large("Tile", ["x", "s"], [constant("s", [2**40])])
    yield "pad", large("Pad", ["x", "s"], [constant("s", [0, 2**40])])
    yield "range", large("Range", ["a", "b", "d"], [constant("a", 0), constant("b", 2**40), constant("d", 1)])
    nodes = [helper.make_node("ConstantOfShape", ["s"], ["large"]), helper.make_node("ReduceSum", ["large"], ["y"], keepdims=0)]
    yield "constant", model(nodes, [value("x", [1])], [value("y", None)], [constant("s", many)])
    nodes = [helper.make_node("Mul", ["n", "k"], ["s"]), *nodes]
    yield "computed", model(nodes, [value("n", [2], TensorProto.INT64)], [value("y", None)], [constant("k", many)])
    yield "ifs", nested()
    yield "functions", doubled()
    yield "itself", itself()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    for name, made in models():
        (args.out / f"{name}.onnx").write_bytes(made if isinstance(made, bytes) else made.SerializeToString())


if __name__ == "__main__":
    main()
