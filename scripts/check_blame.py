#!/usr/bin/env python3
"""Checks that `blame` names the node of a model that an engine gets wrong: the engine is scripts/lying_runner.py.

Of each model, ONNX Runtime is judged first as it is. Then one node of the first, of the middle and of the last tenth of the operators is off
by SHARE of its result: of those with floats that were right and are not exact, the one in the middle. It has to be the one that is wrong,
and the only one. Prints a table; the exit code is 1 where one was not named, or took more than a minute.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parent
MOST_SECONDS = 60
TENTHS = {"first": 0, "middle": 5, "last": 9}


def blame(program, model, runner):
    """The operators as they stand, and the seconds that it took."""
    command = [program, "blame", model, "--quiet", "--json", "--all", "--on", f"cmd:{sys.executable} {runner}"]
    started = time.monotonic()
    said = subprocess.run(command, capture_output=True, text=True)
    if not said.stdout:
        raise SystemExit(f"{model}: {said.stderr}")
    return json.loads(said.stdout)["targets"][0]["operators"], time.monotonic() - started


def chosen(operators, tenth):
    """The operator of a tenth that is to be off."""
    some = operators[len(operators) * tenth // 10 : max(len(operators) * (tenth + 1) // 10, 1)]
    floats = [operator for operator in some if operator["types"][0].startswith("f") and operator["standing"] == "right"]
    floats = [operator for operator in floats if operator["used"] > 0] or floats
    return floats[len(floats) // 2] if floats else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL")
    parser.add_argument("--onnxsmith", default="onnxsmith", metavar="FILE")
    parser.add_argument("--share", type=float, default=1e-3)
    options = parser.parse_args()
    tried = missed = 0
    print("| model | operators | altered, of the tenth | named | others that are wrong | seconds |\n|---|---:|---|---|---:|---:|")
    for model in options.models:
        honest, _ = blame(options.onnxsmith, model, SCRIPTS / "lying_runner.py none 0")
        before = {operator["node"] for operator in honest if operator["standing"] == "wrong"}
        for name, tenth in TENTHS.items():
            lie = chosen(honest, tenth)
            if lie is None:
                print(f"| {model.stem} | {len(honest)} | {name}: none has floats | | | |")
                continue
            runner = f"{SCRIPTS / 'lying_runner.py'} n{lie['node']} {options.share}"
            operators, seconds = blame(options.onnxsmith, model, runner)
            wrong = [operator["node"] for operator in operators if operator["standing"] == "wrong"]
            named = lie["node"] in wrong
            others = len(set(wrong) - {lie["node"]} - before)
            tried += 1
            missed += not named or others > 0 or seconds > MOST_SECONDS
            what = f"{name}: {lie['name'] or lie['node']} ({lie['op']})"
            print(f"| {model.stem} | {len(honest)} | {what} | {'yes' if named else 'no'} | {others} | {seconds:.1f} |", flush=True)
    # Where no model has anything to alter, nothing was tested.
    return 1 if missed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
