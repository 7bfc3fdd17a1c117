// Runs a plan that `expandlab shaders` wrote, with WebGPU's own calls and nothing else.
//
//   import { open } from "./player.js";
//   const player = await open(".");                            // reads plan.json and the shaders beside it
//   player.write("counts", new Uint32Array([3, 1, 2]));
//   player.writeParams({ src_count: 3, capacity: player.plan.max_dst });
//   const passes = await player.run();                         // [{ name, ms }], ms null without a timer
//   const src = await player.read("out_src", 6);
//
// Everything that goes wrong rejects with an Error that says what.

const BINDING = { uniform: "uniform", storage: "storage", "read-only-storage": "read-only-storage" };

// Open a plan by its address: fetches it and its shaders, and asks for a device.
export async function open(folder, options = {}) {
  const text = async (name) => {
    const answer = await fetch(`${folder}/${name}`);
    if (!answer.ok) throw new Error(`${folder}/${name}: ${answer.status} ${answer.statusText}`);
    return answer.text();
  };
  const plan = JSON.parse(await text("plan.json"));
  const names = [...new Set(plan.passes.map((pass) => pass.shader))];
  const shaders = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await text(name)])));
  return create(plan, shaders, options);
}

// Make a player from a plan and the texts of its shaders. options.device: a GPUDevice of the caller's. options.buffers:
// buffers of the caller's, by name, to be used instead of the plan's own.
export async function create(plan, shaders, options = {}) {
  if (plan.format !== "expandlab-plan-1") throw new Error(`plan: its format is ${plan.format}, not expandlab-plan-1`);
  const device = options.device ?? (await requestDevice(plan));
  const player = new Player(device, plan, shaders, options.buffers ?? {});
  await player.prepare();
  return player;
}

const WANTED = ["timestamp-query", "subgroups"];

export async function requestAdapter() {
  if (!globalThis.navigator?.gpu) {
    throw new Error(
      globalThis.isSecureContext === false
        ? "this page has no WebGPU: browsers have it for pages from https or from 127.0.0.1 alone"
        : "this browser has no WebGPU (navigator.gpu); use a newer one, or switch it on",
    );
  }
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw new Error("WebGPU found no adapter in this browser");
  return adapter;
}

// What `requestDevice` asks an adapter for.
export const wantedFeatures = (adapter) => WANTED.filter((feature) => adapter.features.has(feature));

// A device with WebGPU's default limits, a timer and subgroups where the adapter has them.
export async function requestDevice(plan = { needs: [] }) {
  const adapter = await requestAdapter();
  // The names of what WebGPU does not have are not among the browser's features.
  const missing = (plan.needs ?? []).filter((feature) => !adapter.features.has(feature));
  if (missing.length) throw new Error(`${plan.name}: needs ${missing.join(", ")}, which this browser's WebGPU lacks`);
  return adapter.requestDevice({ requiredFeatures: [...wantedFeatures(adapter), ...(plan.needs ?? [])] });
}

// Modules and pipelines of each device: compiling takes far longer than running, so it is done once for a page.
const compiled = new WeakMap();

function kept(device, key, make) {
  if (!compiled.has(device)) compiled.set(device, new Map());
  const known = compiled.get(device);
  if (!known.has(key)) {
    const made = make();
    known.set(key, made);
    made.catch(() => known.delete(key));
  }
  return known.get(key);
}

// A shader that does not compile: which, and where.
export class ShaderFault extends Error {
  constructor(shader, line, column, text) {
    super(`${shader}:${line}: ${text}`);
    Object.assign(this, { shader, line, column, text });
  }
}

// Browsers coarsen timestamps. Each one is a multiple of the step, so the step is their greatest common divisor.
class Clock {
  constructor() {
    this.divisor = 0n;
    this.seen = new Set();
  }

  note(ticks) {
    for (const tick of ticks) {
      if (tick && this.seen.size < 64) this.seen.add(tick);
      let [a, b] = [this.divisor, tick];
      while (b) [a, b] = [b, a % b];
      this.divisor = a;
    }
  }

  // In ns; null while too few different stamps have been seen to tell.
  get step() {
    return this.seen.size < 6 ? null : Number(this.divisor);
  }
}

const clocks = new WeakMap();

// The step in ns to which this device's timestamps are coarsened, or null before it is known.
export const timerStep = (device) => clocks.get(device)?.step ?? null;

function noted(device, ticks) {
  if (!clocks.has(device)) clocks.set(device, new Clock());
  clocks.get(device).note(ticks);
  return ticks;
}

const spanOf = (ticks, at) => {
  const span = ticks[2 * at + 1] - ticks[2 * at];
  return span > 0n ? Number(span) / 1e6 : 0;
};

export class Player {
  constructor(device, plan, shaders, external = {}) {
    this.device = device;
    this.plan = plan;
    this.shaders = shaders;
    this.external = external;
  }

  // Make buffers, pipelines and bind groups, once. Called by `create`.
  async prepare() {
    await this._watched("preparing the passes", async () => {
      this.sizes = new Map(this.plan.buffers.map((item) => [item.name, item.bytes]));
      this.buffers = new Map(this.plan.buffers.map((item) => [item.name, this.external[item.name] ?? this._buffer(item)]));
      const made = Object.entries(this.shaders).map(async ([name, text]) => [name, await this._module(name, text)]);
      const modules = new Map(await Promise.all(made));
      this.passes = await Promise.all(this.plan.passes.map((item) => this._pass(item, modules.get(item.shader))));
    });
  }

  // Write 32-bit words, from the beginning of a buffer on.
  write(name, words) {
    const buffer = this._known(name);
    if (words.byteLength > buffer.size) {
      throw new Error(`${name}: ${words.byteLength} bytes, and the plan has room for ${buffer.size}`);
    }
    if (words.byteLength) this.device.queue.writeBuffer(buffer, 0, words);
  }

  // Write the plan's parameters: those that are left out have the values of the plan.
  writeParams(given) {
    const { fields, values } = this.plan.inputs.params;
    const known = { ...values, ...given };
    const missing = fields.filter((field) => known[field] === undefined);
    if (missing.length) throw new Error(`params: no value for ${missing.join(", ")}`);
    this.write("params", new Uint32Array(fields.map((field) => known[field])));
  }

  // Run every pass once and wait for it; returns [{ name, ms }]. Without a timer, or with timed = false, ms is null.
  async run(timed = true) {
    return (await this.runAndRead([], timed)).passes;
  }

  // The same, and the beginnings of buffers with it: reads = [{ name, bytes }]. Returns { passes, ran_ms, words }:
  // ran_ms until the passes were done, words: an Uint32Array for each read.
  async runAndRead(reads, timed = true) {
    return this._watched("running the passes", async () => {
      const watch = timed && this.device.features.has("timestamp-query") ? stopwatch(this.device, this.passes.length) : null;
      const encoder = this.device.createCommandEncoder();
      this.passes.forEach((pass, index) => this.record(encoder, pass, watch?.stamps(index, index)));
      watch?.resolve(encoder);
      const began = performance.now();
      this.device.queue.submit([encoder.finish()]);
      // Everything is asked for at once: each answer that is waited for alone is a way to the GPU's process and back.
      const [ran_ms, ticks, words] = await Promise.all([
        this.device.queue.onSubmittedWorkDone().then(() => performance.now() - began),
        watch?.read(),
        this._beginnings(reads),
      ]);
      watch?.close();
      // 0 means less than one step of the timer.
      const passes = this.passes.map((pass, index) => ({ name: pass.item.name, ms: watch ? spanOf(ticks, index) : null }));
      return { passes, ran_ms, words };
    });
  }

  // The first `count` words of a buffer; all of them if left out.
  async read(name, count) {
    const bytes = 4 * (count ?? this._known(name).size / 4);
    return this._watched(`reading ${name}`, async () => (await this._beginnings([{ name, bytes }]))[0]);
  }

  // The beginnings of buffers, brought over together.
  async _beginnings(reads) {
    let total = 0;
    const parts = reads.map(({ name, bytes }) => {
      const buffer = this._known(name);
      const part = { buffer, at: total, size: Math.min(buffer.size, 4 * Math.ceil(bytes / 4)) };
      total += part.size;
      return part;
    });
    if (!total) return parts.map(() => new Uint32Array(0));
    const staging = this.device.createBuffer({ size: total, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    const encoder = this.device.createCommandEncoder();
    for (const { buffer, at, size } of parts) if (size) encoder.copyBufferToBuffer(buffer, 0, staging, at, size);
    this.device.queue.submit([encoder.finish()]);
    const bytes = await taken(staging);
    return parts.map(({ at, size }) => new Uint32Array(bytes, at, size / 4));
  }

  // Give the device's memory back.
  close() {
    for (const [name, buffer] of this.buffers ?? []) if (!this.external[name]) buffer.destroy();
  }

  _known(name) {
    const buffer = this.buffers.get(name);
    if (!buffer) throw new Error(`${name}: the plan has no such buffer (${[...this.buffers.keys()].join(", ")})`);
    return buffer;
  }

  _buffer(item) {
    const usage = item.usage.reduce((all, name) => all | GPUBufferUsage[name], 0);
    const buffer = this.device.createBuffer({ size: item.bytes, usage });
    if (item.contents === "constant") this.device.queue.writeBuffer(buffer, 0, new Uint32Array(item.words));
    return buffer;
  }

  _module(name, text) {
    return kept(this.device, `module ${text}`, async () => {
      // The standard asks for the line; not every implementation takes it, so it is not in the files.
      const subgroups = /\b(subgroup|quad)[A-Z_]|\bsubgroup_/.test(text) && this.device.features.has("subgroups");
      const module = this.device.createShaderModule({ code: (subgroups ? "enable subgroups;\n" : "") + text });
      const [fault] = (await module.getCompilationInfo()).messages.filter((message) => message.type === "error");
      if (fault) throw new ShaderFault(name, fault.lineNum - subgroups, fault.linePos, fault.message);
      return module;
    });
  }

  _pipeline(item, module, groups, moving) {
    const shape = JSON.stringify(groups.map((group = []) => group.map((b) => [b.binding, b.type, b.variable === moving])));
    return kept(this.device, `pipeline ${item.entry} ${shape} ${this.shaders[item.shader]}`, async () => {
      const layouts = Array.from(groups, (bindings = []) =>
        this.device.createBindGroupLayout({
          entries: bindings.map((binding) => ({
            binding: binding.binding,
            visibility: GPUShaderStage.COMPUTE,
            buffer: { type: BINDING[binding.type], hasDynamicOffset: binding.variable === moving },
          })),
        }),
      );
      const pipeline = await this.device.createComputePipelineAsync({
        layout: this.device.createPipelineLayout({ bindGroupLayouts: layouts }),
        compute: { module, entryPoint: item.entry },
      });
      return { layouts, pipeline };
    });
  }

  async _pass(item, module) {
    if (item.stage !== "compute") throw new Error(`${item.name}: WebGPU in a browser has no multi-draw with a count`);
    const groups = [];
    for (const binding of item.bindings) (groups[binding.group] ??= []).push(binding);
    const moving = item.launch.repeat?.dynamic_offset;
    const { layouts, pipeline } = await this._pipeline(item, module, groups, moving);
    const resource = (binding) => {
      const buffer = this._known(binding.buffer);
      const size = binding.variable === moving ? 256 : Math.min(buffer.size, this.sizes.get(binding.buffer));
      return { binding: binding.binding, resource: { buffer, size } };
    };
    const bound = layouts.map((layout, number) =>
      this.device.createBindGroup({ layout, entries: (groups[number] ?? []).map(resource) }),
    );
    const movingGroup = item.bindings.find((binding) => binding.variable === moving)?.group;
    return { item, pipeline, bound, movingGroup };
  }

  // Record one pass. timestampWrites: as of beginComputePass, or nothing.
  record(encoder, pass, timestampWrites) {
    const { item, pipeline, bound, movingGroup } = pass;
    const work = encoder.beginComputePass({ label: item.name, ...(timestampWrites && { timestampWrites }) });
    work.setPipeline(pipeline);
    bound.forEach((group, number) => number === movingGroup || work.setBindGroup(number, group));
    const { workgroups, indirect, repeat } = item.launch;
    if (repeat) {
      const records = this._known(repeat.buffer);
      for (let record = 0; record < repeat.count; record++) {
        work.setBindGroup(movingGroup, bound[movingGroup], [record * repeat.stride]);
        work.dispatchWorkgroupsIndirect(records, record * repeat.stride);
      }
    } else if (indirect) {
      work.dispatchWorkgroupsIndirect(this._known(indirect.buffer), indirect.offset);
    } else if (workgroups.every((count) => count > 0)) {
      work.dispatchWorkgroups(...workgroups);
    }
    work.end();
  }

  _watched(what, work) {
    return watched(this.device, what, work);
  }
}

// Devices that are gone, and why.
const losses = new WeakMap();

function follow(device) {
  if (losses.has(device)) return;
  losses.set(device, null);
  device.lost.then((info) => losses.set(device, info.message || info.reason));
}

// Why this device is gone, or null.
export const lossOf = (device) => losses.get(device) ?? null;

const lossError = (device, what) =>
  Object.assign(new Error(`${what}: the device was lost (${lossOf(device)})`), { lost: true });

// WebGPU tells of errors later and elsewhere; here they reject what caused them.
export async function watched(device, what, work) {
  follow(device);
  if (lossOf(device)) throw lossError(device, what);
  for (const filter of ["validation", "out-of-memory", "internal"]) device.pushErrorScope(filter);
  let result, thrown;
  try {
    result = await work();
  } catch (error) {
    thrown = error;
  }
  const scopes = [1, 2, 3].map(() => device.popErrorScope().catch((error) => error));
  const told = (await Promise.all(scopes)).findLast((error) => error) ?? null;
  if (!thrown && !told) return result;
  // What a lost device was doing fails before the loss is told.
  await Promise.race([device.lost, new Promise((resolve) => setTimeout(resolve, 50))]);
  if (lossOf(device)) throw lossError(device, what);
  if (thrown instanceof ShaderFault) throw thrown;
  throw new Error(`${what}: ${(told ?? thrown).message ?? told ?? thrown}`);
}

// A query set of so many spans with a way to read it back.
function stopwatch(device, spans) {
  const size = 16 * spans;
  const querySet = device.createQuerySet({ type: "timestamp", count: 2 * spans });
  const ticks = device.createBuffer({ size, usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC });
  const staging = device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  return {
    stamps: (begins, ends) => ({
      querySet,
      ...(begins !== null && { beginningOfPassWriteIndex: 2 * begins }),
      ...(ends !== null && { endOfPassWriteIndex: 2 * ends + 1 }),
    }),
    resolve(encoder) {
      encoder.resolveQuerySet(querySet, 0, 2 * spans, ticks, 0);
      encoder.copyBufferToBuffer(ticks, 0, staging, 0, size);
    },
    read: async () => noted(device, new BigUint64Array(await taken(staging))),
    close() {
      for (const item of [querySet, ticks, staging]) item.destroy();
    },
  };
}

const MOST_SPANS = 2000;
const MOST_APART = 64;

// Times of one run, from `runs` runs of all players in one submission, pass by pass side by side. The passes are timed in
// as many further runs of the first player, up to a bound: sums of many coarsened spans are right on average.
export async function batch(players, runs, timed = true) {
  const { device, passes } = players[0];
  timed &&= device.features.has("timestamp-query");
  const apart = timed ? Math.max(1, Math.min(runs, MOST_APART, Math.floor(MOST_SPANS / passes.length))) : 0;
  return watched(device, "measuring", async () => {
    const watch = timed ? stopwatch(device, 1 + apart * passes.length) : null;
    const encoder = device.createCommandEncoder();
    const last = [runs - 1, passes.length - 1, players.length - 1].join();
    for (let run = 0; run < runs; run++) {
      for (let at = 0; at < passes.length; at++) {
        players.forEach((player, number) => {
          const begins = [run, at, number].join() === "0,0,0" ? 0 : null;
          const ends = [run, at, number].join() === last ? 0 : null;
          const stamped = watch && (begins !== null || ends !== null);
          player.record(encoder, player.passes[at], stamped ? watch.stamps(begins, ends) : undefined);
        });
      }
    }
    for (let run = 0; run < apart; run++) {
      passes.forEach((pass, at) => {
        const span = 1 + run * passes.length + at;
        players[0].record(encoder, pass, watch.stamps(span, span));
      });
    }
    watch?.resolve(encoder);
    const began = performance.now();
    device.queue.submit([encoder.finish()]);
    const ticks = watch ? await watch.read() : await device.queue.onSubmittedWorkDone();
    const wall_ms = (performance.now() - began) / (runs + apart);
    if (!watch) return { gpu_ms: null, wall_ms, pass_ms: null };
    const pass_ms = passes.map((_, at) => {
      let sum = 0;
      for (let run = 0; run < apart; run++) sum += spanOf(ticks, 1 + run * passes.length + at);
      return sum / apart;
    });
    watch.close();
    return { gpu_ms: spanOf(ticks, 0) / runs, wall_ms, pass_ms };
  });
}

// Times of one clear of the buffers' first `bytes`, from `runs` of them in one submission.
export async function clear(device, buffers, bytes, runs, timed = true) {
  timed &&= device.features.has("timestamp-query");
  return watched(device, "clearing buffers", async () => {
    const watch = timed ? stopwatch(device, 2) : null;
    const encoder = device.createCommandEncoder();
    // The first mark's end and the second one's begin enclose what lies between them.
    const mark = (number) => watch && encoder.beginComputePass({ timestampWrites: watch.stamps(number, number) }).end();
    mark(0);
    for (let run = 0; run < runs; run++) for (const buffer of buffers) encoder.clearBuffer(buffer, 0, bytes);
    mark(1);
    watch?.resolve(encoder);
    const began = performance.now();
    device.queue.submit([encoder.finish()]);
    const ticks = watch ? await watch.read() : await device.queue.onSubmittedWorkDone();
    const wall_ms = (performance.now() - began) / runs;
    if (!watch) return { gpu_ms: null, wall_ms };
    watch.close();
    const span = ticks[2] - ticks[1];
    return { gpu_ms: (span > 0n ? Number(span) / 1e6 : 0) / runs, wall_ms };
  });
}

async function taken(staging) {
  await staging.mapAsync(GPUMapMode.READ);
  const bytes = staging.getMappedRange().slice(0);
  staging.destroy();
  return bytes;
}
