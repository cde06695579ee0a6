#!/usr/bin/env python3
"""An engine that answers with the outputs that cases have stored, to judge these by derived bounds: `stored_runner.py FOLDER NAME`.

FOLDER has cases as folders, and NAME is what the engine is called, whoever made the outputs. It has an answer for the models and inputs of
these cases alone.
"""

import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "adapters"))

from protocol import DTYPES, Unsupported, serve  # isort: skip, it comes first

import onnx
from onnx import numpy_helper

FOLDER, NAME = Path(sys.argv[1]), sys.argv[2]


def digest(data):
    return hashlib.sha256(data).digest()


CASES = {digest((case / "model.onnx").read_bytes()): case for case in sorted(FOLDER.iterdir()) if (case / "model.onnx").is_file()}


def load(model, _level):
    """What a case has stored."""
    case = CASES.get(digest(model))
    if case is None:
        raise Unsupported("no case has this model")
    graph = onnx.load_model_from_string(model).graph

    def values(kind, ports):
        files = [case / "test_data_set_0" / f"{kind}_{place}.pb" for place in range(len(ports))]
        return {port.name: numpy_helper.to_array(onnx.load_tensor(file)) for port, file in zip(ports, files, strict=True)}

    def execute(inputs):
        if any(value.tobytes() != inputs[name].tobytes() for name, value in values("input", graph.input).items()):
            raise Unsupported("the case has other inputs")
        return values("output", graph.output)

    return execute


if __name__ == "__main__":
    serve({"engine": NAME, "version": "stored", "levels": ["stored"], "dtypes": {name: name for name in DTYPES}}, load)
