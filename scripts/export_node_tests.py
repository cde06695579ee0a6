#!/usr/bin/env python3
"""Writes ONNX's own node tests as case folders, each with its tolerances in case.json.

A case that cannot be written is counted and named, and makes the exit code 1. Prints one JSON object, and writes it to
export.json.
"""

import argparse
import json
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper
from onnx.backend.test.case.node import collect_testcases


def to_message(value, port):
    """The protobuf message of a value of a graph input or output."""
    kind = port.type.WhichOneof("value")
    if isinstance(value, TensorProto):
        message = TensorProto()
        message.CopyFrom(value)
        message.name = port.name
        return message
    if kind == "sequence_type":
        return numpy_helper.from_list(value, port.name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, port.name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, port.name)
    return numpy_helper.from_array(np.asarray(value), port.name)


def write_case(case, folder):
    """Writes one case; a folder of an earlier run is replaced."""
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    (folder / "model.onnx").write_bytes(case.model.SerializeToString(deterministic=True))
    # What ONNX's runner has by itself depends on the dtype of an output; whoever compares knows that.
    own = {} if (case.rtol, case.atol) == (1e-3, 1e-7) else {"rtol": case.rtol, "atol": case.atol}
    (folder / "case.json").write_text(json.dumps(own) + "\n")
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data_set = folder / f"test_data_set_{number}"
        data_set.mkdir()
        for prefix, values, ports in (
            ("input", inputs, case.model.graph.input),
            ("output", outputs, case.model.graph.output),
        ):
            for i, (value, port) in enumerate(zip(values, ports, strict=True)):
                message = to_message(value, port)
                (data_set / f"{prefix}_{i}.pb").write_bytes(message.SerializeToString(deterministic=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder for the case folders")
    out = parser.parse_args().out

    # Collecting computes the expected values, which overflow and divide by zero on purpose.
    warnings.simplefilter("ignore", RuntimeWarning)
    cases = sorted(collect_testcases(None), key=lambda case: case.name)
    data_sets, failed = 0, []
    for case in cases:
        try:
            write_case(case, out / case.name)
            data_sets += len(case.data_sets)
        except Exception as error:
            shutil.rmtree(out / case.name, ignore_errors=True)
            failed.append({"case": case.name, "why": f"{type(error).__name__}: {error}"})
    written = len(cases) - len(failed)
    counts = {"onnx": onnx.__version__, "collected": len(cases), "written": written, "data_sets": data_sets}
    summary = json.dumps(counts | {"failed": failed}, indent=2)
    (out / "export.json").write_text(summary + "\n")
    print(summary)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
