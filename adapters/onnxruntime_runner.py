#!/usr/bin/env python3
"""ONNX Runtime through its Python package. The engine `ort` is the same library with less around it."""

from protocol import DTYPES, THREADS, VALUES, Unsupported, serve  # isort: skip, it comes first

import onnxruntime as ort
from ml_dtypes import bfloat16

LEVELS = {
    "none": ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    "basic": ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    "extended": ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    "all": ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
}
OPSET = 26
LACKING = [
    "NOT_IMPLEMENTED",
    "NotImplemented",
    "is not a registered function/op",
    "official support for domain",
    # Its Python package takes and gives numpy's own dtypes only.
    "No corresponding Numpy type",
]


def configure(level):
    """A session's options, for whichever provider."""
    options = ort.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = THREADS, 1
    options.graph_optimization_level = LEVELS[level]
    options.log_severity_level = 3
    return options


def load(model, level):
    return runs(ort.InferenceSession(model, configure(level), providers=["CPUExecutionProvider"]))


def runs(session):
    """What runs a session: a function from inputs by name to outputs by name."""
    names = [output.name for output in session.get_outputs()]

    def execute(inputs):
        # Its Python package takes numpy's own dtypes only.
        if any(tensor.dtype == bfloat16 for value in inputs.values() for tensor in tensors(value)):
            raise Unsupported("bf16 through the Python package")
        return dict(zip(names, session.run(names, inputs), strict=True))

    return execute


def tensors(value):
    """The tensors in an input."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


if __name__ == "__main__":
    serve(
        {
            "engine": "onnxruntime",
            "version": ort.__version__,
            "opset": OPSET,
            "levels": list(LEVELS),
            "overrides_defaults": True,
            "files": True,
            "dtypes": {name: name for name in DTYPES if name != "bf16"},
            "values": VALUES,
        },
        load,
        lambda message: any(phrase in message for phrase in LACKING),
    )
