#!/usr/bin/env python3
"""Writes conformance/programs/: models with forms that a flat graph has not, from ONNX's own text syntax.

ONNX's checker and its strict shape inference must accept each.
"""

from pathlib import Path

import onnx
from onnx import parser

PROGRAMS = {
    # A branch that the values decide.
    "branch": """
        <ir_version: 10, opset_import: ["" : 21]>
        branch (float[N] x) => (float[N] y) <float zero = {0}> {
            s = ReduceSum <keepdims = 0> (x)
            c = Greater(s, zero)
            y = If (c) <
                then_branch = positive () => (float[N] a) { b = Exp(x) a = Mul(b, x) },
                else_branch = negative () => (float[N] n) { n = Neg(x) }
            >
        }""",
    # A sequence that a loop fills, element by element.
    "fill": """
        <ir_version: 10, opset_import: ["" : 21]>
        fill (float[N] x, int64 n) => (float[M] y, int64 length) <bool yes = {1}> {
            empty = SequenceEmpty()
            filled = Loop (n, yes, empty) <
                body = step (int64 i, bool on, seq(float) before) => (bool out, seq(float) after) {
                    e = Gather(x, i)
                    f = Sin(e)
                    after = SequenceInsert(before, f)
                    out = Identity(on)
                }
            >
            y = ConcatFromSequence <axis = 0, new_axis = 1> (filled)
            length = SequenceLength(filled)
        }""",
    # A loop that ends with its condition, and what piles up in it.
    "until": """
        <ir_version: 10, opset_import: ["" : 21]>
        until (float[N] x, float most) => (float[N] y, float[M, N] all) <int64 n = {9}, bool yes = {1}> {
            y, all = Loop (n, yes, x) <
                body = step (int64 i, bool in, float[N] v) => (bool on, float[N] w, float[N] piece) {
                    w = Add(v, v)
                    s = ReduceMax <keepdims = 0> (w)
                    on = Less(s, most)
                    piece = Identity(w)
                }
            >
        }""",
    # A shape that is computed from a shape.
    "shape": """
        <ir_version: 10, opset_import: ["" : 21]>
        shape (float[N, M] x) => (float[K, L] y) <int64[1] rest = {-1}, int64[1] two = {2}> {
            s = Shape(x)
            p = ReduceProd <keepdims = 1> (s)
            h = Div(p, two)
            wanted = Concat <axis = 0> (h, rest)
            t = Reshape(x, wanted)
            y = Tanh(t)
        }""",
    # A shape that only values tell.
    "count": """
        <ir_version: 10, opset_import: ["" : 21]>
        count (float[N] x) => (float[K, L] y) <int64[1] first = {0}, int64[2] column = {-1, 1}> {
            s = Relu(x)
            places = NonZero(s)
            at = Squeeze(places, first)
            kept = Gather(s, at)
            y = Reshape(kept, column)
        }""",
}


def main():
    folder = Path(__file__).resolve().parent.parent / "conformance" / "programs"
    for name, text in PROGRAMS.items():
        model = parser.parse_model(text)
        onnx.checker.check_model(model, full_check=True)
        (folder / f"{name}.onnx").write_bytes(model.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
