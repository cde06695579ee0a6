#!/usr/bin/env python3
"""Writes models that NNSmith generates into OUT/cases, and OUT/nnsmith.json: each model with its nodes, and what could not be made.

This is what NNSmith's own command does (`nnsmith.model_gen model.type=onnx`) in one process for many seeds: generate a graph, search
inputs and weights along gradients, run it with PyTorch, export it to ONNX. A case is a folder as ONNX's backend tests have it:
model.onnx, the inputs that were found, and PyTorch's outputs; its case.json asks for derived bounds. Model N follows from seed N; it
has up to 4 to 23 operators, and every other one may have operators that are not defined everywhere (NNSmith calls them vulnerable).
Solver and searches have limits of time, so another machine, or a busy one, may get other numbers, and some other models.
"""

import argparse
import json
import logging
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

warnings.simplefilter("ignore")
# It tells which operators PyTorch does not have on which dtypes.
logging.disable(logging.CRITICAL)

# ruff: noqa: E402
from nnsmith.graph_gen import model_gen
from nnsmith.materialize import Model
from nnsmith.narrow_spec import auto_opset
from nnsmith.util import set_seed

FEWEST_NODES, NODES = 4, 20


def generated(kind, operators, seed):
    """A model of NNSmith's, exported, and what PyTorch gives for its inputs."""
    set_seed(seed)
    graph = model_gen(opset=operators, method="symbolic-cinit", seed=seed, max_nodes=FEWEST_NODES + seed % NODES)
    model = kind.from_gir(graph.make_concrete())
    model.refine_weights()
    return model, model.make_oracle()


def write(folder, model, oracle):
    """Writes a case. NNSmith names inputs and outputs as the model does."""
    exported = model.native_model
    onnx.checker.check_model(exported, full_check=True)
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(exported, str(folder / "model.onnx"))
    (folder / "case.json").write_text(json.dumps({"tolerance": "derived"}) + "\n")
    for kind, declared, values in [
        ("input", exported.graph.input, oracle.input),
        ("output", exported.graph.output, oracle.output),
    ]:
        for place, value in enumerate(declared):
            tensor = numpy_helper.from_array(np.asarray(values[value.name]), value.name)
            (data / f"{kind}_{place}.pb").write_bytes(tensor.SerializeToString())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder for cases and nnsmith.json")
    parser.add_argument("--count", type=int, default=200, help="how many models")
    args = parser.parse_args()
    cases = args.out / "cases"
    shutil.rmtree(cases, ignore_errors=True)

    kind = Model.init("onnx", backend_target="cpu")
    kind.add_seed_setter()
    operators = [auto_opset(kind, vulops=False), auto_opset(kind, vulops=True)]
    models, failed = [], []
    seed = 0
    while len(models) < args.count:
        name = f"{seed:03}"
        try:
            model, oracle = generated(kind, operators[seed % 2], seed)
            write(cases / name, model, oracle)
            nodes = [node.op_type for node in model.native_model.graph.node]
            models.append({"name": name, "searched": model.sat_inputs is not None, "nodes": nodes})
        except Exception as error:
            shutil.rmtree(cases / name, ignore_errors=True)
            failed.append({"name": name, "why": f"{type(error).__name__}: {error}".split("\n")[0]})
            if len(failed) > args.count:
                raise
        print(".", end="", file=sys.stderr, flush=True)
        seed += 1
    print(file=sys.stderr)
    (args.out / "nnsmith.json").write_text(json.dumps({"models": models, "failed": failed}, indent=1) + "\n")
    for entry in failed:
        print(f"seed {entry['name']}: {entry['why']}", file=sys.stderr)
    print(f"{len(models)} models, {len(failed)} could not be made; {sum(m['searched'] for m in models)} with inputs that were searched")


if __name__ == "__main__":
    main()
