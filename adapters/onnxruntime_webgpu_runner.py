#!/usr/bin/env python3
"""ONNX Runtime's WebGPU provider, by Dawn and Tint, on the GPU that Dawn chooses.

ONNX Runtime gives what a provider lacks to its CPU provider, and its Python package runs on that if the provider fails. Neither
may happen here, or it would be the CPU that is tested: a model that does not run on the GPU as a whole is unsupported.
"""

from protocol import VALUES, Unavailable, serve  # isort: skip, it comes first

import os

# Read when the provider is loaded. Software drivers count as no GPU without it.
os.environ.setdefault("ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER", "1")

import numpy as np
import onnx
import onnxruntime as ort
import onnxruntime_ep_webgpu as webgpu
from onnx import TensorProto, helper
from onnxruntime_runner import LACKING, LEVELS, OPSET, configure

PROVIDER = webgpu.get_ep_name()
# Read as its low 32 bits. Without the option it is the CPU's.
INT64 = {"enableInt64": "1"}
# What shaders have no type for is computed in a wider one.
DTYPES = {
    "f32": "f32", "f16": "f16", "i32": "i32", "u32": "u32", "i64": "i32", "bool": "bool", "i8": "i32", "u8": "u32",
}  # fmt: skip
LACKS = [
    *LACKING,
    "fallback to CPU EP has been explicitly disabled",
    "but the device does not support it",
    # Neither has the CPU a kernel.
    "!node_provider_type.empty() was false",
]


def find_device():
    """The one device that the provider has; which GPU that is, Dawn decides."""
    ort.register_execution_provider_library("webgpu", webgpu.get_library_path())
    device = next((device for device in ort.get_ep_devices() if device.ep_name == PROVIDER), None)
    if device is None:
        raise Unavailable("ONNX Runtime's WebGPU provider names no device")
    return device


def open_session(model, level):
    options = configure(level)
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.add_provider_for_devices([DEVICE], INT64)
    session = ort.InferenceSession(model, options, enable_fallback=0)
    if PROVIDER not in session.get_providers():
        raise RuntimeError(f"the session runs on {session.get_providers()}")
    return session


def load(model, level):
    session = open_session(model, level)
    names = [output.name for output in session.get_outputs()]
    return lambda inputs: dict(zip(names, session.run(names, inputs), strict=True))


def try_out():
    """A session that has run one node. What stands in the way is then known before a case is sent."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "one", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    try:
        session = open_session(model.SerializeToString(), "none")
        session.run(None, {"x": np.ones(1, np.float32)})
    except Exception as error:
        why = str(error).split("was false.")[-1].strip()
        raise Unavailable(f"ONNX Runtime's WebGPU provider runs on no adapter here: {why} (docs/gpu.md)") from error
    return session


if __name__ == "__main__":
    ort.set_default_logger_severity(3)
    DEVICE = find_device()
    # The GPU is opened with the first session and closed with the last. While this one is there, that is not once a case.
    KEPT = try_out()
    serve(
        {
            "engine": "onnxruntime_webgpu",
            "version": DEVICE.ep_metadata["version"],
            "opset": OPSET,
            "levels": list(LEVELS),
            "dtypes": DTYPES,
            "profile": "wgsl-runtime",
        },
        load,
        lambda message: any(phrase in message for phrase in LACKS),
    )
