#!/usr/bin/env python3
"""Prints tensors of narrow types as ONNX's Python package writes them: onnx/tests/narrow_tensors.txt.

Each line: the elements in onnxsmith's text form, the message with the elements in raw_data, and the one with the elements in
int32_data, both in hexadecimal digits. The numbers of elements do not fill the last byte.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

INTEGERS = {
    "i4": (TensorProto.INT4, [-8, 7, -1, 0, 3]),
    "u4": (TensorProto.UINT4, [15, 0, 8, 1, 6]),
    "i2": (TensorProto.INT2, [-2, 1, -1, 0, 1, -2, -1]),
    "u2": (TensorProto.UINT2, [3, 0, 2, 1, 2]),
}
FLOATS = {
    "f8e4m3fn": (TensorProto.FLOAT8E4M3FN, [448.0, -0.5, -0.0]),
    "f8e4m3fnuz": (TensorProto.FLOAT8E4M3FNUZ, [240.0, -0.5, 0.0]),
    "f8e5m2": (TensorProto.FLOAT8E5M2, [57344.0, -0.5, -0.0]),
    "f8e5m2fnuz": (TensorProto.FLOAT8E5M2FNUZ, [57344.0, -0.5, 0.0]),
    "f8e8m0": (TensorProto.FLOAT8E8M0, [1.0, 0.25, 1024.0]),
    "f4e2m1": (TensorProto.FLOAT4E2M1, [6.0, -0.5, -0.0]),
}


def messages(code, values):
    """The two messages of a tensor. The first comes from an array, as files of data sets do."""
    array = np.array(values).astype(helper.tensor_dtype_to_np_dtype(code))
    return [numpy_helper.from_array(array, "x"), helper.make_tensor("x", code, array.shape, values)]


def main():
    """Prints the file."""
    print(f"# Written by scripts/narrow_tensors.py with onnx {onnx.__version__}.")
    for name, (code, values) in (INTEGERS | FLOATS).items():
        raw, typed = (message.SerializeToString(deterministic=True).hex() for message in messages(code, values))
        print(f"{name}[{len(values)}] {{{', '.join(map(str, values))}}}; {raw}; {typed}")


if __name__ == "__main__":
    main()
