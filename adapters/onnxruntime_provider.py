"""What adapters to one provider of ONNX Runtime share.

ONNX Runtime gives what a provider lacks to its CPU provider, and its Python package runs on that if the provider fails. Neither
may happen here, or it would be the CPU that is tested: a model that does not run on the provider as a whole is unsupported.
"""

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper
from onnxruntime_runner import LACKING, configure

LACKS = [
    *LACKING,
    "fallback to CPU EP has been explicitly disabled",
    # Neither has the CPU a kernel.
    "!node_provider_type.empty() was false",
]


def open_session(model, level, name, add):
    """A session that runs on one provider alone; `add` gives it to the options, or gives the list of providers."""
    options = configure(level)
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    session = ort.InferenceSession(model, options, providers=add(options), enable_fallback=0)
    if name not in session.get_providers():
        raise RuntimeError(f"the session runs on {session.get_providers()}")
    return session


def try_out(opened):
    """A session that has run one node. What stands in the way is then known before a case is sent."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "one", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = opened(model.SerializeToString(), "none")
    session.run(None, {"x": np.ones(1, np.float32)})
    return session
