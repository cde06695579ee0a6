"""Models of the zoo as ONNX Runtime's own tools leave them: written out by its optimiser, or quantised. They have operators of its domain."""

import functools

import numpy as np
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

# Exports that the optimiser fuses operators of, at the highest level that is written for any machine.
OPTIMISED = ["encoder_script", "mobilenet_v2_script", "resnet_script", "swin_script", "vit_script"]
# Images, whose activations are quantised by what was seen of them: each operator computes on integers.
STATIC = ["mobilenet_v2_script", "resnet_script", "shufflenet_script"]
# Their activations are quantised as they come.
DYNAMIC = ["encoder_script", "lstm_script", "vit_script"]


class Samples(CalibrationDataReader):
    """Four batches of normal numbers. Sizes that the model leaves open are 2."""

    def __init__(self, session):
        rng = np.random.default_rng(0)

        def tensor(value):
            shape = [size if isinstance(size, int) else 2 for size in value.shape]
            return rng.standard_normal(shape).astype(np.float32)

        inputs = session.get_inputs()
        self.batches = iter([{value.name: tensor(value) for value in inputs} for _ in range(4)])

    def get_next(self):
        return next(self.batches, None)


def session(model, **options):
    """A session of a model on the processor, with what is set of its options."""
    chosen = onnxruntime.SessionOptions()
    for name, value in options.items():
        setattr(chosen, name, value)
    return onnxruntime.InferenceSession(str(model), chosen, providers=["CPUExecutionProvider"])


def optimise(base, file):
    level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    session(beside(file, base), graph_optimization_level=level, optimized_model_filepath=str(file))


def quantise(base, file):
    model = beside(file, base)
    quantize_static(
        model,
        file,
        Samples(session(model)),
        quant_format=QuantFormat.QOperator,
        activation_type=QuantType.QUInt8,
        weight_type=QuantType.QInt8,
    )


def quantise_as_it_goes(base, file):
    quantize_dynamic(beside(file, base), file)


def beside(file, name):
    """The file of another model of the zoo."""
    return file.parent / f"{name}.onnx"


def exports():
    """The models: a name, and what writes it to a file. Those that they are made of are there."""
    for bases, suffix, write in [
        (OPTIMISED, "optimised", optimise),
        (STATIC, "quantised", quantise),
        (DYNAMIC, "dynamic", quantise_as_it_goes),
    ]:
        for base in bases:
            yield f"{base}_{suffix}", functools.partial(write, base)
