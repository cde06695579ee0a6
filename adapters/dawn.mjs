#!/usr/bin/env node
/**
 * Repeats launches of shaders by Dawn, whose compiler is Tint: `cargo xtask compilers` asks it.
 *
 * A request is a frame as in docs/worker-protocol.md: a line of JSON, then the shader in WGSL, what is bound for reading, and what is
 * bound behind that for writing. So is the answer: the latter memory as it is afterwards, or why there is none.
 */

import { globals, create } from "webgpu";
import { read, readLine, send } from "./protocol.mjs";

Object.assign(globalThis, globals);

// Nothing else keeps it, and Dawn ends with it. Of f16, which NVIDIA's driver has, it says nothing unless it is asked to.
globalThis.gpu = create(["enable-dawn-features=vulkan_enable_f16_on_nvidia"]);
const adapter = await globalThis.gpu.requestAdapter();
if (!adapter) {
  send({ trouble: "Dawn has no adapter" });
  process.exit();
}
// What our shaders enable where an adapter has it.
const requiredFeatures = ["shader-f16", "subgroups"].filter((feature) => adapter.features.has(feature));
const device = await adapter.requestDevice({ requiredFeatures, requiredLimits: limits(adapter) });
const { vendor, architecture, device: name, description } = adapter.info;
send({ adapter: [vendor, architecture, name, description].filter(Boolean).join(", ") });

/** All that the adapter can do, as our own backend asks for. */
function limits({ limits }) {
  const names = ["maxBufferSize", "maxStorageBufferBindingSize", "maxStorageBuffersPerShaderStage"];
  return Object.fromEntries(names.map((limit) => [limit, limits[limit]]));
}

const pipelines = new Map();

/** The pipeline of a shader, compiled once. Each binding but the last is read only. */
function pipeline(wgsl, bindings) {
  const key = `${bindings} ${wgsl}`;
  if (!pipelines.has(key)) {
    const entries = Array.from({ length: bindings }, (_, binding) => ({
      binding,
      visibility: GPUShaderStage.COMPUTE,
      buffer: { type: binding + 1 < bindings ? "read-only-storage" : "storage" },
    }));
    const group = device.createBindGroupLayout({ entries });
    const layout = device.createPipelineLayout({ bindGroupLayouts: [group] });
    const module = device.createShaderModule({ code: wgsl });
    const made = device.createComputePipelineAsync({ layout, compute: { module, entryPoint: "main" } });
    const refused = async (error) => {
      const { messages } = await module.getCompilationInfo();
      throw messages.length > 0 ? new Error(messages[0].message) : error;
    };
    pipelines.set(key, made.then((pipeline) => ({ pipeline, group }), refused));
  }
  return pipelines.get(key);
}

function buffer(usage, bytes) {
  const made = device.createBuffer({ size: bytes.length, usage, mappedAtCreation: true });
  new Uint8Array(made.getMappedRange()).set(bytes);
  made.unmap();
  return made;
}

/** The memory that a launch writes, as it is afterwards. */
async function launch({ workgroups }, wgsl, memory) {
  const { pipeline: compiled, group: layout } = await pipeline(wgsl, memory.length);
  const buffers = memory.map((bytes) => buffer(GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC, bytes));
  const entries = buffers.map((buffer, binding) => ({ binding, resource: { buffer } }));
  const group = device.createBindGroup({ layout, entries });
  const written = buffers.at(-1);
  const staging = device.createBuffer({
    size: written.size,
    usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST,
  });
  const encoder = device.createCommandEncoder();
  const pass = encoder.beginComputePass();
  pass.setPipeline(compiled);
  pass.setBindGroup(0, group);
  pass.dispatchWorkgroups(...workgroups);
  pass.end();
  encoder.copyBufferToBuffer(written, 0, staging, 0, written.size);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const bytes = new Uint8Array(staging.getMappedRange()).slice();
  [...buffers, staging].forEach((buffer) => buffer.destroy());
  return bytes;
}

for (let line = readLine(); line !== null; line = readLine()) {
  const request = JSON.parse(line);
  const wgsl = Buffer.from(read(request.wgsl)).toString();
  const memory = request.memory.map(read);
  device.pushErrorScope("validation");
  const ran = await launch(request, wgsl, memory).catch((error) => error);
  const error = await device.popErrorScope();
  if (error || ran instanceof Error) {
    send({ trouble: (error ?? ran).message });
  } else {
    send({ memory: ran.length }, [ran]);
  }
}
// Dawn's own threads would keep the process.
process.exit();
