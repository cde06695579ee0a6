"""The worker's side of docs/worker-protocol.md: a runtime adapter calls `serve`.

It answers with what the runtime gives, in the dtype it has, and decides nothing.

Import it before anything else. From then on standard input and output belong to the protocol: whatever is printed, while a
library is imported too, goes to standard error, and whoever reads standard input finds it empty. So a process that has
imported it is a worker, and nothing else.

A runner in another repository needs this file, numpy and ml_dtypes. It finds the file beside itself, or in a checkout:

    onnxsmith fuzz --on 'cmd:env PYTHONPATH=/path/to/onnxsmith/adapters python mine_runner.py'
"""

import os

# First of all, before an import can print. Both are this process's alone: what it starts does not inherit them.
FRAMES_IN, FRAMES_OUT = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
os.dup2(2, 1)

# ruff: noqa: E402
import json
import signal
import sys
import time

import ml_dtypes
import numpy as np

VERSION = 1
# The kinds of inputs and outputs.
VALUES = ["tensor", "sequence", "optional", "optional sequence", "strings"]
THREADS = int(os.environ.get("ONNXSMITH_THREADS", "1"))
DTYPES = {
    name: np.dtype(dtype)
    for name, dtype in {
        "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
        "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
        "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    }.items()
}  # fmt: skip
# What a runner names besides in `dtypes` if its runtime takes arrays of ml_dtypes.
NARROW = {
    name: np.dtype(dtype)
    for name, dtype in {
        "i4": ml_dtypes.int4, "u4": ml_dtypes.uint4, "i2": ml_dtypes.int2, "u2": ml_dtypes.uint2,
        "f8e4m3fn": ml_dtypes.float8_e4m3fn, "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
        "f8e5m2": ml_dtypes.float8_e5m2, "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
        "f8e8m0": ml_dtypes.float8_e8m0fnu, "f4e2m1": ml_dtypes.float4_e2m1fn,
    }.items()
}  # fmt: skip
# The bits of elements of which several share a byte, the first in the lowest bits. An array gives each a byte.
SHARING = {"i4": 4, "u4": 4, "f4e2m1": 4, "i2": 2, "u2": 2}
NAMES = {dtype: name for name, dtype in (DTYPES | NARROW).items()}


class Unsupported(Exception):
    """The runtime, or its adapter, lacks something."""


class Unavailable(Exception):
    """The runtime cannot run here, for lack of what is said. Raise it before `serve`."""


def refuse(kind, error, trace):
    """What ends the runner before it serves: what it lacks is its answer to `hello`."""
    if issubclass(kind, ModuleNotFoundError):
        error = f"there is no Python package `{error.name}`; `scripts/python-env` installs what adapters need"
    elif not issubclass(kind, Unavailable):
        sys.__excepthook__(kind, error, trace)
        return
    FRAMES_IN.readline()
    send(FRAMES_OUT, {"type": "unavailable", "why": str(error)})


# A runner need not catch anything: a package that it imports may be what is lacking.
sys.excepthook = refuse


def serve(description, load, lacks=lambda message: False):
    """Serves a runtime until standard input ends.

    `description` holds the fields of `hello`. `load(model, level)` gives a function from inputs by name to outputs by
    name, as numpy arrays. The model is the bytes of a message, or the path of a file as a `str`, if `description["files"]`
    is true. A sequence is a list of arrays; an optional is what it holds, or `None`; strings are an array of `str`.
    None of these comes in unless `description["values"]` names it: `VALUES` is all. `lacks` tells a message that says "I do not have that" from one
    that finds fault.
    """
    for line in iter(FRAMES_IN.readline, b""):
        request = json.loads(line)
        if request["type"] == "hello":
            # All that this process has done so far is to load the runtime.
            hello = {"type": "hello", "protocol": VERSION, "seconds": time.process_time()}
            send(FRAMES_OUT, hello | description)
            continue
        model = request.get("file") or FRAMES_IN.read(request["model"])
        inputs = {header["name"]: value(header) for header in request["inputs"]}
        # Should the parent be gone, nobody else would end a worker that hangs.
        signal.alarm(request["timeout_ms"] // 1000 + 5)
        answer = run(request, description["levels"], model, inputs, load, lacks)
        signal.alarm(0)
        send(FRAMES_OUT, *answer)


def run(request, levels, model, inputs, load, lacks):
    """The reply to a request, and its blobs."""
    head = {"id": request["id"]}
    stage, started = "load", time.perf_counter()
    try:
        if request["level"] not in levels:
            raise Unsupported(f"no optimisation level `{request['level']}`")
        execute = load(model, request["level"])
        stage = "run"
        values = execute(inputs)
        seconds = time.perf_counter() - started
        blobs = []
        # What the runtime has lost is left out: that is its answer, and no error.
        given = [wanted for wanted in request["outputs"] if wanted["name"] in values]
        outputs = [blob(wanted, values[wanted["name"]], blobs) for wanted in given]
    except Unsupported as error:
        return ({"type": "unsupported", "why": str(error), "seconds": time.perf_counter() - started} | head,)
    except MemoryError:
        # The limit is the parent's. It reads the word where the process ends.
        raise
    except Exception as error:  # noqa: BLE001 - whatever a runtime raises is its answer
        seconds, message = time.perf_counter() - started, f"{type(error).__name__}: {error}"
        if isinstance(error, NotImplementedError) or lacks(message):
            return ({"type": "unsupported", "why": message, "seconds": seconds} | head,)
        return ({"type": "rejected", "stage": stage, "message": message, "seconds": seconds} | head,)
    except BaseException as error:
        # A panic of a runtime in Rust, which is no `Exception`.
        if type(error).__name__ != "PanicException":
            raise
        return ({"type": "panicked", "message": str(error), "seconds": time.perf_counter() - started} | head,)
    return {"type": "ok", "seconds": seconds, "outputs": outputs} | head, blobs


def in_order(inputs, values):
    """The values of the inputs that a runtime knows, for one that makes constants of those with a default."""
    if more := values.keys() - set(inputs):
        raise Unsupported(f"a value for an input with a default: {min(more)}")
    return [values[name] for name in inputs]


def value(header):
    """What a request says an input is, with the bytes that follow."""
    if "sequence" in header and "shape" in header:
        return strings(header)
    if "sequence" in header:
        return [value(item) for item in header["sequence"]]
    if "optional" in header:
        return next(map(value, header["optional"]), None)
    return array(header, FRAMES_IN.read(header["bytes"]))


def strings(header):
    """The array of strings that a request has the bytes of."""
    texts = [FRAMES_IN.read(item["bytes"]).decode(errors="surrogateescape") for item in header["sequence"]]
    return np.array([*texts, None], object)[:-1].reshape(header["shape"])


def array(blob, data):
    """The array that a blob of a request is; writeable, as some runtimes insist."""
    dtype, shape = (DTYPES | NARROW)[blob["dtype"]], blob["shape"]
    if bits := SHARING.get(blob["dtype"]):
        places = [np.frombuffer(data, np.uint8) >> place & (1 << bits) - 1 for place in range(0, 8, bits)]
        codes = np.stack(places, axis=-1).reshape(-1)[: int(np.prod(shape, dtype=np.int64))]
        return np.ascontiguousarray(codes).view(dtype).reshape(shape)
    return np.frombuffer(bytearray(data), dtype).reshape(shape)


def blob(wanted, value, blobs):
    """A value as the reply has it; its bytes are added to `blobs`."""
    name = wanted["name"]
    if wanted.get("kind", "tensor").startswith("optional"):
        held = [] if value is None else [content(name, value, blobs)]
        return {"name": name, "optional": held}
    if wanted.get("kind") == "strings":
        return {"name": name} | texts(name, value, blobs)
    return {"name": name} | content(name, value, blobs)


def content(name, value, blobs):
    """A tensor or a sequence of them."""
    if isinstance(value, list):
        return {"sequence": [part(name, item, blobs) for item in value]}
    return part(name, value, blobs)


def texts(name, value, blobs):
    """A tensor of strings."""
    value = np.asarray(value)
    if value.dtype.kind not in "OSUT":
        raise Unsupported(f"output `{name}` has dtype {value.dtype}")
    flat = [text if isinstance(text, bytes) else str(text).encode(errors="surrogateescape") for text in value.reshape(-1)]
    blobs.extend(flat)
    items = [{"dtype": "u8", "shape": [len(text)], "bytes": len(text)} for text in flat]
    return {"shape": list(value.shape), "sequence": items}


def part(name, value, blobs):
    """A tensor."""
    # A runtime may give a numpy scalar for a tensor without axes.
    if not isinstance(value, (np.ndarray, np.generic)):
        raise Unsupported(f"output `{name}` is a {type(value).__name__}")
    value = np.asarray(value, order="C")
    if value.dtype not in NAMES:
        raise Unsupported(f"output `{name}` has dtype {value.dtype}")
    dtype, data = NAMES[value.dtype], content_of(value)
    blobs.append(data)
    return {"dtype": dtype, "shape": list(value.shape), "bytes": len(data)}


def content_of(value):
    """The bytes of an array's elements, as a frame has them."""
    bits = SHARING.get(NAMES[value.dtype])
    return together(value, bits) if bits else value.tobytes()


def together(value, bits):
    """The bytes of elements of which several share one."""
    codes = value.reshape(-1).view(np.uint8) & (1 << bits) - 1
    codes = np.pad(codes, (0, -codes.size % (8 // bits))).reshape(-1, 8 // bits)
    return sum(codes[:, i] << i * bits for i in range(8 // bits)).astype(np.uint8).tobytes()


def send(frames, header, blobs=()):
    """Writes one frame."""
    frames.write(line_of(header) + b"\n" + b"".join(blobs))
    frames.flush()


def line_of(header):
    """The line of a header. Words of a runtime may hold bytes that are no text (`surrogateescape`); these become U+FFFD."""
    # JSON could write half a surrogate pair; whoever reads it strictly takes that for no JSON.
    text = json.dumps(header, ensure_ascii=False).encode("utf-16", errors="surrogatepass")
    return text.decode("utf-16", errors="replace").encode()
