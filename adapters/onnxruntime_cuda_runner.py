#!/usr/bin/env python3
"""ONNX Runtime's CUDA provider, on the first NVIDIA GPU."""

from protocol import DTYPES, Unavailable, serve  # isort: skip, it comes first

import onnxruntime as ort
from onnxruntime_provider import LACKS, open_session, try_out
from onnxruntime_runner import LEVELS, OPSET, runs

PROVIDER = "CUDAExecutionProvider"
OPTIONS = {
    # As it ships, f32 is multiplied with the 10 bits of TensorFloat-32.
    "use_tf32": "0",
    # As it ships, each convolution is timed with all of cuDNN's algorithms, and which one wins is chance.
    "cudnn_conv_algo_search": "HEURISTIC",
}


def opened(model, level):
    return open_session(model, level, PROVIDER, lambda _: [(PROVIDER, OPTIONS)])


def kept():
    """A session that is never closed."""
    if PROVIDER not in ort.get_available_providers():
        raise Unavailable("this ONNX Runtime has no CUDA provider; `scripts/python-env --cuda` installs one that has")
    ort.preload_dlls()
    try:
        return try_out(opened)
    except Exception as error:
        raise Unavailable(f"ONNX Runtime's CUDA provider does not run here: {error}") from error


if __name__ == "__main__":
    ort.set_default_logger_severity(3)
    KEPT = kept()
    serve(
        {
            "engine": "onnxruntime_cuda",
            "version": ort.__version__,
            "opset": OPSET,
            "levels": list(LEVELS),
            "overrides_defaults": True,
            "files": True,
            # Its Python package takes numpy's own alone.
            "dtypes": {name: name for name in DTYPES if name != "bf16"},
            "transforms_convolutions": True,
        },
        lambda model, level: runs(opened(model, level)),
        lambda message: any(phrase in message for phrase in LACKS),
    )
