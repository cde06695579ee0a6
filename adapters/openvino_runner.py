#!/usr/bin/env python3
"""OpenVINO's CPU plugin. It has no switch for its optimiser; the levels are its execution modes.

The plugin keeps few types: other floats run as f32 and other integers as i32. In the mode `performance` f32 runs as bf16 where
the processor has that, as the manual says. That would be all that is found, and only on such machines; so f32 is asked for.
"""

from protocol import NAMES, THREADS, Unsupported, array, content_of, serve  # isort: skip, it comes first

import platform

import numpy as np
import openvino as ov
from openvino.properties import hint

CORE = ov.Core()
LEVELS = {"accuracy": hint.ExecutionMode.ACCURACY, "performance": hint.ExecutionMode.PERFORMANCE}
LACKING = ["does not support the following ONNX operations", "not supported", "unsupported", "is not implemented"]
DTYPES = {
    "f32": "f32", "f64": "f32", "f16": "f32", "i8": "i8", "u8": "u8", "i32": "i32", "bool": "u8",
    "i16": "i32", "u16": "i32", "u32": "i32", "i64": "i32", "u64": "i32",
}  # fmt: skip
# Those that numpy has no arrays of: the Python package takes and gives their bytes.
NARROW = {
    "f8e4m3fn": ov.Type.f8e4m3, "f8e5m2": ov.Type.f8e5m2, "f8e8m0": ov.Type.f8e8m0, "f4e2m1": ov.Type.f4e2m1,
    "i4": ov.Type.i4, "u4": ov.Type.u4,
}  # fmt: skip


def element_type(value):
    return NARROW.get(NAMES[value.dtype]) or ov.Type(value.dtype)


def fits(port, value):
    """Whether a value may be what comes in at a port."""
    return port.element_type == element_type(value) and port.partial_shape.compatible(ov.PartialShape(list(value.shape)))


def taken(value):
    """An input as OpenVINO takes it."""
    narrow = NARROW.get(NAMES[value.dtype])
    if narrow is None:
        return value
    tensor = ov.Tensor(narrow, ov.Shape(list(value.shape)))
    tensor.data.reshape(-1).view(np.uint8)[:] = np.frombuffer(content_of(value), np.uint8)
    return tensor


def given_out(request, port, result):
    """An output as an array of its dtype."""
    name = next((name for name, narrow in NARROW.items() if port.element_type == narrow), None)
    if name is None:
        return result
    return array({"dtype": name, "shape": list(request.get_tensor(port).shape)}, result.tobytes())


def load(model, level):
    config = {
        hint.execution_mode: LEVELS[level],
        hint.inference_precision: ov.Type.f32,
        "INFERENCE_NUM_THREADS": THREADS,
        "NUM_STREAMS": 1,
    }
    compiled = CORE.compile_model(CORE.read_model(model), "CPU", config)

    def execute(inputs):
        if any(port.element_type == ov.Type.bf16 for port in [*compiled.inputs, *compiled.outputs]):
            raise Unsupported("bf16 through the Python package")
        # A graph input that nothing uses is not there any more; one whose value passes through nodes that change nothing
        # has their outputs' names as well. Without a tensor OpenVINO would calculate with what happens to lie in memory.
        given = {port: port.names & inputs.keys() for port in compiled.inputs}
        # Its own name may even be lost, with the node that changed nothing. Its type is not.
        for port in [port for port, names in given.items() if not names]:
            lost = inputs.keys() - set().union(*given.values())
            fitting = [name for name in lost if fits(port, inputs[name])]
            if len(fitting) != 1:
                raise Unsupported(f"OpenVINO knows an input by the name {port.any_name} alone, which the model has elsewhere")
            given[port] = set(fitting)
        # A request of its own: the one that `compiled` keeps refers back to it, so that neither would go with the case.
        request = compiled.create_infer_request()
        results = request.infer({port: taken(inputs[min(names)]) for port, names in given.items()})
        outputs = {port: given_out(request, port, results[port]) for port in compiled.outputs}
        return {name: output for port, output in outputs.items() for name in port.names}

    return execute


if __name__ == "__main__":
    serve(
        {
            "engine": "openvino",
            # The build and the branch follow, which no range of versions has.
            "version": ov.__version__.split("-")[0],
            "levels": list(LEVELS),
            "files": True,
            "dtypes": DTYPES | {name: name for name in NARROW},
            # On ARM the plugin may choose the Compute Library's Winograd convolutions.
            "transforms_convolutions": platform.machine() in {"aarch64", "arm64"},
        },
        load,
        lambda message: any(phrase in message.lower() for phrase in map(str.lower, LACKING)),
    )
