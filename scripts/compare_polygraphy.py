#!/usr/bin/env python3
"""Reduces cases with `onnxsmith reduce` and with Polygraphy's `debug reduce`, and prints what is left of each.

    python scripts/compare_polygraphy.py --onnxsmith target/release/onnxsmith --on rten case-1 case-2 …

Needs the PyPI packages polygraphy, onnx, onnx-graphsurgeon and onnxruntime. Polygraphy asks `onnxsmith run` whether a smaller
model still fails. It keeps no inputs: `run` finds some for each model. Printed are nodes, the elements of all inputs and
constants, and seconds; a finding is the same if it has the same signature.
"""

import argparse
import json
import math
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import onnx


def size(model_path):
    """Nodes, and elements of inputs and initialisers. Constants that are nodes count as initialisers."""
    graph = onnx.load(model_path).graph
    values = [node.attribute[0] for node in graph.node if node.op_type == "Constant"]
    constants = [value.t.dims for value in values if value.name == "value"] + [t.dims for t in graph.initializer]
    inputs = [[d.dim_value for d in value.type.tensor_type.shape.dim] for value in graph.input]
    return len(graph.node) - len(values), sum(math.prod(shape) for shape in constants + inputs)


def cell(result):
    """A result as a cell of the table."""
    return "–" if result is None else f"{result[0]} nodes, {result[1]} elements, {result[2]:.1f} s"


def ours(program, case, target, out):
    """What `onnxsmith reduce` leaves."""
    started = time.monotonic()
    command = [program, "reduce", case, "--on", target, "--out", out, "--json", "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, done.stderr.strip()
    return (*size(Path(out) / "model.onnx"), time.monotonic() - started), json.loads(done.stdout)["signature"]


def theirs(program, case, target, out):
    """What `polygraphy debug reduce` leaves."""
    started = time.monotonic()
    check = [Path(program).resolve(), "run", "polygraphy_debug.onnx", "--on", target, "--quiet"]
    command = [Path(sys.executable).parent / "polygraphy", "debug", "reduce", Path(case).resolve() / "model.onnx"]
    command += ["--output", out, "--mode", "bisect", "--check", *check]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if not Path(out).exists():
        return None, " ".join((done.stderr or done.stdout).strip().splitlines()[-1:])
    return (*size(out), time.monotonic() - started), ""


def signature(program, model, target):
    """The signature that a campaign would give to the finding of a model."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "reduced"
        command = [program, "reduce", model, "--on", target, "--out", out, "--tries", "0", "--json", "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["signature"] if done.returncode == 0 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--onnxsmith", required=True)
    parser.add_argument("--on", required=True, help="the engine")
    parser.add_argument("cases", nargs="+")
    args = parser.parse_args()
    print("| case | finding | before | onnxsmith | Polygraphy | its finding |\n|---|---|---|---|---|---|")
    for case in args.cases:
        findings = json.loads((Path(case) / "case.json").read_text())["findings"]
        target = f"{args.on}:{findings[0]['level']}"
        with tempfile.TemporaryDirectory() as folder:
            reduced, name = ours(args.onnxsmith, case, target, Path(folder) / "ours")
            model = Path(folder) / "theirs.onnx"
            poly, why = theirs(args.onnxsmith, case, target, model)
            kept = signature(args.onnxsmith, model, target) if poly else None
        same = "the same" if kept == name else kept or "none"
        before = size(Path(case) / "model.onnx")
        row = [Path(case).name, name, f"{before[0]}, {before[1]}", cell(reduced), cell(poly), why or same]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
