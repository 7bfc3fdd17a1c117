// The widget: it owns the page's elements, paints when a frame, a step or a size changes, and answers the pointer and
// the keyboard by itself. The kernel hears of three things only: the frame painted, the step, and the pinned thread.

class ThreadMapView {
  constructor(model, el) {
    this.model = model;
    this.root = make("div", "xl-map");
    this.sources = new Strip("1 Sources", "Sources: arrow keys move, Enter pins, Escape clears", 74);
    this.upper = make("div", "xl-columns");
    this.lower = make("div", "xl-columns");
    this.say = make("div", "xl-say");
    this.say.setAttribute("role", "status");
    this.say.setAttribute("aria-live", "polite");
    this.downloads = new Downloads();
    this.root.append(this.sources.element, this.upper, this.say, this.stepBar(), this.lower, this.downloads.element);
    el.append(this.root);
    this.columns = [];
    this.selected = null;
    this.pinned = null;
    this.listen(this.sources, 0, "src");
    const watched = { frame: this.load, shaders: this.mark, step: this.showStep, thread: this.followThread };
    this.handlers = Object.entries(watched).map(([name, act]) => [`change:${name}`, act.bind(this)]);
    for (const [name, act] of this.handlers) model.on(name, act);
    this.message = (content, buffers) => this.downloads.receive(content, buffers);
    model.on("msg:custom", this.message);
    this.resizes = new ResizeObserver(() => this.paint());
    this.resizes.observe(this.root);
    this.themes = new MutationObserver(() => this.paint());
    this.themes.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-name", "data-jp-theme-light", "class"] });
    this.load();
  }

  get step() { return this.model.get("step"); }

  stepBar() {
    const bar = make("div", "xl-steps");
    this.play = make("button", "xl-play", "▶");
    this.play.type = "button";
    this.play.title = "Play the steps";
    this.play.setAttribute("aria-label", "Play the steps");
    this.play.onclick = () => this.toggle();
    this.slider = make("input", "xl-step");
    Object.assign(this.slider, { type: "range", min: 0, step: 1 });
    this.slider.setAttribute("aria-label", "Step");
    this.slider.oninput = () => { this.halt(); this.setStep(Number(this.slider.value)); };
    // Something around the output takes an arrow's default action away from a slider; it must not see the key.
    this.slider.onkeydown = (event) => event.stopPropagation();
    this.stepSay = make("div", "xl-step-text");
    bar.append(this.play, this.slider, this.stepSay);
    return bar;
  }

  get stepCount() { return this.frame ? Math.max(0, ...this.frame.maps.map((map) => map.steps.length)) : 0; }

  setStep(value) {
    this.model.set("step", value >= this.stepCount ? -1 : value);
    this.model.save_changes();
  }

  toggle() {
    if (this.timer) return this.halt();
    let next = this.step < 0 ? 0 : this.step;
    this.setStep(next);
    this.play.textContent = "❚❚";
    this.play.setAttribute("aria-label", "Pause");
    this.timer = setInterval(() => {
      next = this.step + 1;
      this.setStep(next);
      if (next >= this.stepCount) this.halt();
    }, 650);
  }

  halt() {
    clearInterval(this.timer);
    this.timer = null;
    this.play.textContent = "▶";
    this.play.setAttribute("aria-label", "Play the steps");
  }

  // --- frames ---------------------------------------------------------------------------------------------------

  load() {
    const view = this.model.get("frame");
    if (!view || !view.byteLength) return;
    this.root.dataset.receivedAt = performance.now().toFixed(1);
    this.frame = decodeFrame(view);
    while (this.columns.length < this.frame.maps.length) this.addColumn();
    this.upper.classList.toggle("xl-two", this.frame.maps.length > 1);
    this.lower.classList.toggle("xl-two", this.frame.maps.length > 1);
    // A column that is not shown is out of the page, so that neither the keyboard nor a screen reader finds it.
    const shown = this.columns.slice(0, this.frame.maps.length);
    if (this.upper.children.length !== shown.length) {
      this.upper.replaceChildren(...shown.map((column) => column.strips));
      this.lower.replaceChildren(...shown.map((column) => column.details));
    }
    this.selected = this.valid(this.selected);
    this.pinned = this.valid(this.pinned);
    this.followThread(false);
    this.paint();
    // Confirmed without waiting for an animation frame: a hidden page has none, and must not hold up the kernel.
    this.model.set("painted", this.frame.sequence);
    this.model.save_changes();
  }

  addColumn() {
    const column = new Column(this.columns.length);
    this.columns.push(column);
    this.listen(column.memory, column.index, "entry");
    this.listen(column.threads, column.index, "thread");
    const jump = (event) => {
      if (event.buttons !== 1) return;
      const box = column.shares.canvas.getBoundingClientRect();
      const count = this.frame.maps[column.index].steps.length;
      this.setStep(Math.max(0, Math.min(count - 1, Math.floor(((event.clientX - box.left) / box.width) * count))));
    };
    column.shares.canvas.addEventListener("pointerdown", jump);
    column.shares.canvas.addEventListener("pointermove", jump);
  }

  valid(sel) {
    if (!sel || sel.map >= this.frame.maps.length) return null;
    if (sel.kind === "src") return sel.id < this.frame.counts.length ? sel : null;
    const map = this.frame.maps[sel.map];
    if (sel.kind === "thread") return sel.id < map.threads ? sel : null;
    const row = map.memory[sel.memory] && map.memory[sel.memory].rows[sel.row];
    return row && sel.id < row.capacity ? sel : null;
  }

  // --- painting -------------------------------------------------------------------------------------------------

  paint() {
    if (!this.frame || !this.root.clientWidth) return;
    const started = performance.now();
    const dpr = window.devicePixelRatio || 1;
    const { frame } = this;
    // All sizes are read before anything is written: a width asked for in between costs a layout of the page.
    this.theme = themeOf(this.root, this.theme);
    const shown = this.columns.slice(0, frame.maps.length);
    const width = (element) => Math.max(40, Math.floor(element.clientWidth * dpr));
    const wide = width(this.sources.frame);
    const across = Math.min(...shown.map((column) => width(column.threads.frame)));
    for (const column of shown) column.measure();
    this.sources.resize(wide, Math.round(74 * dpr), dpr);
    drawSources(this.sources.lower, frame, this.theme, this.sources.size);
    const total = frame.counts.reduce((sum, n) => sum + n, 0);
    const mean = frame.counts.length ? (total / frame.counts.length).toFixed(1) : "0";
    write(this.sources.facts,
      `${plural(frame.counts.length, "src", "src")} · ${plural(total, "item")} · N up to ${frame.widest}, mean ${mean}`);
    this.grids = commonGrid(frame.maps, across, dpr);
    this.layouts = frame.maps.map((map) => memoryRows(map, dpr));
    const [left, right] = [104 * dpr, 152 * dpr];
    const scale = memoryScale(this.layouts, across - left - right);
    shown.forEach((column, index) => {
      column.memory.resize(across, this.layouts[index].height, dpr, { left, right: across - left - right + 2 * dpr, scale });
      column.threads.resize(across, this.grids[index].height, dpr);
      column.memory.frame.style.minHeight = `${Math.max(...this.layouts.map((layout) => layout.height)) / dpr}px`;
      drawMemory(column.memory.lower, frame, frame.maps[index], this.layouts[index], this.theme, column.memory.size);
      this.describe(column, index);
    });
    this.paintStep();
    Object.assign(this.root.dataset, {
      painted: frame.sequence, paintedAt: performance.now().toFixed(1), paintMs: (performance.now() - started).toFixed(1),
    });
  }

  describe(column, index) {
    const map = this.frame.maps[index];
    const where = map.recorded ? `recorded on ${map.recorded}` : map.modelled ? "modelled only" : "model";
    const used = map.src.reduce((sum, src) => sum + (src >= 0), 0);
    const share = map.threads ? used / map.threads : 1;
    write(column.names[0], map.title);
    write(column.names[1], map.strategy);
    write(column.names[2], where);
    column.head.title = `${map.title}, ${where}`;
    const sizes = map.memory.reduce((sum, m) => [sum[0] + m.used_bytes, sum[1] + m.capacity_bytes], [0, 0]);
    const { rest } = this.layouts[index];
    const range = rest.rows > 1 ? `${rest.first} to ${rest.last}` : rest.first;
    const memory = map.memory.length
      ? `${map.memory.map((m) => m.title).join(", ")} · ${bytesText(sizes[0])} written, ${bytesText(sizes[1] - sizes[0])} free` +
        (rest.rows ? ` · ${range} empty (${bytesText(rest.bytes)})` : "")
      : "nothing between the passes";
    write(column.memory.facts, memory);
    column.memory.title.title = memory;
    write(column.threads.facts,
      `${plural(map.threads, "thread")} · ${(map.threads - used).toLocaleString("en")} idle · utilisation ${percent(share)}`);
  }

  paintStep() {
    const { frame } = this;
    if (!frame || !this.grids) return;
    const dpr = window.devicePixelRatio || 1;
    const data = this.root.dataset;
    frame.maps.forEach((map, index) => {
      const column = this.columns[index];
      const active = drawThreads(column.threads.lower, frame, map, this.grids[index], this.theme, column.threads.size, this.step);
      const prefix = index ? "compare" : "";
      const key = (name) => (prefix ? prefix + name[0].toUpperCase() + name.slice(1) : name);
      data[key("threads")] = map.threads;
      data[key("active")] = active;
      data[key("idle")] = map.threads - active;
      data[key("strategy")] = map.strategy;
      const shown = stepOf(map, this.step);
      column.memory.element.classList.toggle("xl-now", Boolean(shown) && shown.pass !== map.last);
      column.threads.element.classList.toggle("xl-now", Boolean(shown) && shown.pass === map.last);
      column.fit(dpr);
      drawLanes(column.lanes.context, map, this.step, this.theme, column.lanes.size);
      drawShares(column.shares.context, map, this.step, this.theme, column.shares.size);
      const now = shown || map.steps[map.steps.length - 1];
      write(column.lanes.title,
        `Lanes active in ${now ? plural(now.active.length, "subgroup") : "no subgroup"} of ${map.subgroup_size}${now ? ` · ${now.pass}` : ""}`);
      write(column.shares.title, `Utilisation over ${plural(map.steps.length, "step")}`);
    });
    if (frame.maps.length < 2) for (const name of ["Threads", "Active", "Idle", "Strategy"]) delete data[`compare${name}`];
    this.slider.max = this.stepCount;
    this.slider.value = this.step < 0 ? this.stepCount : Math.min(this.step, this.stepCount);
    data.step = this.step < 0 || this.step >= this.stepCount ? "finished" : this.step;
    data.steps = this.stepCount;
    this.writeStep();
    this.light();
  }

  writeStep() {
    const rows = this.frame.maps.map((map) => {
      const { text, place } = stepText(map, this.step);
      const row = make("div");
      if (this.frame.maps.length > 1) row.append(make("b", "", `${map.strategy} `));
      const count = this.step >= 0 && this.step < map.steps.length ? `${this.step + 1} of ${map.steps.length} · ` : "";
      row.append(`${count}${text} `, make("code", "", place));
      return row;
    });
    const said = rows.map((row) => row.textContent).join("; ");
    if (said === this.slider.getAttribute("aria-valuetext")) return;
    this.stepSay.replaceChildren(...rows);
    this.slider.setAttribute("aria-valuetext", said);
  }

  showStep() { this.paintStep(); }

  // --- selection ------------------------------------------------------------------------------------------------

  get selection() { return this.selected || this.pinned; }

  select(sel) {
    if (JSON.stringify(sel) === JSON.stringify(this.selected)) return;
    this.selected = sel;
    this.light();
  }

  light() {
    if (!this.frame || !this.grids) return;
    const { frame, theme, selection: sel } = this;
    const data = this.root.dataset;
    data.selection = selectionKey(sel, frame);
    data.pinned = selectionKey(this.pinned, frame);
    const strips = [this.sources, ...this.columns.flatMap((column) => [column.memory, column.threads])];
    for (const strip of strips) strip.top.hidden = !sel;
    this.mark();
    if (!sel) {
      write(this.say, "Point at anything, or move with the arrow keys: its relatives light up. Enter or a click pins it.");
      for (const name of ["litSrc", "litThreads", "litEntries"]) delete data[name];
      return;
    }
    const relatives = relativesOf(frame, sel);
    lightSources(this.sources.upper, frame, relatives.src, theme, this.sources.size, sel.kind === "src");
    const colour = relatives.src < 0 ? null : frame.colours[relatives.src];
    frame.maps.forEach((map, index) => {
      const column = this.columns[index];
      const lit = relatives.maps[index];
      lightMemory(column.memory.upper, frame, map, lit, this.layouts[index], theme, column.memory.size);
      lightThreads(column.threads.upper, frame, map, lit, this.grids[index], theme, column.threads.size, colour);
    });
    data.litSrc = relatives.src;
    data.litThreads = relatives.maps.map((lit) => lit.threads.length).join(",");
    data.litEntries = relatives.maps.map((lit) => lit.entries.length).join(",");
    write(this.say, sentence(frame, sel, relatives));
  }

  mark() {
    if (!this.frame) return;
    const shaders = this.model.get("shaders");
    const lines = this.frame.maps.map((map, index) => linesFor(this.frame, index, this.selection, this.step));
    lines.forEach((some, index) => this.columns[index].code.show(some, shaders));
    this.root.dataset.lines = lines.flat().map(([file, line]) => `${file}:${line}`).join(" ");
  }

  hit(kind, index, [x, y]) {
    const { frame } = this;
    if (!frame || !this.grids) return null;
    if (kind === "src") {
      const id = Math.floor((x / this.sources.size.width) * frame.counts.length);
      return id >= 0 && id < frame.counts.length ? { kind, id, map: 0 } : null;
    }
    if (kind === "thread") {
      const id = threadAt(frame.maps[index], this.grids[index], x, y);
      return id < 0 ? null : { kind, id, map: index };
    }
    const { scale, left } = this.columns[index].memory.size;
    const found = entryAt(this.layouts[index], scale, left, x, y);
    return found && { kind, map: index, ...found };
  }

  listen(strip, index, kind) {
    const { base } = strip;
    base.addEventListener("pointermove", (event) => this.select(this.hit(kind, index, strip.at(event))));
    base.addEventListener("pointerleave", () => this.select(null));
    base.addEventListener("click", (event) => this.pin(this.hit(kind, index, strip.at(event))));
    base.addEventListener("focus", () => {
      if (base.matches(":focus-visible")) this.select(this.start(kind, index));
    });
    base.addEventListener("blur", () => this.select(null));
    base.addEventListener("keydown", (event) => this.key(event, kind, index));
  }

  pin(sel) {
    this.pinned = JSON.stringify(sel) === JSON.stringify(this.pinned) ? null : sel;
    const thread = this.pinned && this.pinned.kind === "thread" && this.pinned.map === 0 ? this.pinned.id : -1;
    this.model.set("thread", thread);
    this.model.save_changes();
    this.light();
  }

  // The kernel may pin a thread too: a loaded setting names one.
  followThread(light = true) {
    const id = this.model.get("thread");
    const sel = id >= 0 && this.frame ? this.valid({ kind: "thread", id, map: 0 }) : null;
    if (sel) this.pinned = sel;
    else if (id < 0 && this.pinned && this.pinned.kind === "thread" && this.pinned.map === 0) this.pinned = null;
    if (light !== false) this.light();
  }

  // Where the focus starts in a strip: at a relative of what is pinned, else at its first thing.
  start(kind, index) {
    const src = this.pinned ? srcOf(this.frame, this.pinned) : -1;
    if (this.pinned && this.pinned.kind === kind && (kind === "src" || this.pinned.map === index)) return this.pinned;
    const map = this.frame.maps[index];
    if (kind === "src") return this.frame.counts.length ? { kind, id: Math.max(0, src), map: 0 } : null;
    if (kind === "thread") return map.threads ? { kind, id: Math.max(0, src < 0 ? 0 : map.src.indexOf(src)), map: index } : null;
    const rows = this.layouts[index].rows;
    const row = (src >= 0 && rows.find((item) => item.src.includes(src))) || rows.find((item) => item.used) || rows[0];
    return row ? { kind, map: index, memory: row.memory, row: row.index, id: src < 0 ? 0 : Math.max(0, row.src.indexOf(src)) } : null;
  }

  key(event, kind, index) {
    if (event.ctrlKey || event.metaKey || event.altKey || !this.frame) return;
    if (event.key === "Escape") { this.pinned = null; this.selected = null; this.pin(null); }
    else if (event.key === "Enter" || event.key === " ") this.pin(this.selected);
    else if (KEYS.has(event.key)) this.select(this.next(event.key, kind, index));
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  next(key, kind, index) {
    const now = this.selected && this.selected.kind === kind ? this.selected : null;
    if (!now) return this.start(kind, index);
    if (kind === "entry") return movedEntry(key, now, this.layouts[index]);
    const map = this.frame.maps[index];
    const count = kind === "src" ? this.frame.counts.length : map.threads;
    const [line, page] = kind === "src" ? [10, 50] : [this.grids[index].lanes, map.workgroup_size];
    return { ...now, id: moved(key, now.id, count, line, page) };
  }

  remove() {
    this.halt();
    this.resizes.disconnect();
    this.themes.disconnect();
    for (const [name, act] of this.handlers) this.model.off(name, act);
    this.model.off("msg:custom", this.message);
    this.downloads.remove();
  }
}

export default {
  render({ model, el }) {
    const view = new ThreadMapView(model, el);
    return () => view.remove();
  },
};
