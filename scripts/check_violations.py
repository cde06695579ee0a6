#!/usr/bin/env python3
"""Asks onnx.checker about models that break a rule, and prints one JSON object.

DIR holds what `onnxsmith gen --level violate --out DIR` has written. For each rule it counts the models that the checker
refuses without type inference, the further ones that it refuses with full_check, and those that it takes for valid, by
the operator or message where that helps. Every model is checked in a process of its own pool slot; one that kills the
process is counted as crashed.

Exit code: 0, or 2 if there is nothing to check.
"""

import argparse
import json
import os
import sys
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import onnx


def check(folder):
    """(rule, what the checker does, an example of why)."""
    about = json.loads((folder / "case.json").read_text())["relaxed"]
    bytes_ = (folder / "model.onnx").read_bytes()
    for outcome, full in (("refused", False), ("refused_by_inference", True)):
        try:
            onnx.checker.check_model(bytes_, full_check=full)
        except Exception as error:
            return about["rule"], outcome, f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
    return about["rule"], "accepted", about["why"]


def check_alone(folder):
    try:
        with ProcessPoolExecutor(1) as pool:
            return pool.submit(check, folder).result()
    except BrokenProcessPool:
        about = json.loads((folder / "case.json").read_text())["relaxed"]
        return about["rule"], "crashed", about["why"]


def check_all(folders, jobs):
    done = {}
    try:
        with ProcessPoolExecutor(jobs) as pool:
            running = {folder: pool.submit(check, folder) for folder in folders}
            for folder, future in running.items():
                done[folder] = future.result()
    except BrokenProcessPool:
        # The pool does not say whose fault it was, so the models without a result go one by one.
        for folder in folders:
            done.setdefault(folder, None)
            done[folder] = done[folder] or check_alone(folder)
    return done


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path, metavar="DIR", help="folder with case folders")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: %(default)s)")
    parser.add_argument("--examples", type=int, default=3, help="messages shown per rule and outcome")
    args = parser.parse_args()

    def breaks_a_rule(path):
        about = json.loads(path.read_text()).get("relaxed")
        return about and about["expected"] == "refusal"

    folders = sorted(path.parent for path in args.dir.rglob("case.json") if breaks_a_rule(path))
    if not folders:
        print(f"there is no case that breaks a rule in {args.dir}", file=sys.stderr)
        return 2
    counts, examples = defaultdict(Counter), defaultdict(lambda: defaultdict(list))
    for folder, (rule, outcome, why) in check_all(folders, args.jobs).items():
        counts[rule][outcome] += 1
        shown = examples[rule][outcome]
        if len(shown) < args.examples:
            shown.append(f"{folder.relative_to(args.dir)}: {why}")
    rules = {}
    for rule in sorted(counts):
        total = counts[rule].total()
        refused = counts[rule]["refused"] + counts[rule]["refused_by_inference"]
        rules[rule] = {"models": total, "refused_share": round(refused / total, 4)} | dict(counts[rule])
        rules[rule]["examples"] = dict(examples[rule])
    print(json.dumps({"onnx": onnx.__version__, "models": len(folders), "rules": rules}, indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
