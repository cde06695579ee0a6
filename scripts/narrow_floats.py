#!/usr/bin/env python3
"""Prints what ml_dtypes and ONNX's Python package say of the floats of 8 and 4 bits: ir/tests/narrow_floats.txt.

For each type the number of every code, and the codes of the numbers at which a conversion can go wrong: the middle of
every two neighbours, the two f32 next to it, and what lies beyond the ends. All are f32, because ml_dtypes rounds f64 to f32
first. What the conversion of a NaN gives is left out where the type has none, and for f8e8m0 what ml_dtypes does with
numbers below the smallest, where ONNX says something else, and with denormals of f32, which it does not round to nearest.
"""

import math

import ml_dtypes
import numpy as np
import onnx
from onnx import numpy_helper

TYPES = {
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
    "f8e8m0": ml_dtypes.float8_e8m0fnu,
    "f4e2m1": ml_dtypes.float4_e2m1fn,
}


FLT_MAX = float(np.finfo(np.float32).max)


def below(v):
    """The f32 below one."""
    return np.nextafter(v, np.float32(-np.inf))


def above(v):
    """The f32 above one."""
    return np.nextafter(v, np.float32(np.inf))


def numbers(kind):
    """The number of every code, in the order of the codes."""
    codes = np.arange(2 ** ml_dtypes.finfo(kind).bits, dtype=np.uint8)
    return [float(v) for v in codes.view(kind).astype(np.float64)]


def between(kind, values):
    """What the f32 below the middle of every two neighbours, the middle and the f32 above it become; ascending."""
    ascending = sorted({v for v in values if math.isfinite(v)})
    middles = [np.float32((a + b) / 2) for a, b in zip(ascending, ascending[1:])]
    normal = [middle for middle in middles if abs(middle) >= np.finfo(np.float32).smallest_normal]
    return codes(kind, [v for middle in normal for v in (below(middle), middle, above(middle))])


def beyond(values):
    """Numbers at and beyond the largest: up to and past the middle between it and the next power of two, and infinity."""
    most = max(v for v in values if math.isfinite(v))
    step = 2.0 ** (math.floor(math.log2(most)) - mantissa_bits(values))
    middle = np.float32(most + step / 2)
    points = [most, below(middle), middle, above(middle), min(most + step, FLT_MAX), FLT_MAX, np.inf]
    return points + [-p for p in points] if min(v for v in values if not math.isnan(v)) < 0 else points


def mantissa_bits(values):
    """The width of the mantissa, from how many numbers lie from 1 to 2."""
    return int(math.log2(sum(1 <= v < 2 for v in values)))


def row(*words):
    """Prints a line of words."""
    print(" ".join(str(word) for word in words))


def codes(kind, points):
    """The codes that points become."""
    return [int(code) for code in np.array(points, dtype=np.float32).astype(kind).view(np.uint8)]


def saturated(kind, points):
    """The codes that points become where they saturate."""
    return [int(code) for code in numpy_helper.saturate_cast(np.array(points, dtype=np.float32), kind).view(np.uint8)]


def pairs(points, found):
    """Points with their codes."""
    return [f"{float(point)!r}={code}" for point, code in zip(points, found, strict=True)]


def powers(mode):
    """Numbers between powers of two with the codes that they become; f32 has to hold them, and not as denormals."""
    points = np.array([f * 2.0**e for e in range(-126, 127, 11) for f in (1, 1.25, 1.5, 1.75)], dtype=np.float32)
    points = np.concatenate([points, above(points), below(points[1:])])
    return pairs(points, numpy_helper.to_float8e8m0(points, True, mode).view(np.uint8))


def main():
    """Prints the file."""
    print(f"# Written by scripts/narrow_floats.py with ml_dtypes {ml_dtypes.__version__} and onnx {onnx.__version__}.")
    for name, kind in TYPES.items():
        values = numbers(kind)
        ends = beyond(values)
        row(name, "numbers", *values)
        row(name, "between", *between(kind, values))
        row(name, "beyond", *pairs(ends, codes(kind, ends)))
        if name not in ("f8e8m0", "f4e2m1"):
            ends += [-0.0, np.nan]
            row(name, "saturate", *pairs(ends, saturated(kind, ends)))
    for mode in ("nearest", "up", "down"):
        row("f8e8m0", mode, *powers(mode))


if __name__ == "__main__":
    main()
