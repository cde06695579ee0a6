#!/usr/bin/env python3
"""IREE: its importer of ONNX, its compiler for the CPU, and its virtual machine."""

from protocol import DTYPES, Unsupported, in_order, serve  # isort: skip, it comes first

import os
import sys
import tempfile

import iree.compiler.extras.onnx_importer as importer
import numpy as np
import onnx
from iree import runtime
from iree.compiler.api import Output, Session, Source
from iree.compiler.ir import Context
from iree.compiler.version import VERSION

# The pipelines of `--iree-opt-level`.
LEVELS = {"none": "O0", "all": "O3"}
FLAGS = [
    "--iree-input-type=onnx",
    "--iree-hal-target-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
]
CONFIG = runtime.Config("local-sync")
ENTRY = "main_graph"


class Refused(Exception):
    """The compiler refuses a module; it says why on standard error."""


def imported(model):
    """The module in the dialect that the importer has for ONNX, as text."""
    proto = onnx.load_model_from_string(model)
    proto.graph.name = ENTRY
    # The importer takes the types of values from the model, and `iree-import-onnx` infers them like this.
    proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    try:
        info = importer.ModelInfo(proto)
        module = info.create_module(context=Context())
        importer.NodeImporter.define_function(info.main_graph, module.operation).import_all()
    except importer.OnnxImportError as error:
        raise Unsupported(str(error)) from error
    return str(module)


def compiled(text, level):
    """The bytes of the module for IREE's virtual machine."""
    session = Session()
    session.set_flags(*FLAGS, f"--iree-opt-level={LEVELS[level]}")
    with session.invocation() as invocation:
        invocation.enable_console_diagnostics()
        source = Source.wrap_buffer(session, text.encode())
        ran, said = listening(lambda: invocation.parse_source(source) and invocation.execute())
        if not ran:
            raise Refused(said)
        with Output.open_membuffer() as output:
            invocation.output_vm_bytecode(output)
            return bytes(output.map_memory())


def listening(work):
    """What comes of it, and what it says on standard error meanwhile: Python is told of diagnostics in no other way. It is said there
    as well, unless the process ends before.
    """
    with tempfile.TemporaryFile() as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        try:
            result = work()
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        file.seek(0)
        said = file.read().decode(errors="replace")
    sys.stderr.write(said)
    return result, said


def load(model, level):
    binary = compiled(imported(model), level)
    module = runtime.load_vm_module(runtime.VmModule.copy_buffer(CONFIG.vm_instance, binary), CONFIG)
    graph = onnx.load_model_from_string(model).graph
    given = {constant.name for constant in graph.initializer}
    inputs = [value.name for value in graph.input if value.name not in given]
    outputs = [value.name for value in graph.output]

    def execute(values):
        results = module[ENTRY](*in_order(inputs, values))
        results = results if isinstance(results, (tuple, list)) else [results]
        return {name: np.asarray(result.to_host()) for name, result in zip(outputs, results, strict=True)}

    return execute


if __name__ == "__main__":
    serve(
        {
            "engine": "iree",
            "version": VERSION,
            "levels": list(LEVELS),
            "dtypes": {name: name for name in DTYPES},
        },
        load,
        lambda message: "failed to legalize operation 'torch.operator'" in message,
    )
