#!/usr/bin/env node
/** ONNX Runtime Web as Node runs it: its CPU kernels, compiled to WebAssembly. */

import { serve, unavailable, Unsupported } from "./protocol.mjs";

const LEVELS = { none: "disabled", basic: "basic", extended: "extended", all: "all" };
// Its names of dtypes and the arrays it takes them as. Node 20 has no array of f16; the runtime takes their bits.
const TYPES = {
  f32: ["float32", Float32Array],
  f64: ["float64", Float64Array],
  f16: ["float16", globalThis.Float16Array ?? Uint16Array],
  i8: ["int8", Int8Array],
  i16: ["int16", Int16Array],
  i32: ["int32", Int32Array],
  i64: ["int64", BigInt64Array],
  u8: ["uint8", Uint8Array],
  u16: ["uint16", Uint16Array],
  u32: ["uint32", Uint32Array],
  u64: ["uint64", BigUint64Array],
  bool: ["bool", Uint8Array],
};
const DTYPES = Object.fromEntries(Object.entries(TYPES).map(([dtype, [name]]) => [name, dtype]));
// 9 is ONNX Runtime's NOT_IMPLEMENTED.
const LACKING = ["ERROR_CODE: 9,", "is not a registered function/op", "official support for domain"];

let ort;
try {
  ort = await import("onnxruntime-web/wasm");
} catch (error) {
  if (error.code !== "ERR_MODULE_NOT_FOUND") throw error;
  unavailable("there is no npm package `onnxruntime-web`; `scripts/node-env` installs it");
  process.exit();
}
ort.env.wasm.numThreads = 1;
ort.env.logLevel = "error";

async function load(model, level) {
  const options = { executionProviders: ["wasm"], graphOptimizationLevel: LEVELS[level], logSeverityLevel: 3 };
  const session = await ort.InferenceSession.create(model, options);
  return {
    async run(inputs) {
      const outputs = await session.run(mapValues(inputs, given));
      return mapValues(outputs, taken);
    },
    release: () => session.release(),
  };
}

function mapValues(object, change) {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}

/** A tensor of a request as the runtime takes it. */
function given({ dtype, shape, bytes }) {
  const [name, Elements] = TYPES[dtype];
  return new ort.Tensor(name, new Elements(bytes.buffer), shape);
}

/** An output as the protocol has it. */
function taken({ type, data, dims }, name) {
  if (!(type in DTYPES)) throw new Unsupported(`output \`${name}\` has dtype ${type}`);
  const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  return { dtype: DTYPES[type], shape: dims, bytes };
}

await serve(
  {
    engine: "onnxruntime_web",
    version: ort.env.versions.web,
    opset: 26,
    levels: Object.keys(LEVELS),
    dtypes: Object.fromEntries(Object.keys(TYPES).map((dtype) => [dtype, dtype])),
  },
  load,
  (message) => LACKING.some((phrase) => message.includes(phrase)),
);
