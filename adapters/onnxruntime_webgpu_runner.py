#!/usr/bin/env python3
"""ONNX Runtime's WebGPU provider, by Dawn and Tint, on the GPU that Dawn chooses."""

from protocol import Unavailable, serve  # isort: skip, it comes first

import os

# Read when the provider is loaded. Software drivers count as no GPU without it.
os.environ.setdefault("ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER", "1")

import onnxruntime as ort
import onnxruntime_ep_webgpu as webgpu
from onnxruntime_provider import LACKS, open_session, try_out
from onnxruntime_runner import LEVELS, OPSET, runs

PROVIDER = webgpu.get_ep_name()
# Read as its low 32 bits. Without the option it is the CPU's.
INT64 = {"enableInt64": "1"}
# What shaders have no type for is computed in a wider one.
DTYPES = {
    "f32": "f32", "f16": "f16", "i32": "i32", "u32": "u32", "i64": "i32", "bool": "bool", "i8": "i32", "u8": "u32",
}  # fmt: skip


def find_device():
    """The one device that the provider has; which GPU that is, Dawn decides."""
    ort.register_execution_provider_library("webgpu", webgpu.get_library_path())
    device = next((device for device in ort.get_ep_devices() if device.ep_name == PROVIDER), None)
    if device is None:
        raise Unavailable("ONNX Runtime's WebGPU provider names no device")
    return device


def opened(model, level):
    return open_session(model, level, PROVIDER, lambda options: options.add_provider_for_devices([DEVICE], INT64))


def kept():
    """A session that is never closed. The GPU is opened with the first and closed with the last, which is not once a case then."""
    try:
        return try_out(opened)
    except Exception as error:
        why = str(error).split("was false.")[-1].strip()
        raise Unavailable(f"ONNX Runtime's WebGPU provider runs on no adapter here: {why} (docs/gpu.md)") from error


if __name__ == "__main__":
    ort.set_default_logger_severity(3)
    DEVICE = find_device()
    KEPT = kept()
    serve(
        {
            "engine": "onnxruntime_webgpu",
            "version": DEVICE.ep_metadata["version"],
            "opset": OPSET,
            "levels": list(LEVELS),
            "overrides_defaults": True,
            "files": True,
            "dtypes": DTYPES,
            "profile": "wgsl-runtime",
        },
        lambda model, level: runs(opened(model, level)),
        lambda message: any(phrase in message for phrase in [*LACKS, "but the device does not support it"]),
    )
