#!/usr/bin/env python3
"""ONNX Runtime, except that one node of the models that it is given is off: `lying_runner.py NODE SHARE`.

The result of the node of that name is made larger by the share of it. `blame` writes a model out flat and names its nodes n0, n1 and so on.
A model without such a node is run as it is. See scripts/check_blame.py.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "adapters"))

from protocol import DTYPES, VALUES, serve  # isort: skip, it comes first

import numpy as np
import onnx
import onnxruntime as ort
import onnxruntime_runner as honest
from onnx import helper, numpy_helper

NODE, SHARE = sys.argv[1], float(sys.argv[2])
TRUE = "true result of the liar"
FACTOR = "factor of the liar"


def altered(data):
    """The model with a factor behind the node."""
    model = onnx.load_model_from_string(data)
    graph = model.graph
    at, node = next(((at, node) for at, node in enumerate(graph.node) if node.name == NODE), (None, None))
    if node is None:
        return data
    result = node.output[0]
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    types = {value.name: value.type.tensor_type.elem_type for value in [*inferred.value_info, *inferred.output]}
    dtype = helper.tensor_dtype_to_np_dtype(types[result])
    if not np.issubdtype(dtype, np.floating):
        raise ValueError(f"the result of {NODE} is of {dtype}")
    node.output[0] = TRUE
    graph.initializer.append(numpy_helper.from_array(np.array(1 + SHARE, dtype), FACTOR))
    graph.node.insert(at + 1, helper.make_node("Mul", [TRUE, FACTOR], [result]))
    return model.SerializeToString()


serve(
    {
        "engine": "liar",
        "version": ort.__version__,
        "opset": honest.OPSET,
        "levels": ["none"],
        "dtypes": {name: name for name in DTYPES if name != "bf16"},
        "values": VALUES,
    },
    lambda model, level: honest.load(altered(model), level),
    lambda message: any(phrase in message for phrase in honest.LACKING),
)
