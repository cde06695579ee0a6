#!/usr/bin/env python3
"""Checks ONNX models with ONNX's own tools and prints one JSON object.

Every model under DIR must pass onnx.checker with full_check. Then the types the model declares for its values are
removed, inferred again by strict shape inference, and compared with what was declared. With --ort, ONNX Runtime must
load the model too; that it lacks a kernel for an operator and dtype, or that its only kernel does not take the values of
some attributes (see KERNEL_LIMITS), is counted, any other refusal is a failure.

Exit code: 0 all good, 1 some model failed, 2 nothing to check.
"""

import argparse
import json
import os
import re
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import onnx
from onnx import TensorProto

NO_KERNEL = re.compile(
    r"NOT_IMPLEMENTED : (?:Could not find an implementation|Failed to find kernel) for (?P<op>\w+)\(\d+\) "
    r"(?:node with name |\(node:)'(?P<name>[^']*)'"
)

# What ONNX Runtime says that it is too old for, or does not have at all. By whom it was refused is in the words.
DECLARED_LIMITS = {
    "opset": re.compile(r"ValidateOpsetForDomain.*is under development and support for this is limited", re.DOTALL),
    "IR version": re.compile(r"Unsupported model IR version"),
    "ai.onnx.preview": re.compile(r"ai\.onnx\.preview\S* is not a registered function/op"),
    "recurrent (layout 1)": re.compile(r"Batchwise recurrent operations \(layout == 1\) are not supported"),
    # It asks the system for the locale, whose language may not be installed.
    "StringNormalizer (locale)": re.compile(r"Failed to construct locale with name"),
}

# Where ONNX's own shape inference is wrong by ONNX's text: such a model is checked without it.
INFERENCE_LIMITS = {
    # The attribute has the sizes behind batch and channels; inference takes them for all sizes.
    "ConvTranspose(output_shape)": re.compile(r"op_type:ConvTranspose\b.*existing shape differ in rank", re.DOTALL),
    # The function's body takes `axes` from the node; where that has its default, the Constant in the body is left without a value.
    "MeanVarianceNormalization(axes by default)": re.compile(
        r"op_type:MeanVarianceNormalization\b.*op_type:Constant\b.*One and only one of the attributes", re.DOTALL
    ),
    # `onesided` is 1 by default; inference takes it for 0 where the node does not say it.
    "STFT(onesided by default)": re.compile(r"op_type:STFT\b.*existing shape differ in dimension 2", re.DOTALL),
}

# What the standard allows but the kernel of ONNX Runtime refuses when it is made, whatever the dtype. An entry needs the
# standard's word for it; an error about a type or a shape is never one.
KERNEL_LIMITS = {
    # LRN's text rounds (size - 1) / 2 down for the channels before and up for those after, so that even sizes work.
    "LRN(even size)": re.compile(r"LRN<T>::LRN\(.*size_ % 2 == 1 was false"),
    # The pools' text: a pad "can take any value greater than or equal to 0". The kernel wants less than kernel_shape,
    # dilations left out of account.
    "Pool(pad not below kernel_shape)": re.compile(r"PoolAttributes::PoolAttributes\(.*Pad should be smaller than kernel"),
}


def stripped(model):
    """A copy of the model that declares nothing that inference can find out; output dtypes must stay."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    del copy.graph.value_info[:]
    for output in copy.graph.output:
        if output.type.HasField("tensor_type"):
            output.type.tensor_type.ClearField("shape")
    return copy


def types(graph):
    """The tensor types of the values and outputs of a graph, by name."""
    values = [*graph.value_info, *graph.output]
    return {value.name: value.type.tensor_type for value in values if value.type.HasField("tensor_type")}


def show(tensor_type):
    dims = [dim.WhichOneof("value") and getattr(dim, dim.WhichOneof("value")) for dim in tensor_type.shape.dim]
    shape = dims if tensor_type.HasField("shape") else "of unknown rank"
    return f"{TensorProto.DataType.Name(tensor_type.elem_type)} {shape}"


def compare(declared, inferred):
    """'equal', 'partly' where inference does not know all that was declared, or 'different'."""
    if declared.elem_type != inferred.elem_type:
        return "different"
    if not declared.HasField("shape") or not inferred.HasField("shape"):
        return "partly"
    if len(declared.shape.dim) != len(inferred.shape.dim):
        return "different"
    partly = False
    for want, got in zip(declared.shape.dim, inferred.shape.dim):
        if not (want.HasField("dim_value") and got.HasField("dim_value")):
            partly = True
        elif want.dim_value != got.dim_value:
            return "different"
    return "partly" if partly else "equal"


def check_inference(model, counts, failures):
    """Compares inferred with declared types. Returns the inferred model."""
    inferred_model = onnx.shape_inference.infer_shapes(
        stripped(model), check_type=True, strict_mode=True, data_prop=True
    )
    inferred = types(inferred_model.graph)
    declared = types(model.graph)
    for name, want in declared.items():
        if name not in inferred:
            counts["values_not_inferred"] += 1
            continue
        outcome = compare(want, inferred[name])
        counts[f"values_{outcome}"] += 1
        if outcome == "different":
            why = f"`{name}` is declared {show(want)} but inferred {show(inferred[name])}"
            failures.append({"stage": "inference", "why": why})
    counts["values_undeclared"] += len(inferred.keys() - declared.keys())
    return inferred_model


def missing_kernel(message, model):
    """'Op(dtypes)' of the node that ONNX Runtime has no kernel for, or the limit of the kernel that it has; None if the
    message says something else."""
    for limit, pattern in (DECLARED_LIMITS | KERNEL_LIMITS).items():
        if pattern.search(message):
            return limit
    match = NO_KERNEL.search(message)
    if not match:
        return None
    graph = model.graph
    elem_types = {name: t.elem_type for name, t in types(graph).items()}
    elem_types |= {value.name: value.type.tensor_type.elem_type for value in graph.input}
    elem_types |= {tensor.name: tensor.data_type for tensor in graph.initializer}
    rows = {
        ",".join(TensorProto.DataType.Name(elem_types.get(name, 0)) for name in node.input)
        for node in graph.node
        if (node.op_type, node.name) == (match["op"], match["name"])
    }
    # Several unnamed nodes may fit; the message does not say which of them it was.
    return f"{match['op']}({' or '.join(sorted(rows)) or 'in a function or subgraph'})"


def check_ort(path, model, counts, failures):
    """Loads the model in ONNX Runtime. Returns the missing kernel, if that is why it refuses."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(4)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    # What counts is whether the model is accepted; the optimiser has faults of its own (see corpus/).
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    except Exception as error:
        kernel = missing_kernel(str(error), model)
        if kernel is None:
            counts["ort_refused"] += 1
            failures.append({"stage": "ort", "why": f"{type(error).__name__}: {error}"})
        else:
            counts["ort_not_implemented"] += 1
        return kernel
    counts["ort_loaded"] += 1
    return None


def has_output_shape(function):
    """Whether a ConvTranspose of a function has the attribute. Its sizes mislead inference further on, which then names other nodes."""
    return any(
        node.op_type == "ConvTranspose" and any(attribute.name == "output_shape" for attribute in node.attribute)
        for node in function.node
    )


def check_whole(path, counts):
    """Checks a model, with shape inference where that is right. Returns whether it was."""
    # onnx.proto says that such an initializer is "stored in sparse format". Inference takes it for a value of a sparse type, which no
    # operator takes.
    if onnx.load(path, load_external_data=False).graph.sparse_initializer:
        onnx.checker.check_model(str(path))
        counts["inference_limits"] += 1
        return False
    try:
        onnx.checker.check_model(str(path), full_check=True)
    except onnx.shape_inference.InferenceError as error:
        functions = onnx.load(path, load_external_data=False).functions
        is_known = any(pattern.search(str(error)) for pattern in INFERENCE_LIMITS.values())
        if not is_known and not any(map(has_output_shape, functions)):
            raise
        onnx.checker.check_model(str(path))
        counts["inference_limits"] += 1
        return False
    return True


def check(path, ort):
    """Counts, failures and the missing kernel of one model."""
    counts, failures, kernel, stage = Counter(), [], None, "checker"
    try:
        is_inferred = check_whole(path, counts)
        stage = "inference"
        model = onnx.load(path, load_external_data=False)
        inferred = check_inference(model, counts, failures) if is_inferred else model
        stage = "ort"
        if ort:
            kernel = check_ort(path, inferred, counts, failures)
    except Exception as error:
        failures.append({"stage": stage, "why": f"{type(error).__name__}: {error}"})
    return counts, failures, kernel


def check_all(paths, jobs, ort):
    """Yields (path, result of check). A model that kills its process fails alone."""
    done = set()
    try:
        with ProcessPoolExecutor(jobs) as pool:
            running = {pool.submit(check, path, ort): path for path in paths}
            for future in as_completed(running):
                result = future.result()
                done.add(running[future])
                yield running[future], result
    except BrokenProcessPool:
        # The pool does not say whose fault it was, so the models without a result go one by one.
        for path in paths:
            if path not in done:
                yield path, check_alone(path, ort)


def check_alone(path, ort):
    try:
        with ProcessPoolExecutor(1) as pool:
            return pool.submit(check, path, ort).result()
    except BrokenProcessPool:
        return Counter(), [{"stage": "process", "why": "it died: killed by a signal, or out of memory"}], None


def case_name(path, root):
    relative = path.relative_to(root)
    return str(relative.parent if relative.name == "model.onnx" and relative != Path("model.onnx") else relative)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=Path, metavar="DIR", help="folder with case folders or .onnx files")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes (default: %(default)s)")
    parser.add_argument("--ort", action="store_true", help="also load every model in ONNX Runtime")
    args = parser.parse_args()

    paths = sorted(args.dir.rglob("*.onnx"))
    if not paths:
        print(f"there is no .onnx file in {args.dir}", file=sys.stderr)
        return 2
    counts, failures, kernels = Counter(), [], Counter()
    for path, (more, failed, kernel) in check_all(paths, args.jobs, args.ort):
        counts.update(more)
        counts["failed" if failed else "passed"] += 1
        failures += [{"case": case_name(path, args.dir)} | failure for failure in failed]
        if kernel:
            kernels[kernel] += 1
    keys = ["passed", "failed", "values_equal", "values_partly", "values_different", "values_not_inferred"]
    keys += ["values_undeclared", "inference_limits"]
    if args.ort:
        keys += ["ort_loaded", "ort_not_implemented", "ort_refused"]
    summary = {"onnx": onnx.__version__, "models": len(paths)} | {key: counts[key] for key in keys}
    if args.ort:
        summary["missing_kernels"] = dict(sorted(kernels.items()))
    summary["failures"] = sorted(failures, key=lambda f: (f["case"], f["stage"], f["why"]))
    print(json.dumps(summary, indent=2))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
