#!/usr/bin/env python3
"""Writes mutated copies of ONNX models, to see that no file can crash or hang a reader.

Every .onnx file under the given folders is a donor. Each mutant is a donor with 1 to 20 edits, few more often than
many. Every other mutant is edited as plain bytes: a byte flipped, set, inserted or deleted, a run of bytes deleted,
duplicated or copied elsewhere, a large number put in. Hardly any of these is a protobuf message still, so the rest
are edited as trees of protobuf fields: fields deleted, duplicated, moved or renumbered, their numbers changed, the
bytes of their strings edited as above; then all lengths are made right. The same seed, donors and count give the
same mutants. They are written as OUT/000/000000.onnx and so on, 1000 to a folder.

Try them with

    scripts/run_mutants.py OUT

which checks that the exit code is at most 2 (files that cannot be read are named, and counted as broken), and that no case is a crash
or a timeout.
"""

import argparse
import random
import shutil
import sys
from pathlib import Path

MAX_EDITS = 20
MAX_RUN = 64
MAX_DEPTH = 8
# Larger donors are mostly weights, in which an edit changes nothing but a number.
MAX_DONOR_BYTES = 100_000
# Where sizes overflow, or just do not.
NUMBERS = [0, 1, 2, 13, 64, 255, 2**16, 2**20, 2**31 - 1, 2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1]
VARINT, FIXED64, MESSAGE, FIXED32 = 0, 1, 2, 5


def varint(number):
    """The bytes of a number."""
    number %= 2**64
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def read_varint(data, at):
    """The number at a place and where it ends; IndexError if it does not."""
    number = shift = 0
    while True:
        byte = data[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return number, at


def parse(data, depth=0):
    """The fields of a message as [number, wire type, content] lists; None if it is no message.

    What could be a message is taken for one, so that a string may be too: written again it is the same.
    """
    fields, at = [], 0
    try:
        while at < len(data):
            start = at
            tag, at = read_varint(data, at)
            number, wire = tag >> 3, tag & 7
            if number == 0 or varint(tag) != data[start:at]:
                return None
            if wire == VARINT:
                start = at
                content, at = read_varint(data, at)
                if varint(content) != data[start:at]:
                    return None
            else:
                start = at
                length, start = read_varint(data, at) if wire == MESSAGE else ({FIXED64: 8, FIXED32: 4}[wire], at)
                content, at = data[start : start + length], start + length
                if len(content) != length:
                    return None
                inner = parse(content, depth + 1) if wire == MESSAGE and content and depth < MAX_DEPTH else None
                content = content if inner is None else inner
            fields.append([number, wire, content])
    except (IndexError, KeyError):
        return None
    return fields


def encode(fields):
    """The bytes of a message, its lengths right."""
    out = bytearray()
    for number, wire, content in fields:
        out += varint(number << 3 | wire)
        if wire == VARINT:
            out += varint(content)
            continue
        content = encode(content) if isinstance(content, list) else content
        out += (varint(len(content)) if wire == MESSAGE else b"") + content
    return bytes(out)


def edit_bytes(data, rng):
    """Changes a bytearray in one place."""
    at = rng.randrange(len(data)) if data else 0
    run = slice(at, at + rng.randint(1, MAX_RUN))
    match rng.choice(["flip", "set", "insert", "delete", "cut", "duplicate", "number", "copy"]):
        case "flip" if data:
            data[at] ^= 1 << rng.randrange(8)
        case "set" if data:
            data[at] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
        case "delete" if data:
            del data[at]
        case "cut":
            del data[run]
        case "duplicate":
            data[at:at] = data[run]
        case "number":
            data[at : at + 1] = varint(rng.choice(NUMBERS))
        case "copy":
            to = rng.randrange(len(data) + 1)
            data[to:to] = data[run]
        case _:
            data.insert(at, rng.randrange(256))


def messages(fields):
    """A message and all inside it."""
    yield fields
    for _, _, content in fields:
        if isinstance(content, list):
            yield from messages(content)


def edit_fields(fields, rng):
    """Changes a message, or one inside it, in one place."""
    all_messages = [m for m in messages(fields) if m]
    if not all_messages:
        return
    message = rng.choice(all_messages)
    at = rng.randrange(len(message))
    number, wire, content = message[at]
    # What fields hold is changed more often than where they are, which soon makes a model fall apart.
    match rng.choice(["content"] * 6 + ["delete", "duplicate", "move", "renumber"]):
        case "delete":
            del message[at]
        case "duplicate":
            message.insert(at, [number, wire, content])
        case "move":
            rng.choice(all_messages).append([number, wire, content if wire == VARINT else encode_content(content)])
        case "renumber":
            message[at][0] = rng.randint(1, 16)
        case _ if wire == VARINT:
            message[at][2] = rng.choice([content + 1, content - 1, -content, rng.choice(NUMBERS)])
        case _:
            data = bytearray(encode_content(content))
            edit_bytes(data, rng)
            if wire != MESSAGE:
                data = data.ljust(len(content), b"\0")[: len(content)]
            message[at][2] = bytes(data)


def encode_content(content):
    return encode(content) if isinstance(content, list) else content


def mutant(data, rng, whole):
    """A mutated copy; `whole` keeps it a protobuf message."""
    edits = min(MAX_EDITS, 1 + int(rng.expovariate(0.4)))
    fields = parse(data) if whole else None
    if fields is None:
        data = bytearray(data)
        for _ in range(edits):
            edit_bytes(data, rng)
        return bytes(data)
    for _ in range(edits):
        edit_fields(fields, rng)
    return encode(fields)


def mutants(donors, count, seed):
    """Yields the bytes of each mutant."""
    for index in range(count):
        rng = random.Random(f"{seed}/{index}")
        yield mutant(rng.choice(donors), rng, whole=index % 2 == 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="folders", nargs="+", type=Path, required=True, metavar="DIR")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--beside", nargs="*", type=Path, default=[], metavar="FILE", help="files that belong to donors, such as external data"
    )
    args = parser.parse_args()
    paths = sorted(path for folder in args.folders for path in folder.rglob("*.onnx"))
    donors = [path.read_bytes() for path in paths if path.stat().st_size <= MAX_DONOR_BYTES]
    if not donors:
        print(f"there is no .onnx file of at most {MAX_DONOR_BYTES} bytes to start from", file=sys.stderr)
        return 2
    for index, data in enumerate(mutants(donors, args.count, args.seed)):
        folder = args.out / f"{index // 1000:03}"
        if index % 1000 == 0:
            folder.mkdir(parents=True, exist_ok=True)
            for file in args.beside:
                shutil.copyfile(file, folder / file.name)
        (folder / f"{index:06}.onnx").write_bytes(data)
    print(f"{args.count} mutants of {len(donors)} models in {args.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
