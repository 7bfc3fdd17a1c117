// The page's end of a browser device: keeps plans ready, runs them with navigator.gpu, and gives back what they left.
// What it calls of WebGPU is in player.js, which stands in front of this.

const ALIVE_MS = 500;
// Results that are smaller than that together come in the message that ends the job.
const RIDES = 256 * 1024;
// Larger ones come in pieces. A slow line has to carry one well within the silence that the kernel bears; where they come
// through quickly they grow, because each message has its price. So many are on their way unconfirmed.
const SMALLEST_PIECE = 256 * 1024;
const LARGEST_PIECE = 2 * 1024 * 1024;
const QUICK_MS = 250;
const WINDOW = 4;

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

// A clock that ticks in a tab that nobody looks at, too: browsers slow down timers there, but not a worker's. There is
// one for the page, because starting a worker costs more than most jobs.
class Pulse {
  constructor(act) {
    this.act = act;
    this.runs = false;
  }

  run(runs) {
    if (this.runs === runs) return;
    this.runs = runs;
    if (this.worker === undefined) this.worker = this._worker();
    if (this.worker) this.worker.postMessage(runs);
    else this._timer();
  }

  stop() {
    this.run(false);
    this.worker?.terminate();
    this.worker = undefined;
  }

  // null where the page's rules forbid it.
  _worker() {
    const text = `let timer; onmessage = ({ data }) => {
      clearInterval(timer);
      if (data) timer = setInterval(() => postMessage(0), ${ALIVE_MS});
    };`;
    try {
      const address = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      const worker = new globalThis.Worker(address);
      URL.revokeObjectURL(address);
      worker.onmessage = () => this.runs && this.act();
      worker.onerror = () => {
        this.worker = null;
        this._timer();
      };
      return worker;
    } catch {
      return null;
    }
  }

  _timer() {
    clearInterval(this.timer);
    if (this.runs) this.timer = setInterval(this.act, ALIVE_MS);
  }
}

const bytesOf = (piece) =>
  piece instanceof ArrayBuffer ? new Uint8Array(piece) : new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);

const sizeOf = (reads) => reads.reduce((sum, { bytes }) => sum + bytes, 0);

// Results that come with the last message, as long as there is room, and the others.
function apart(reads) {
  const [small, large] = [[], []];
  let room = RIDES;
  for (const read of reads) {
    if (read.bytes > room) {
      large.push(read);
    } else {
      room -= read.bytes;
      small.push(read);
    }
  }
  return { small, large };
}

// A copy of each, because what several come in cannot be sent in parts.
const named = (reads, words) => reads.map(({ name }, at) => ({ name, bytes: bytesOf(words[at]).slice() }));

class Desk {
  constructor(model) {
    this.model = model;
    this.page = Math.random().toString(36).slice(2);
    this.jobs = new Map();
    this.players = new Map();
    this.buffers = new Map();
    this.texts = new Map();
    this.clock = new Pulse(() => this.jobs.forEach((_, number) => this.tell({ kind: "alive", job: number })));
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
    try {
      this.obey(content, buffers);
    } catch (error) {
      // An array that finds no room: without a word the kernel would wait as long as this page is alive.
      this.fail(content.job, error);
      this.cancel(content.job);
    }
  }

  obey(content, buffers) {
    if (content.kind === "part") {
      this.take(this.job(content.job), content, buffers[0]);
      this.tell({ kind: "took", job: content.job });
    }
    if (content.kind === "got") this.jobs.get(content.job)?.got();
    if (content.kind === "cancel") this.cancel(content.job);
    if (content.kind === "do") {
      const job = this.job(content.job);
      (content.parts ?? []).forEach((part, at) => this.take(job, part, buffers[at]));
      this.turn = this.turn.then(() => this.work(content, job));
    }
  }

  // The page is alive as long as it has a job.
  job(number) {
    const made = { inputs: new Map(), cancelled: false, got() {} };
    if (!number) return made;
    if (!this.jobs.has(number)) this.jobs.set(number, made);
    this.clock.run(true);
    return this.jobs.get(number);
  }

  cancel(number) {
    const job = this.jobs.get(number);
    if (!job) return;
    job.cancelled = true;
    this.end(number);
    job.got();
  }

  end(number) {
    this.jobs.delete(number);
    if (!this.jobs.size) this.clock.run(false);
  }

  take({ inputs }, { name, offset, bytes }, piece) {
    if (!inputs.has(name)) inputs.set(name, new Uint8Array(bytes));
    inputs.get(name).set(bytesOf(piece), offset);
  }

  async work(content, job) {
    const { job: number, what } = content;
    try {
      if (job.cancelled) throw new Error("cancelled");
      const began = performance.now();
      if (content.make) await this.make(content.make);
      const made_ms = performance.now() - began;
      const { outputs = [], ...told } = (await this[`do_${what}`](content, job)) ?? {};
      const step_ns = shared ? timerStep(await shared) : null;
      const parts = outputs.map(({ name, bytes }) => ({ name, offset: 0, bytes: bytes.length }));
      const buffers = outputs.map(({ bytes }) => bytes);
      if (number && !job.cancelled) this.tell({ kind: "done", job: number, step_ns, made_ms, parts, ...told }, buffers);
    } catch (error) {
      this.fail(number, error);
    } finally {
      this.end(number);
    }
  }

  fail(number, error) {
    const { shader, line, column, text, lost } = error;
    const message = String(error.message ?? error);
    if (number) this.tell({ kind: "failed", job: number, message, lost, shader, line, column, text });
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

  // texts: those shaders that this page has not seen; all are named by their hash.
  async make({ program, plan, shaders, texts, external }) {
    for (const [hash, text] of Object.entries(texts)) this.texts.set(hash, text);
    const sources = Object.fromEntries(Object.entries(shaders).map(([name, hash]) => [name, this.texts.get(hash)]));
    const buffers = Object.fromEntries(Object.entries(external).map(([name, id]) => [name, this.buffers.get(id)]));
    this.players.get(program)?.close();
    this.players.set(program, await create(plan, sources, { device: await sharedDevice(), buffers }));
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
    const { small, large } = apart(content.reads);
    const { passes, ran_ms, words } = await player.runAndRead(small, content.timed);
    await this.give(player, large, content, job);
    return { ms: passes.map((pass) => pass.ms), ran_ms, outputs: named(small, words), of: sizeOf(content.reads) };
  }

  async do_read(content, job) {
    const player = this.player(content.program);
    const { small, large } = apart(content.reads);
    await this.give(player, large, content, job);
    const words = await Promise.all(small.map(({ name, bytes }) => player.read(name, Math.ceil(bytes / 4))));
    return { outputs: named(small, words), of: sizeOf(content.reads) };
  }

  // Send large results, in pieces that the kernel confirms.
  async give(player, reads, content, job) {
    const of = sizeOf(content.reads);
    const sent = [];
    let size = SMALLEST_PIECE;
    let turn = null;
    job.got = () => {
      if (performance.now() - sent.shift() < QUICK_MS) size = Math.min(2 * size, LARGEST_PIECE);
      turn?.();
    };
    for (const { name, bytes } of reads) {
      const words = await player.read(name, Math.ceil(bytes / 4));
      const all = bytesOf(words);
      let offset = 0;
      while (offset < all.length) {
        while (sent.length >= WINDOW && !job.cancelled) await new Promise((go) => (turn = go));
        if (job.cancelled) throw new Error("cancelled");
        const piece = all.slice(offset, offset + size);
        sent.push(performance.now());
        this.tell({ kind: "output", job: content.job, name, offset, bytes: all.length, of }, [piece.buffer]);
        offset += piece.length;
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
    this.leaving();
    this.rest();
    this.clock.stop();
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
