// The steps: lanes active in each subgroup, utilisation over all steps, and the shader beside them.

function drawLanes(context, map, step, theme, size) {
  context.clearRect(0, 0, size.width, size.height);
  const shown = stepOf(map, step) || map.steps[map.steps.length - 1];
  if (!shown) return;
  const groups = shown.active.length;
  const most = map.subgroup_size;
  const base = size.height - size.dpr;
  const pitch = Math.min(size.width / Math.max(1, groups), 26 * size.dpr);
  const gap = pitch >= 4 * size.dpr ? size.dpr : 0;
  context.fillStyle = css(theme.idle);
  context.fillRect(0, 0, pitch * groups, base);
  context.fillStyle = css(theme.accent);
  const columns = pitch >= 1 ? groups : Math.floor(size.width);
  for (let c = 0; c < columns; c++) {
    // Below a pixel a subgroup, a column shows the mean of its subgroups.
    const first = Math.floor((c * groups) / columns);
    const end = Math.max(first + 1, Math.floor(((c + 1) * groups) / columns));
    let lanes = 0;
    for (let g = first; g < end; g++) lanes += shown.active[g];
    const high = (lanes / (end - first) / most) * base;
    const wide = pitch >= 1 ? pitch - gap : 1;
    context.fillRect(c * (pitch >= 1 ? pitch : 1), base - high, wide, high);
  }
  context.fillStyle = css(theme.line);
  context.fillRect(0, base, size.width, size.dpr);
  if (pitch >= 18 * size.dpr) {
    context.font = `${9 * size.dpr}px ${theme.font}`;
    context.textAlign = "center";
    shown.active.forEach((lanes, g) => {
      const inside = lanes / most > 0.5;
      context.fillStyle = css(inside ? theme.ground : theme.soft);
      const y = base - (lanes / most) * base + (inside ? 11 : -3) * size.dpr;
      context.fillText(lanes, g * pitch + (pitch - gap) / 2, y);
    });
  }
}

function drawShares(context, map, step, theme, size) {
  context.clearRect(0, 0, size.width, size.height);
  const count = map.steps.length;
  if (!count) return;
  const label = 14 * size.dpr;
  const base = size.height - label;
  const pitch = size.width / count;
  const gap = pitch >= 4 * size.dpr ? size.dpr : 0;
  context.font = `${10 * size.dpr}px ${theme.font}`;
  context.textBaseline = "bottom";
  context.textAlign = "left";
  let pass = null;
  let turn = 0;
  namePasses(context, map, pitch, theme, size);
  map.steps.forEach((item, index) => {
    const x = index * pitch;
    if (item.pass !== pass) {
      pass = item.pass;
      turn++;
      context.fillStyle = css(theme.line);
      context.fillRect(Math.round(x), 0, size.dpr, base);
    }
    context.fillStyle = css(theme.idle);
    context.fillRect(x + gap, 0, pitch - gap, base);
    const high = item.share * (base - size.dpr);
    context.fillStyle = css(mix(theme.ground, theme.text, turn % 2 ? 0.38 : 0.55));
    if (index === step) context.fillStyle = css(theme.accent);
    context.fillRect(x + gap, base - high, Math.max(1, pitch - gap), high);
  });
  if (step >= 0 && step < count) {
    context.strokeStyle = css(theme.text);
    context.lineWidth = size.dpr;
    context.strokeRect(step * pitch + size.dpr / 2, size.dpr / 2, Math.max(2, pitch - size.dpr), base - size.dpr);
  }
}

// The last pass is the one that matters most: its name is placed first, and the others where they fit before it.
function namePasses(context, map, pitch, theme, size) {
  const { steps } = map;
  const starts = steps.map((item, index) => index).filter((index) => !index || steps[index].pass !== steps[index - 1].pass);
  const gap = 6 * size.dpr;
  const wide = (index) => context.measureText(steps[index].pass).width;
  const last = starts.pop();
  const end = Math.min(last * pitch, size.width - wide(last));
  context.fillStyle = css(theme.soft);
  context.fillText(steps[last].pass, end, size.height);
  let clear = 0;
  for (const index of starts) {
    const x = index * pitch;
    if (x < clear || x + wide(index) + gap > end) continue;
    context.fillText(steps[index].pass, x, size.height);
    clear = x + wide(index) + gap;
  }
}

const percent = (share) => `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

function stepText(map, step) {
  const shown = stepOf(map, step);
  if (!shown) return { text: "finished map", place: "" };
  const times = shown.repeats > 1 ? ` ×${shown.repeats}` : "";
  const total = shown.active.length * map.subgroup_size;
  const lanes = `${shown.lanes.toLocaleString("en")} of ${total.toLocaleString("en")} lanes (${percent(shown.share)})`;
  return { text: `${shown.pass}: ${shown.label}${times} · ${lanes}`, place: `${shown.line[0]}:${shown.line[1]}` };
}

// A shader with marked lines; the text is rebuilt only when the file changes.
class CodeView {
  constructor() {
    this.element = document.createElement("div");
    this.element.className = "xl-code";
    this.head = document.createElement("div");
    this.head.className = "xl-code-file";
    this.body = document.createElement("pre");
    this.body.tabIndex = 0;
    this.element.append(this.head, this.body);
    this.file = null;
    this.rows = [];
    this.shown = "";
  }
  show(lines, shaders) {
    const file = lines.length ? lines[0][0] : this.file;
    const text = file && shaders[file];
    const key = `${file} ${lines.join(" ")}`;
    // Scrolling asks the browser for a layout, so only what changes is shown.
    if (!text || key === this.shown) return;
    this.shown = key;
    if (file !== this.file) this.load(file, text);
    const marks = lines.filter(([name]) => name === file).map(([, number]) => number);
    this.rows.forEach((row, index) => row.classList.toggle("xl-mark", marks.includes(index + 1)));
    this.head.textContent = marks.length ? `${file}:${marks[0]}` : file;
    this.body.setAttribute("aria-label", `Shader ${this.head.textContent}`);
    const row = this.rows[(marks[0] || 1) - 1];
    if (row && marks.length) this.body.scrollTop = row.offsetTop - this.body.clientHeight / 2 + row.offsetHeight / 2;
  }
  load(file, text) {
    this.file = file;
    this.rows = text.replace(/\n$/, "").split("\n").map((line, index) => {
      const row = document.createElement("div");
      const code = line.replace(/\s*\/\/:.*$/, ""); // labels of lines are for the model, not for readers
      const comment = code.indexOf("//");
      const number = document.createElement("i");
      number.textContent = index + 1;
      row.append(number, comment < 0 ? code || " " : code.slice(0, comment));
      if (comment >= 0) {
        const span = document.createElement("span");
        span.textContent = code.slice(comment);
        row.append(span);
      }
      return row;
    });
    this.body.replaceChildren(...this.rows);
  }
}
