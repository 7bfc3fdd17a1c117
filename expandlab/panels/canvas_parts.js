// The page's elements: strips, charts and the column that holds one map's.

// A text is written when it is another: the same one would be laid out, and read out, again.
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// A strip: a title, a canvas that takes the focus, and a second one above it for highlights.
class Strip {
  constructor(title, label, height) {
    this.element = make("div", "xl-strip");
    this.title = make("div", "xl-strip-title");
    this.name = make("b", "", title);
    this.facts = make("span");
    this.title.append(this.name, this.facts);
    this.frame = make("div", "xl-strip-frame");
    this.base = make("canvas", "xl-base");
    this.base.tabIndex = 0;
    this.base.setAttribute("role", "application");
    this.base.setAttribute("aria-label", label);
    this.top = make("canvas", "xl-top");
    this.top.setAttribute("aria-hidden", "true");
    this.frame.append(this.base, this.top);
    this.element.append(this.title, this.frame);
    this.lower = this.base.getContext("2d", { alpha: false });
    this.upper = this.top.getContext("2d");
    this.size = { width: 1, height: Math.round(height), dpr: 1, left: 0 };
  }
  resize(width, height, dpr, extra = {}) {
    this.size = { width, height, dpr, left: 0, ...extra };
    for (const canvas of [this.base, this.top]) {
      if (canvas.width !== width) canvas.width = width;
      if (canvas.height !== height) canvas.height = height;
      canvas.style.height = `${height / dpr}px`;
    }
  }
  at(event) {
    const box = this.base.getBoundingClientRect();
    return [((event.clientX - box.left) / box.width) * this.size.width, ((event.clientY - box.top) / box.height) * this.size.height];
  }
}

class Chart {
  constructor(title, height, label) {
    this.element = make("div", "xl-chart");
    this.title = make("div", "xl-chart-title", title);
    this.canvas = make("canvas");
    this.canvas.setAttribute("role", "img");
    this.canvas.setAttribute("aria-label", label);
    this.element.append(this.title, this.canvas);
    this.context = this.canvas.getContext("2d");
    this.high = height;
  }
  // `across`: the width of its place, in the page's pixels.
  resize(across, dpr) {
    const width = Math.max(1, Math.round(across * dpr));
    const height = Math.round(this.high * dpr);
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    this.canvas.style.height = `${this.high}px`;
    this.size = { width, height, dpr };
  }
}

class Column {
  constructor(index) {
    this.index = index;
    this.strips = make("div", "xl-column");
    this.head = make("div", "xl-head");
    this.names = [make("b"), make("code"), make("span")];
    this.head.append(...this.names);
    this.memory = new Strip("2 What pass 1 wrote", "What pass 1 wrote: arrow keys move, Enter pins, Escape clears", 10);
    this.threads = new Strip("3 Threads of pass 2", "Threads of pass 2: arrow keys move, Enter pins, Escape clears", 10);
    this.strips.append(this.head, this.memory.element, this.threads.element);
    this.details = make("div", "xl-details");
    this.lanes = new Chart("Lanes active in each subgroup", 54, "Lanes active in each subgroup");
    this.shares = new Chart("Utilisation over the steps", 62, "Utilisation over the steps; the step slider moves its cursor");
    this.code = new CodeView();
    const charts = make("div", "xl-charts");
    charts.append(this.lanes.element, this.shares.element);
    this.details.append(charts, this.code.element);
    this.across = [1, 1];
  }
  // Widths of the charts' places, in the page's pixels.
  measure() {
    this.across = [this.lanes.element.clientWidth, this.shares.element.clientWidth];
  }
  fit(dpr) {
    this.lanes.resize(this.across[0], dpr);
    this.shares.resize(this.across[1], dpr);
  }
}
