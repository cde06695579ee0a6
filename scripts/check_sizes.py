#!/usr/bin/env python3
"""Runs each model of a folder that leaves sizes open at two sizes, and compares: batches of 1 and 3, lengths of 5 and 8.

Only sizes with such a name, and first axes without one, are said; the program draws others. Prints a line for each model that is not right
everywhere, and the totals. The exit code is 1 where a model is not read or something is wrong.
"""

import argparse
import collections
import json
import subprocess
import sys
from pathlib import Path

import onnx

SIZES = {"batch": (1, 3), "length": (5, 8), "past": (2, 7)}
FIRST = {"X[0]": (1, 3), "unk__214": (1, 3), "input[0]": (1, 3), "state[1]": (1, 3)}


def open_sizes(file):
    """The names that onnxsmith has for the sizes that a model leaves open."""
    graph = onnx.load(file, load_external_data=False).graph
    constants = {constant.name for constant in graph.initializer}
    for port in graph.input:
        if port.name not in constants:
            for axis, size in enumerate(port.type.tensor_type.shape.dim):
                if not size.HasField("dim_value"):
                    yield size.dim_param or f"{port.name}[{axis}]"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--onnxsmith", default="onnxsmith", metavar="FILE")
    parser.add_argument("--on", default="interp,cpu,ort:none", metavar="BACKENDS")
    options = parser.parse_args()
    outcomes, models, bad = collections.defaultdict(collections.Counter), 0, False
    for file in sorted(options.folder.glob("*.onnx")):
        said = sorted(name for name in set(open_sizes(file)) if name in SIZES | FIRST)
        models += bool(said)
        for which in (0, 1) if said else ():
            sizes = [f"{name}={(SIZES | FIRST)[name][which]}" for name in said]
            command = [options.onnxsmith, "run", file, "--on", options.on, "--json", "--quiet", "--timeout", "120s"]
            ran = subprocess.run([*command, *(word for size in sizes for word in ("--dim", size))], capture_output=True, text=True)
            if not ran.stdout:
                bad = True
                print(f"{file.stem}, {', '.join(sizes)}: {ran.stderr.strip()[:300]}", flush=True)
                continue
            result = json.loads(ran.stdout)
            for backend, counts in result["backends"].items():
                outcomes[backend].update(counts)
            bad |= ran.returncode == 1
            for case in result["not_passing"]:
                print(f"{file.stem}, {', '.join(sizes)}, {case['backend']}: {case['outcome']}: {case['why'][:300]}", flush=True)
    for backend, counts in outcomes.items():
        print(f"{backend}: {', '.join(f'{count} {outcome}' for outcome, count in counts.most_common() if count)}")
    print(f"{models} models at two sizes")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
