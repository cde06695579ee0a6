#!/usr/bin/env python3
"""Compares onnxsmith's reading and printing of ONNX's text syntax with ONNX's own, which share no code.

The programs of the conformance suite (conformance/programs/) must pass ONNX's checker with strict shape inference, and both parsers
must read the same message from them, and from a text with all of the syntax. For each model below the folders given, such as the node tests of scripts/export_node_tests.py,
ONNX's parser must read from our text what the model says, and our parser what ONNX's reads from ONNX's text.
"""

import argparse
import collections
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
from onnx import AttributeProto, TensorProto, numpy_helper, parser, printer

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / "conformance" / "programs"
# All of the syntax; it is no model that runs.
SYNTAX = ROOT / "onnx" / "src" / "text" / "tests" / "standard.onnxtxt"
LEFT_OUT = "# left out:"
# What ONNX's parser takes for an empty list, without a word.
LOST_LISTS = {AttributeProto.TENSORS, AttributeProto.GRAPHS, AttributeProto.TYPE_PROTOS}


def ours_as_text(program, model):
    """A model file as our text."""
    shown = subprocess.run([program, "show", model, "--as", "program"], capture_output=True, text=True)
    if shown.returncode != 0:
        raise ValueError(f"show: {shown.stderr.strip()}")
    return shown.stdout


def ours_as_message(program, text):
    """The message that we read from a text."""
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "model.onnxtxt", Path(folder) / "case"
        file.write_text(text)
        shown = subprocess.run([program, "show", file, "--out", out], capture_output=True, text=True)
        if shown.returncode != 0:
            raise ValueError(f"our parser: {shown.stderr.strip()}")
        return onnx.load_model(out / "model.onnx", load_external_data=False)


def plain(message):
    """A message without its ways to say one thing in two ways: elements as bytes, nothing empty that might as well be absent."""
    if isinstance(message, TensorProto) and message.data_location != TensorProto.EXTERNAL:
        as_bytes(message)
    for field, value in message.ListFields():
        if field.message_type:
            for part in value if field.is_repeated else [value]:
                plain(part)
    for field in message.DESCRIPTOR.fields:
        is_text = field.type in (field.TYPE_STRING, field.TYPE_BYTES) and not field.is_repeated
        if is_text and not getattr(message, field.name) and not isinstance(message, AttributeProto):
            message.ClearField(field.name)
    return message


def as_bytes(tensor):
    """Elements as raw_data, except for strings."""
    if tensor.data_type in (TensorProto.STRING, TensorProto.UNDEFINED):
        return
    raw = numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data
    name = tensor.name
    plain = TensorProto(dims=tensor.dims, data_type=tensor.data_type, raw_data=raw, name=name)
    tensor.CopyFrom(plain)


def same(one, other):
    """Whether two messages are the same, byte for byte: NaN is not itself."""
    return one.SerializeToString(deterministic=True) == other.SerializeToString(deterministic=True)


def attributes(message):
    """All attributes in a message."""
    if isinstance(message, AttributeProto):
        yield message
    for field, value in message.ListFields():
        if field.message_type:
            for part in value if field.is_repeated else [value]:
                yield from attributes(part)


def check_text(program, file):
    """A text, which is read alike."""
    text = file.read_text()
    if not same(parser.parse_model(text), ours_as_message(program, text)):
        raise ValueError("ONNX's parser reads another message than ours")


def check_program(program, file):
    """A program of the conformance suite."""
    check_text(program, file)
    onnx.checker.check_model(parser.parse_model(file.read_text()), full_check=True)


def check_model(program, file):
    """A model of any tool. Gives what could not be compared."""
    model = onnx.load_model(file, load_external_data=False)
    if any(attribute.type in LOST_LISTS for attribute in attributes(model)):
        return "ONNX's parser loses lists of tensors, graphs and types"
    text = ours_as_text(program, file)
    if LEFT_OUT in text:
        return "our text leaves out something, and says so"
    if not same(plain(parser.parse_model(text)), plain(model)):
        raise ValueError("ONNX's parser reads another message from our text")
    theirs = printer.to_text(model)
    try:
        read = parser.parse_model(theirs)
    except Exception:  # noqa: BLE001: whatever it is, it is not ours.
        return "ONNX's parser does not read what ONNX's printer writes"
    if not same(read, ours_as_message(program, theirs)):
        raise ValueError("our parser reads another message from ONNX's text than ONNX's does")
    return None


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folders", nargs="*", type=Path)
    arguments.add_argument("--onnxsmith", type=Path, default=ROOT / "target" / "debug" / "onnxsmith")
    options = arguments.parse_args()
    checks = [(check_text, SYNTAX)]
    checks += [(check_program, file) for file in sorted(PROGRAMS.glob("*.onnxtxt"))]
    checks += [(check_model, file) for folder in options.folders for file in sorted(folder.rglob("model.onnx"))]
    compared, wrong, apart = 0, 0, collections.Counter()
    for check, file in checks:
        try:
            reason = check(options.onnxsmith, file)
        except Exception as error:  # noqa: BLE001: each model is a test of its own.
            wrong += 1
            print(f"{file}: {error}")
            continue
        compared += reason is None
        if reason:
            apart[reason] += 1
    for reason, count in apart.items():
        print(f"{count} not compared: {reason}")
    print(f"{compared} compared, {wrong} wrong")
    sys.exit(1 if wrong or not compared else 0)


if __name__ == "__main__":
    main()
