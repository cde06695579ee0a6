#!/usr/bin/env python3
"""Judges outputs by the bounds that onnxsmith writes beside its cases. It needs numpy and onnx alone.

    judge.py CASES OUTPUTS

CASES holds case folders. OUTPUTS holds <case>/<engine>/output_N.pb, as `onnxsmith run CASES --out OUTPUTS` writes them; <case> is the
case's path within CASES, or as many of the last names on its path as tell it from the others.
docs/cases.md describes both. This is the reference for other tools: whatever it finds right, they should.

Exit code: 0 all that could be judged is right, 1 something is off, 2 nothing could be judged.
"""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
from google.protobuf.message import DecodeError  # what onnx is made on
from onnx import numpy_helper


MESSAGES = {"sequence_type": onnx.SequenceProto, "optional_type": onnx.OptionalProto}


def load(path, message=onnx.TensorProto):
    value = message()
    try:
        value.ParseFromString(path.read_bytes())
    except (OSError, DecodeError) as error:
        print(f"judge.py: cannot read {path}: {error}", file=sys.stderr)
        sys.exit(2)
    return value


def tensors(value):
    """The tensors in a value; `None` is an optional that holds nothing."""
    if isinstance(value, onnx.SequenceProto):
        return list(value.tensor_values)
    if isinstance(value, onnx.OptionalProto):
        held = [field for field in ("tensor_value", "sequence_value") if value.HasField(field)]
        return tensors(getattr(value, held[0])) if held else None
    return [value]


MISSING = "mismatch", "it is missing"
# What is said of an output is what is said of the first of these among its tensors.
ORDER = ["mismatch", "pass", "nothing to judge"]


def judge_all(expected, actual, bound, mask, zero_sign):
    """What an output is that may be of several tensors, or of none."""
    want, got, bounds, masks = map(tensors, (expected, actual, bound, mask))
    if want is None or got is None:
        return ("pass", "") if want is got else ("mismatch", "it holds something where it should not, or nothing")
    if len(want) != len(got):
        return "mismatch", f"it has {len(got)} tensors instead of {len(want)}"
    found = [judge(*each, zero_sign) for each in zip(want, got, bounds, masks, strict=True)]
    return min(found, key=lambda verdict: ORDER.index(verdict[0]), default=("pass", ""))


def judge(expected, actual, bound, mask, zero_sign):
    """What a tensor is: the verdict, and what there is to say about it."""
    if (expected.data_type, expected.dims) != (actual.data_type, actual.dims):
        return "mismatch", "it has another element type or shape"
    want, got, bound = (numpy_helper.to_array(t).flatten() for t in (expected, actual, bound))
    judged = numpy_helper.to_array(mask).flatten() == 0
    if want.dtype.kind in "iub":  # integers and bool, in their own type: f64 does not hold all of them
        off_by = np.abs(got.astype(object) - want.astype(object)).astype(np.float64)
        right = (got == want) | ((bound > 0) & (off_by <= bound))
    else:
        want, got = want.astype(np.float64), got.astype(np.float64)
        right = (got == want) | (np.isnan(got) & np.isnan(want))
        if zero_sign == "counts":
            right &= (want != 0) | (np.signbit(got) == np.signbit(want))
        right = np.where(bound > 0, np.abs(got - want) <= bound, right)
    off = judged & ~right
    if not off.any():
        return ("pass" if judged.any() or not judged.size else "nothing to judge"), ""
    beyond = np.abs(got.astype(np.float64) - want.astype(np.float64)) - bound
    worst = np.argmax(np.where(off, np.nan_to_num(beyond, nan=np.inf), -np.inf))
    return "mismatch", (
        f"{off.sum()} of {off.size} elements are off; the worst is element {worst}: "
        f"{got[worst]} where {want[worst]} ± {bound[worst]} is right"
    )


def folder_of(case, outputs):
    """Where the outputs of a case are: below the end of its path that is there, the longest of them."""
    parts = case.absolute().parts[1:]
    ends = [outputs.joinpath(*parts[start:]) for start in range(len(parts))]
    return next((end for end in ends if end.is_dir()), ends[-1])


def verdicts(case, cases, outputs):
    """The verdict on each output of a case, of each engine that has run it."""
    called = case.relative_to(cases) if case != cases else case.name
    zero_sign = json.loads((case / "case.json").read_text()).get("zero_sign")
    engines = sorted(path for path in folder_of(case, outputs).glob("*") if path.is_dir())
    outputs_of = load(case / "model.onnx", onnx.ModelProto).graph.output
    for bound in sorted(case.glob("bounds_set_*/bound_*.pb")):
        position = int(bound.stem.rsplit("_", 1)[1])
        message = MESSAGES.get(outputs_of[position].type.WhichOneof("value"), onnx.TensorProto)
        number, name = bound.parent.name.rsplit("_", 1)[1], bound.name.replace("bound", "output")
        expected = load(case / f"test_data_set_{number}" / name, message)
        mask = bound.with_name(bound.name.replace("bound", "mask"))
        allowed = load(bound, message), load(mask, message)
        for engine in engines:
            path = (engine if number == "0" else engine / f"set_{number}") / name
            found = judge_all(expected, load(path, message), *allowed, zero_sign) if path.exists() else MISSING
            yield f"{called} {engine.name} {name}", *found
        if not engines:
            yield f"{called} {name}", "not run", ""


def main(cases, outputs):
    total = Counter()
    cases = Path(cases)
    for case in sorted(path.parent for path in cases.rglob("case.json")):
        for what, verdict, why in verdicts(case, cases, Path(outputs)):
            total[verdict] += 1
            print(f"{what}: {verdict}{why and ': ' + why}")
    print("outputs:", ", ".join(f"{count} {verdict}" for verdict, count in sorted(total.items())) or "none")
    return 1 if total["mismatch"] else 0 if total["pass"] else 2


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    np.seterr(all="ignore")
    sys.exit(main(*sys.argv[1:]))
