#!/usr/bin/env python3
"""Runs mutants that scripts/mutate_models.py has written, and says whether one crashes, hangs or fills the memory.

Fifty at a time are run by `onnxsmith run --on interp,cpu`, in a process whose address space is limited. Where that ends by a signal, takes
too long or too much memory, each of the fifty is run alone. What is found is listed: models at which the program itself is
ended, takes long or much, and those that a backend crashes on, hangs on or gets wrong. The exit code is 1 if there are any.
"""

import argparse
import collections
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TOGETHER = 50
# What a run may take in all before its models are run alone, and what one may.
SECONDS = 20
SECONDS_ALONE = 10
MIB = 2**20
FAULTS = {"crash", "timeout", "mismatch", "accepted", "slow"}


class Run:
    """One process: how it ended, what it said, how long it took and its peak of memory in MiB, that of its workers included."""

    def __init__(self, options, files, limit):
        command = [options.onnxsmith, "run", *files, "--on", options.on, "--json", "--quiet", "--jobs", "1"]
        started = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(command, stdout=out, stderr=err, preexec_fn=self.limit(options.most), start_new_session=True)
            signal.signal(signal.SIGALRM, lambda *_: os.killpg(process.pid, signal.SIGKILL))
            signal.alarm(limit)
            _, status, usage = os.wait4(process.pid, 0)
            signal.alarm(0)
            process.returncode = self.code = os.waitstatus_to_exitcode(status)
            self.seconds, self.peak = time.monotonic() - started, usage.ru_maxrss / 1024
            out.seek(0), err.seek(0)
            self.said, self.words = out.read(), err.read().decode(errors="replace")

    @staticmethod
    def limit(mib):
        return lambda: resource.setrlimit(resource.RLIMIT_AS, (mib * MIB, mib * MIB))

    def wrong(self, options, limit):
        """What is wrong with it, but for what the backends say."""
        if self.code == -signal.SIGKILL and self.seconds >= limit:
            return f"takes more than {limit} s"
        if self.code not in (0, 1, 2):
            return f"ends with {self.code}: {self.about()}"
        if self.peak > options.much:
            return f"takes {self.peak:.0f} MiB"
        return None

    def about(self):
        """The line that says why it ended."""
        lines = [line.strip() for line in self.words.splitlines() if line.strip()]
        telling = [line for line in lines if any(word in line for word in ("panicked", "memory allocation", "overflow"))]
        said = next(iter(telling + lines), "")
        frames = [line.split(": ", 1)[1] for line in lines if ": onnxsmith" in line or ": onnx" in line]
        return " < ".join([said, *frames[:3]])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("--onnxsmith", default="onnxsmith", metavar="FILE")
    parser.add_argument("--on", default="interp,cpu", metavar="BACKENDS")
    parser.add_argument("--time", type=int, default=600, metavar="SECONDS", help="start nothing after that")
    parser.add_argument("--first", type=int, default=0, metavar="N", help="pass over the first N")
    parser.add_argument("--most", type=int, default=8192, metavar="MIB", help="the address space that a process may take")
    parser.add_argument("--much", type=int, default=2048, metavar="MIB", help="the memory that one may take")
    options = parser.parse_args()
    files = sorted(options.folder.rglob("*.onnx"))[options.first :]
    started, ran, peak = time.monotonic(), 0, 0
    outcomes, found = collections.Counter(), []

    def take(run, alone):
        """Counts what a run says."""
        try:
            said = json.loads(run.said)
        except ValueError:
            outcomes["nothing said"] += alone
            return
        for backend in said["backends"].values():
            outcomes.update(backend)
        for case in said["not_passing"]:
            if case["outcome"] in FAULTS:
                found.append((case["case"], f"{case['backend']}: {case['outcome']}: {case['why'][:200]}"))

    for at in range(0, len(files), TOGETHER):
        if time.monotonic() - started > options.time:
            break
        some = files[at : at + TOGETHER]
        together = Run(options, some, SECONDS)
        ran += len(some)
        if not together.wrong(options, SECONDS):
            peak = max(peak, together.peak)
            take(together, False)
            continue
        for file in some:
            alone = Run(options, [file], SECONDS_ALONE)
            peak = max(peak, alone.peak)
            take(alone, True)
            if why := alone.wrong(options, SECONDS_ALONE):
                found.append((str(file), why))
                print(f"{file}: {why}", file=sys.stderr, flush=True)
    for file, why in found:
        print(f"{file}: {why}")
    counts = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common() if count)
    seconds = time.monotonic() - started
    print(f"{ran} of {len(files)} mutants in {seconds:.0f} s, at most {peak:.0f} MiB; on the backends: {counts}; {len(found)} found")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
