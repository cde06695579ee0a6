#!/usr/bin/env python3
"""TVM's Relax frontend for ONNX, compiled for the CPU by LLVM."""

from protocol import DTYPES, THREADS, in_order, serve  # isort: skip, it comes first

import os

os.environ["TVM_NUM_THREADS"] = str(THREADS)

import numpy as np
import onnx
import tvm
import tvm_ffi
from tvm import relax
from tvm.relax.frontend.onnx import from_onnx

# Relax's pipelines: lowering alone, and with operators fused and constants folded before.
LEVELS = {"none": "default_build", "all": "default"}
LACKING = [
    "OpNotImplemented",
    "are not supported",
    "is not supported yet",
    "not yet supported",
    # Strings.
    "unknown dtype `object`",
]
TARGET = tvm.target.Target("llvm")
DEVICE = tvm.cpu()


def load(model, level):
    proto = onnx.load(model) if isinstance(model, str) else onnx.load_model_from_string(model)
    graph = proto.graph
    given = {constant.name for constant in graph.initializer}
    inputs = [value.name for value in graph.input if value.name not in given]
    outputs = [value.name for value in graph.output]
    module = from_onnx(proto)
    machine = relax.VirtualMachine(tvm.compile(module, TARGET, relax_pipeline=LEVELS[level]), DEVICE)

    def execute(values):
        results = machine["main"](*map(tvm.runtime.tensor, in_order(inputs, values)))
        results = [results] if len(outputs) == 1 else results
        return {name: array(result) for name, result in zip(outputs, results, strict=True)}

    return execute


def array(result):
    """The tensor of a result. Sizes are none in TVM, one alone or several: they stand for a tensor of i64."""
    return np.array(result, np.int64) if isinstance(result, (int, tvm_ffi.Shape)) else result.numpy()


if __name__ == "__main__":
    serve(
        {
            "engine": "tvm",
            "version": tvm.__version__,
            "levels": list(LEVELS),
            "files": True,
            "dtypes": {name: name for name in DTYPES},
        },
        load,
        lambda message: any(phrase in message for phrase in LACKING),
    )
