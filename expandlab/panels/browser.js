// The page's end of a browser device: takes plans, runs them with navigator.gpu, and gives back what they left.
// `open`, `create` and `requestDevice` come from player.js, which stands in front of this.

const CHUNK = 4 * 1024 * 1024;
const ALIVE_MS = 1000;

// A device is made once for the page, and again after it was lost.
let shared = null;

async function sharedDevice(needs) {
  if (shared && !shared.gone) return shared.device;
  const device = await requestDevice({ name: "the plan", needs });
  const mine = { device, gone: false };
  device.lost.then(() => (mine.gone = true));
  shared = mine;
  return device;
}

function plainLimits(limits) {
  const names = [];
  for (const name in limits) if (typeof limits[name] === "number") names.push(name);
  return Object.fromEntries(names.map((name) => [name, limits[name]]));
}

async function describe() {
  const device = await sharedDevice([]);
  const info = device.adapterInfo ?? {};
  const name = [info.description || info.device || info.architecture, info.vendor].filter(Boolean).join(", ");
  return {
    name: name || "an adapter without a name",
    vendor: info.vendor ?? "",
    architecture: info.architecture ?? "",
    subgroups: [info.subgroupMinSize ?? 0, info.subgroupMaxSize ?? 0],
    agent: navigator.userAgent,
    features: [...device.features].sort(),
    limits: plainLimits(device.limits),
  };
}

class Worker {
  constructor(model) {
    this.model = model;
    this.page = Math.random().toString(36).slice(2);
    this.jobs = new Map();
    this.listener = (content, buffers) => this.heard(content, buffers ?? []);
    model.on("msg:custom", this.listener);
    this.hello();
  }

  async hello() {
    try {
      this.tell({ kind: "hello", adapter: await describe() });
    } catch (error) {
      this.tell({ kind: "hello", error: String(error.message ?? error) });
    }
  }

  tell(content, buffers = []) {
    this.model.send({ page: this.page, ...content }, undefined, buffers);
  }

  heard(content, buffers) {
    if (content.kind === "ask") this.hello();
    if (content.kind === "cancel" && this.jobs.has(content.job)) this.jobs.get(content.job).cancelled = true;
    if (content.kind === "input" && content.page === this.page) this.input(content, buffers);
  }

  // Inputs come in pieces; the last one starts the job.
  input(content, buffers) {
    const job = this.jobs.get(content.job) ?? { inputs: new Map(), cancelled: false };
    this.jobs.set(content.job, job);
    if (content.name !== undefined) {
      const found = job.inputs.get(content.name) ?? new Uint8Array(content.bytes);
      const piece = buffers[0];
      const bytes = piece instanceof ArrayBuffer ? new Uint8Array(piece) : new Uint8Array(piece.buffer, piece.byteOffset, piece.byteLength);
      found.set(bytes, content.offset);
      job.inputs.set(content.name, found);
    }
    if (content.last) this.run(content, job);
  }

  async run({ job: id, plan, shaders, outputs }, job) {
    const alive = setInterval(() => this.tell({ kind: "alive", job: id }), ALIVE_MS);
    let player;
    try {
      const device = await sharedDevice(plan.needs ?? []);
      player = await create(plan, shaders, { device });
      for (const [name, bytes] of job.inputs) player.write(name, new Uint32Array(bytes.buffer));
      const passes = await player.run();
      const began = performance.now();
      for (const { name, bytes } of outputs) {
        const words = await player.read(name, Math.ceil(bytes / 4));
        if (job.cancelled) throw new Error("cancelled");
        this.output(id, name, new Uint8Array(words.buffer));
      }
      this.tell({ kind: "done", job: id, passes, transfer_ms: performance.now() - began });
    } catch (error) {
      this.tell({ kind: "failed", job: id, message: String(error.message ?? error) });
    } finally {
      clearInterval(alive);
      player?.close();
      this.jobs.delete(id);
    }
  }

  output(job, name, bytes) {
    for (let offset = 0; offset < Math.max(1, bytes.length); offset += CHUNK) {
      const piece = bytes.slice(offset, offset + CHUNK);
      this.tell({ kind: "output", job, name, offset, bytes: bytes.length }, [piece.buffer]);
    }
  }

  stop() {
    this.model.off("msg:custom", this.listener);
  }
}

export default {
  initialize({ model }) {
    const worker = new Worker(model);
    return () => worker.stop();
  },
  render({ model, el }) {
    const line = document.createElement("p");
    line.setAttribute("role", "status");
    line.className = "expandlab-browser-device";
    const show = () => (line.textContent = model.get("status"));
    model.on("change:status", show);
    show();
    el.append(line);
  },
};
