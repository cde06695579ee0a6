#!/usr/bin/env python3
"""ONNX's own reference evaluator: numpy code beside the standard, which has no optimiser."""

from protocol import DTYPES, NARROW, VALUES, serve  # isort: skip, it comes first

import onnx
from onnx.defs import onnx_opset_version
from onnx.reference import ReferenceEvaluator

LACKING = ["no implementation", "No implementation", "is not implemented", "not supported", "No registered implementation"]


def load(model, _level):
    evaluator = ReferenceEvaluator(onnx.load(model) if isinstance(model, str) else onnx.load_from_string(model))
    return lambda inputs: dict(zip(evaluator.output_names, evaluator.run(None, inputs), strict=True))


if __name__ == "__main__":
    serve(
        {
            "engine": "onnx_reference",
            "version": onnx.__version__,
            "opset": onnx_opset_version(),
            "levels": ["default"],
            "overrides_defaults": True,
            "files": True,
            "dtypes": {name: name for name in DTYPES | NARROW},
            "values": VALUES,
        },
        load,
        lambda message: any(phrase in message for phrase in LACKING),
    )
