/**
 * The worker's side of docs/worker-protocol.md in JavaScript: a runtime adapter calls `serve`.
 *
 * It answers with what the runtime gives, in the dtype it has, and decides nothing. Import it first: from then on what is printed
 * goes to standard error, as standard output belongs to the protocol.
 */

import fs from "node:fs";
import { Worker } from "node:worker_threads";

const VERSION = 1;
const [STDIN, STDOUT] = [0, 1];

console.log = console.info = console.debug = console.error;
// Node opens its own stream for standard output where somebody asks for it, and what is written then may fail for want of room.
Object.defineProperty(process, "stdout", { value: process.stderr });

// A thread that ends a process whose own thread hangs. Should the parent be gone, nobody else would.
const guard = new Worker(
  `const { parentPort } = require("node:worker_threads");
   let timer;
   parentPort.on("message", (time) => {
     clearTimeout(timer);
     if (time !== null) timer = setTimeout(() => process.kill(process.pid, "SIGKILL"), time);
   });`,
  { eval: true },
);
guard.unref();

/** The runtime, or its adapter, lacks something. */
export class Unsupported extends Error {}

/**
 * Serves a runtime until standard input ends.
 *
 * `description` holds the fields of `hello`. `load(model, level)` gives, some time, an object whose `run(inputs)` takes and gives
 * tensors by name, each as `{dtype, shape, bytes}`, and whose `release()` frees what it holds. `lacks(message)` tells a message
 * that says "I do not have that" from one that finds fault.
 */
export async function serve(description, load, lacks) {
  for (let line = readLine(); line !== null; line = readLine()) {
    const request = JSON.parse(line);
    if (request.type === "hello") {
      // All that this process has done so far is to load the runtime.
      const seconds = process.cpuUsage().user / 1e6;
      send({ type: "hello", protocol: VERSION, seconds, ...description });
      continue;
    }
    const model = read(request.model);
    const inputs = Object.fromEntries(
      request.inputs.map(({ name, dtype, shape, bytes }) => [name, { dtype, shape, bytes: read(bytes) }]),
    );
    guard.postMessage(request.timeout_ms + 5000);
    const reply = await answer(request, description.levels, model, inputs, load, lacks);
    guard.postMessage(null);
    send(...reply);
  }
}

/** The reply to a request, and its blobs. */
async function answer(request, levels, model, inputs, load, lacks) {
  const { id, level, outputs } = request;
  const started = process.hrtime.bigint();
  const seconds = () => Number(process.hrtime.bigint() - started) / 1e9;
  let stage = "load";
  let session;
  try {
    if (!levels.includes(level)) throw new Unsupported(`no optimisation level \`${level}\``);
    session = await load(model, level);
    stage = "run";
    const values = await session.run(inputs);
    // What the runtime has lost is left out: that is its answer, and no error.
    const given = outputs.filter(({ name }) => values[name]).map(({ name }) => ({ name, ...values[name] }));
    const headers = given.map(({ name, dtype, shape, bytes }) => ({ name, dtype, shape, bytes: bytes.length }));
    return [{ type: "ok", id, seconds: seconds(), outputs: headers }, given.map(({ bytes }) => bytes)];
  } catch (error) {
    return [{ id, seconds: seconds(), ...failure(error, stage, lacks) }];
  } finally {
    await session?.release();
  }
}

/** What an exception says. */
function failure(error, stage, lacks) {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof Unsupported || lacks(message)) return { type: "unsupported", why: message };
  // Memory is read or written where there is none, or code that cannot be reached is.
  if (error instanceof WebAssembly.RuntimeError) return { type: "panicked", message };
  return { type: "rejected", stage, message };
}

let pending = Buffer.alloc(0);

/** Waits for more; whether there is any. */
function receive() {
  const chunk = Buffer.alloc(1 << 16);
  const length = fs.readSync(STDIN, chunk);
  pending = Buffer.concat([pending, chunk.subarray(0, length)]);
  return length > 0;
}

/** So many bytes, at the start of memory of their own. */
export function read(length) {
  while (pending.length < length) {
    if (!receive()) throw new Error("standard input ends inside a frame");
  }
  const bytes = new Uint8Array(length);
  bytes.set(pending.subarray(0, length));
  pending = pending.subarray(length);
  return bytes;
}

/** A header, or null at the end. */
export function readLine() {
  let end;
  while ((end = pending.indexOf("\n")) < 0) {
    if (!receive()) return null;
  }
  const line = pending.subarray(0, end).toString();
  pending = pending.subarray(end + 1);
  return line;
}

/** Writes one frame. */
export function send(header, blobs = []) {
  const frame = Buffer.concat([Buffer.from(`${JSON.stringify(header, wellFormed)}\n`), ...blobs]);
  for (let sent = 0; sent < frame.length; ) sent += fs.writeSync(STDOUT, frame, sent);
}

/** A value of a header. JSON could write half a surrogate pair, as of a message that was cut; who reads it strictly refuses that. */
function wellFormed(_, value) {
  return typeof value === "string" ? Buffer.from(value).toString() : value;
}

/** The answer to `hello` of a runtime that cannot run here, for lack of what is said. */
export function unavailable(why) {
  readLine();
  send({ type: "unavailable", why });
}
