// The page's end of a browser device: keeps plans ready, runs them with navigator.gpu, and gives back what they left.
// What it calls of WebGPU is in player.js, which stands in front of this.

const PIECE = 1024 * 1024;
const ALIVE_MS = 500;

// A device is made once for the page, and again after it was lost.
let shared = null;

async function sharedDevice() {
  if (!shared || lossOf(await shared)) shared = requestDevice({ name: "the plan", needs: [] });
  try {
    const device = await shared;
    follow(device);
    return device;
  } catch (error) {
    shared = null;
    throw error;
  }
}

// What the kernel should know of the adapter. The device is made when something is to run: it takes time and memory.
async function describe() {
  const adapter = await requestAdapter();
  const info = adapter.info ?? {};
  const name = [info.description || info.device || info.architecture, info.vendor].filter(Boolean).join(", ");
  return {
    name: name || "an adapter without a name",
    vendor: info.vendor ?? "",
    architecture: info.architecture ?? "",
    agent: navigator.userAgent,
    features: wantedFeatures(adapter).sort(),
  };
}

// A clock that ticks in a tab that nobody looks at, too: browsers slow down timers there, but not a worker's.
function everySoOften(act) {
  try {
    const text = `setInterval(() => postMessage(0), ${ALIVE_MS})`;
    const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    const worker = new globalThis.Worker(address);
    worker.onmessage = act;
    return () => {
      worker.terminate();
      URL.revokeObjectURL(address);
    };
  } catch {
    const timer = setInterval(act, ALIVE_MS);
    return () => clearInterval(timer);
  }
}

const bytesOf = (piece) =>
  piece instanceof ArrayBuffer ? new Uint8Array(piece) : new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);

class Desk {
  constructor(model) {
    this.model = model;
    this.page = Math.random().toString(36).slice(2);
    this.jobs = new Map();
    this.players = new Map();
    this.buffers = new Map();
    // One thing after the other, in the order in which the kernel asks.
    this.turn = Promise.resolve();
    this.listener = (content, buffers) => this.heard(content, buffers ?? []);
    this.leaving = () => this.tell({ kind: "gone" });
    this.rest = () => [...this.jobs.keys()].forEach((number) => this.cancel(number));
    model.on("msg:custom", this.listener);
    model.on("comm_live_update", this.rest);
    globalThis.addEventListener("pagehide", this.leaving);
    this.hello(true);
  }

  async hello(first) {
    const told = { kind: "hello", first };
    try {
      this.tell({ ...told, adapter: await describe() });
    } catch (error) {
      this.tell({ ...told, error: String(error.message ?? error) });
    }
  }

  tell(content, buffers = []) {
    try {
      this.model.send({ page: this.page, ...content }, undefined, buffers);
    } catch {
      // The kernel is gone, and so is everything that would have read this.
    }
  }

  heard(content, buffers) {
    if (content.kind === "ask") this.hello(false);
    if (content.page !== this.page) return;
    if (content.kind === "part") this.part(content, buffers);
    if (content.kind === "cancel") this.cancel(content.job);
    if (content.kind === "do") {
      const job = this.job(content.job);
      this.turn = this.turn.then(() => this.work(content, job));
    }
  }

  // The page is alive as long as it has a job.
  job(number) {
    if (!number) return { inputs: new Map(), cancelled: false, rest() {} };
    if (!this.jobs.has(number)) {
      const rest = everySoOften(() => this.tell({ kind: "alive", job: number }));
      this.jobs.set(number, { inputs: new Map(), cancelled: false, rest });
    }
    return this.jobs.get(number);
  }

  cancel(number) {
    const job = this.jobs.get(number);
    if (!job) return;
    job.cancelled = true;
    this.end(number);
  }

  end(number) {
    this.jobs.get(number)?.rest();
    this.jobs.delete(number);
  }

  part({ job: number, name, offset, bytes }, buffers) {
    const { inputs } = this.job(number);
    if (!inputs.has(name)) inputs.set(name, new Uint8Array(bytes));
    inputs.get(name).set(bytesOf(buffers[0]), offset);
    this.tell({ kind: "took", job: number });
  }

  async work(content, job) {
    const { job: number, what } = content;
    try {
      if (job.cancelled) throw new Error("cancelled");
      const told = await this[`do_${what}`](content, job);
      const step_ns = shared ? timerStep(await shared) : null;
      if (number) this.tell({ kind: "done", job: number, step_ns, ...told });
    } catch (error) {
      const { shader, line, column, text } = error;
      if (number) this.tell({ kind: "failed", job: number, message: String(error.message ?? error), shader, line, column, text });
    } finally {
      this.end(number);
    }
  }

  player(number) {
    const player = this.players.get(number);
    if (!player) throw new Error("the page has no such plan; it was reloaded, so run again");
    return player;
  }

  async do_nothing() {}

  async do_buffer({ id, bytes, usage }) {
    const device = await sharedDevice();
    const flags = usage.reduce((all, name) => all | GPUBufferUsage[name], 0);
    this.buffers.set(id, device.createBuffer({ size: bytes, usage: flags }));
  }

  async do_fill({ id }, job) {
    const device = await sharedDevice();
    for (const bytes of job.inputs.values()) device.queue.writeBuffer(this.buffers.get(id), 0, bytes);
  }

  async do_drop({ id }) {
    this.buffers.get(id)?.destroy();
    this.buffers.delete(id);
  }

  async do_make({ program, plan, shaders, external }) {
    const buffers = Object.fromEntries(Object.entries(external).map(([name, id]) => [name, this.buffers.get(id)]));
    this.players.set(program, await create(plan, shaders, { device: await sharedDevice(), buffers }));
  }

  async do_close({ program }) {
    this.players.get(program)?.close();
    this.players.delete(program);
  }

  async do_write({ program }, job) {
    for (const [name, bytes] of job.inputs) this.player(program).write(name, new Uint32Array(bytes.buffer));
  }

  async do_run(content, job) {
    const player = this.player(content.program);
    await this.do_write(content, job);
    const began = performance.now();
    const passes = await player.run(content.timed);
    const ran_ms = performance.now() - began;
    await this.do_read(content, job);
    return { ms: passes.map((pass) => pass.ms), ran_ms };
  }

  async do_read({ program, reads, job: number }, job) {
    const of = reads.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { name, bytes } of reads) {
      const words = await this.player(program).read(name, Math.ceil(bytes / 4));
      if (job.cancelled) throw new Error("cancelled");
      const all = new Uint8Array(words.buffer);
      for (let offset = 0; offset < Math.max(1, all.length); offset += PIECE) {
        const piece = all.slice(offset, offset + PIECE);
        this.tell({ kind: "output", job: number, name, offset, bytes: all.length, of }, [piece.buffer]);
      }
    }
  }

  do_batch({ programs, runs, timed }) {
    return batch(programs.map((number) => this.player(number)), runs, timed);
  }

  async do_clear({ ids, bytes, runs, timed }) {
    return clear(await sharedDevice(), ids.map((id) => this.buffers.get(id)), bytes, runs, timed);
  }

  stop() {
    this.model.off("msg:custom", this.listener);
    this.model.off("comm_live_update", this.rest);
    globalThis.removeEventListener("pagehide", this.leaving);
    this.rest();
  }
}

const RESTARTED = "browser device: the kernel was restarted or has ended; run the cells again";

export default {
  initialize({ model }) {
    const desk = new Desk(model);
    return () => desk.stop();
  },
  render({ model, el }) {
    const line = document.createElement("p");
    line.setAttribute("role", "status");
    line.className = "expandlab-browser-device";
    let kernelGone = false;
    const show = () => {
      line.textContent = kernelGone ? RESTARTED : model.get("status");
      // Inside a panel there is room for what is wrong or goes on; elsewhere for how it is as well.
      line.toggleAttribute("data-quiet", !kernelGone && !model.get("loud"));
    };
    const lived = () => {
      kernelGone = true;
      show();
    };
    model.on("change:status", show);
    model.on("change:loud", show);
    // Jupyter's widget manager calls this when the kernel's end of the widget goes away.
    model.on("comm_live_update", lived);
    show();
    el.append(line);
    return () => {
      model.off("change:status", show);
      model.off("change:loud", show);
      model.off("comm_live_update", lived);
    };
  },
};
