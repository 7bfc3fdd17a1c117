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

// Make a player from a plan and the texts of its shaders. options.device: a GPUDevice of the caller's.
export async function create(plan, shaders, options = {}) {
  if (plan.format !== "expandlab-plan-1") throw new Error(`plan: its format is ${plan.format}, not expandlab-plan-1`);
  const device = options.device ?? (await requestDevice(plan));
  const player = new Player(device, plan, shaders);
  await player.prepare();
  return player;
}

// A device with WebGPU's default limits, a timer and subgroups where the adapter has them.
export async function requestDevice(plan = { needs: [] }) {
  if (!globalThis.navigator?.gpu) throw new Error("this browser has no WebGPU (navigator.gpu); use a newer one");
  const adapter = await navigator.gpu.requestAdapter({ powerPreference: "high-performance" });
  if (!adapter) throw new Error("WebGPU found no adapter in this browser");
  // The names of what WebGPU does not have are not among the browser's features.
  const missing = (plan.needs ?? []).filter((feature) => !adapter.features.has(feature));
  if (missing.length) throw new Error(`${plan.name}: needs ${missing.join(", ")}, which this browser's WebGPU lacks`);
  const wanted = ["timestamp-query", "subgroups"].filter((feature) => adapter.features.has(feature));
  return adapter.requestDevice({ requiredFeatures: [...wanted, ...(plan.needs ?? [])] });
}

export class Player {
  constructor(device, plan, shaders) {
    this.device = device;
    this.plan = plan;
    this.shaders = shaders;
    this.lost = null;
    device.lost.then((info) => (this.lost = info.message || info.reason));
  }

  // Make buffers, pipelines and bind groups, once. Called by `create`.
  async prepare() {
    await this._watched("preparing the passes", async () => {
      this.buffers = new Map(this.plan.buffers.map((item) => [item.name, this._buffer(item)]));
      const modules = new Map();
      for (const [name, text] of Object.entries(this.shaders)) modules.set(name, await this._module(name, text));
      this.passes = await Promise.all(this.plan.passes.map((item) => this._pass(item, modules.get(item.shader))));
    });
    if (this.device.features.has("timestamp-query")) {
      const count = 2 * this.passes.length;
      this.queries = this.device.createQuerySet({ type: "timestamp", count });
      this.ticks = this.device.createBuffer({
        size: 8 * count,
        usage: GPUBufferUsage.QUERY_RESOLVE | GPUBufferUsage.COPY_SRC,
      });
    }
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

  // Run every pass once and wait for it; returns [{ name, ms }].
  async run() {
    return this._watched("running the passes", async () => {
      const encoder = this.device.createCommandEncoder();
      this.passes.forEach((pass, index) => this._record(encoder, pass, index));
      const staging = this.queries ? this._copyTicks(encoder) : null;
      this.device.queue.submit([encoder.finish()]);
      if (!staging) {
        await this.device.queue.onSubmittedWorkDone();
        return this.passes.map((pass) => ({ name: pass.item.name, ms: null }));
      }
      const ticks = new BigUint64Array(await taken(staging));
      // Browsers coarsen their timers: 0 means less than one step.
      return this.passes.map((pass, index) => {
        const span = ticks[2 * index + 1] - ticks[2 * index];
        return { name: pass.item.name, ms: span > 0n ? Number(span) / 1e6 : 0 };
      });
    });
  }

  // The first `count` words of a buffer; all of them if left out.
  async read(name, count) {
    const buffer = this._known(name);
    const bytes = Math.min(buffer.size, 4 * (count ?? buffer.size / 4));
    if (!bytes) return new Uint32Array(0);
    return this._watched(`reading ${name}`, async () => {
      const staging = this.device.createBuffer({ size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
      const encoder = this.device.createCommandEncoder();
      encoder.copyBufferToBuffer(buffer, 0, staging, 0, bytes);
      this.device.queue.submit([encoder.finish()]);
      return new Uint32Array(await taken(staging));
    });
  }

  // Give the device's memory back.
  close() {
    for (const buffer of this.buffers.values()) buffer.destroy();
    this.queries?.destroy();
    this.ticks?.destroy();
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

  async _module(name, text) {
    // The standard asks for the line; not every implementation takes it, so it is not in the files.
    const subgroups = /\bsubgroup[A-Z_]/.test(text) && this.device.features.has("subgroups");
    const module = this.device.createShaderModule({ code: (subgroups ? "enable subgroups;\n" : "") + text });
    const found = (await module.getCompilationInfo()).messages.filter((message) => message.type === "error");
    if (found.length) throw new Error(`${name}:${found[0].lineNum - subgroups}: ${found[0].message}`);
    return module;
  }

  async _pass(item, module) {
    if (item.stage !== "compute") throw new Error(`${item.name}: WebGPU in a browser has no multi-draw with a count`);
    const groups = [];
    for (const binding of item.bindings) (groups[binding.group] ??= []).push(binding);
    const moving = item.launch.repeat?.dynamic_offset;
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
    const bound = layouts.map((layout, number) =>
      this.device.createBindGroup({
        layout,
        entries: (groups[number] ?? []).map((binding) => ({
          binding: binding.binding,
          resource: { buffer: this._known(binding.buffer), ...(binding.variable === moving && { size: 256 }) },
        })),
      }),
    );
    const movingGroup = item.bindings.find((binding) => binding.variable === moving)?.group;
    return { item, pipeline, bound, movingGroup };
  }

  _record(encoder, pass, index) {
    const { item, pipeline, bound, movingGroup } = pass;
    const timestampWrites = this.queries && {
      querySet: this.queries,
      beginningOfPassWriteIndex: 2 * index,
      endOfPassWriteIndex: 2 * index + 1,
    };
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
    } else {
      work.dispatchWorkgroups(...workgroups);
    }
    work.end();
  }

  _copyTicks(encoder) {
    const size = this.ticks.size;
    encoder.resolveQuerySet(this.queries, 0, size / 8, this.ticks, 0);
    const staging = this.device.createBuffer({ size, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
    encoder.copyBufferToBuffer(this.ticks, 0, staging, 0, size);
    return staging;
  }

  // WebGPU tells of errors later and elsewhere; here they reject what caused them.
  async _watched(what, work) {
    if (this.lost) throw new Error(`${what}: the device was lost (${this.lost})`);
    for (const filter of ["validation", "out-of-memory", "internal"]) this.device.pushErrorScope(filter);
    let result, thrown;
    try {
      result = await work();
    } catch (error) {
      thrown = error;
    }
    for (let scope = 0; scope < 3; scope++) {
      const error = await this.device.popErrorScope();
      if (error) throw new Error(`${what}: ${error.message}`);
    }
    if (thrown) throw thrown;
    return result;
  }
}

async function taken(staging) {
  await staging.mapAsync(GPUMapMode.READ);
  const bytes = staging.getMappedRange().slice(0);
  staging.destroy();
  return bytes;
}
