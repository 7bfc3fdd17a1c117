// A scene that the kernel laid out, drawn here as SVG: marks below, and above them what can be pointed at. Everything that
// hovering, the arrow keys and a click do happens in the page.

const SVG_SPACE = "http://www.w3.org/2000/svg";

const svgMake = (tag, attributes, text) => {
  const element = document.createElementNS(SVG_SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
};

const pathOf = (flat) => {
  let text = "";
  for (let i = 0; i < flat.length; i += 2) text += `${i ? "L" : "M"}${flat[i]} ${flat[i + 1]}`;
  return text;
};

const ANCHORS = { left: "start", center: "middle", right: "end" };

// Mark -> elements. Every colour and number comes from the kernel, every text goes in as text.
const MARKS = {
  r: ([, flat, face, edge, line]) => {
    const rects = (from, to, fill) => {
      let d = "";
      for (let i = from; i < to; i += 4) d += `M${flat[i]} ${flat[i + 1]}h${flat[i + 2]}v${flat[i + 3]}h${-flat[i + 2]}z`;
      return svgMake("path", { d, fill, ...(line ? { stroke: edge, "stroke-width": line } : {}) });
    };
    if (!Array.isArray(face)) return [rects(0, flat.length, face)];
    return face.map((fill, n) => rects(4 * n, 4 * n + 4, fill));
  },
  p: ([, polygons, face]) => [svgMake("path", { d: polygons.map((flat) => `${pathOf(flat)}Z`).join(""), fill: face })],
  l: ([, strokes, colour, line, dashes]) => [svgMake("path", {
    d: strokes.map(pathOf).join(""), fill: "none", stroke: colour, "stroke-width": line,
    ...(dashes.length ? { "stroke-dasharray": dashes.join(" ") } : {}),
  })],
  // The kernel measured the text with the font that an export uses; here it takes the same room in another one.
  t: ([, x, y, text, size, colour, weight, align, width]) => [svgMake("text", {
    x, y, fill: colour, "font-size": size, "font-weight": weight, "text-anchor": ANCHORS[align], textLength: width,
    lengthAdjust: "spacingAndGlyphs",
  }, text)],
};

const place = (target) => {
  if (target.path) return { d: pathOf(target.path) };
  const [x, y, width, height] = target.box;
  return { x, y, width, height };
};

// Sets what differs.
const settle = (element, attributes) => {
  for (const [name, value] of Object.entries(attributes)) {
    if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
  }
};

// Makes `elements` the children, in this order, and moves none that stands right.
const arrange = (parent, elements) => {
  const wanted = new Set(elements);
  for (const child of [...parent.children]) if (!wanted.has(child)) child.remove();
  let next = parent.firstChild;
  for (const element of elements) {
    if (element === next) next = next.nextSibling;
    else parent.insertBefore(element, next);
  }
};

let scenesMade = 0;

class SceneView {
  constructor(model, el) {
    this.model = model;
    this.prefix = `xl-scene-${scenesMade++}-`;
    this.hitsMade = 0;
    // What is drawn: the elements of each mark by its text, and of each target by its id.
    this.made = new Map();
    this.hits = new Map();
    this.root = make("div", "xl-picture xl-scene");
    this.frame = make("div", "xl-scene-frame");
    this.tip = make("div", "xl-tip");
    this.tip.hidden = true;
    this.say = make("div", "xl-scene-say");
    this.say.setAttribute("aria-live", "polite");
    this.downloads = new Downloads();
    this.frame.append(this.tip);
    this.root.append(this.frame, this.say, this.downloads.element);
    el.append(this.root);
    this.show = () => this.draw();
    this.mark = () => this.markWrong();
    this.message = (content, buffers) => this.downloads.receive(content, buffers);
    model.on("change:drawn", this.show);
    model.on("change:wrong", this.mark);
    model.on("msg:custom", this.message);
    this.draw();
  }
  draw() {
    const packed = this.model.get("packed");
    if (!packed?.byteLength) return;
    const scene = JSON.parse(new TextDecoder().decode(packed));
    this.root.dataset.receivedAt = performance.timeOrigin + performance.now();
    const kept = this.selected;
    if (!this.svg) this.open();
    settle(this.svg, {
      viewBox: `0 0 ${scene.width} ${scene.height}`, "aria-label": this.model.get("alt"),
      style: `aspect-ratio: ${scene.width} / ${scene.height}`,
    });
    // What an edit leaves as it was stays as it is: the browser lays out and paints the rest alone.
    const before = this.made;
    this.made = new Map();
    const marks = [];
    for (const mark of scene.marks) {
      const key = JSON.stringify(mark);
      const elements = before.get(key)?.pop() ?? MARKS[mark[0]](mark);
      if (this.made.has(key)) this.made.get(key).push(elements);
      else this.made.set(key, [elements]);
      marks.push(...elements);
    }
    arrange(this.marks, marks);
    this.targets = scene.targets;
    this.places = new Map(this.targets.map((target, n) => [target.id, n]));
    const hits = new Map();
    for (const target of this.targets) {
      const tag = target.path ? "path" : "rect";
      let element = this.hits.get(target.id);
      if (element?.localName !== tag) {
        element = svgMake(tag, { id: this.prefix + this.hitsMade++, role: "option", "aria-selected": "false" });
      }
      settle(element, {
        ...place(target), class: `xl-hit xl-hit-${target.kind}`, "data-id": target.id,
        "aria-label": target.says.join("; "),
      });
      hits.set(target.id, element);
    }
    this.hits = hits;
    arrange(this.hitGroup, [...hits.values()]);
    if (!this.places.has(this.pinned)) this.pinned = undefined;
    this.select(this.places.has(kept) ? kept : this.pinned, false);
    this.markWrong();
    const drawn = this.model.get("drawn");
    // After the frame in which it is painted: the message comes when the browser is free again.
    requestAnimationFrame(() => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        this.root.dataset.paintedAt = performance.timeOrigin + performance.now();
        this.root.dataset.drawn = drawn;
      };
      channel.port2.postMessage(0);
    });
  }
  open() {
    const svg = svgMake("svg", { tabindex: "0", role: "listbox", class: "xl-scene-svg" });
    this.marks = svgMake("g", { class: "xl-marks", "aria-hidden": "true" });
    this.over = svgMake("g", { class: "xl-over" });
    this.hitGroup = svgMake("g", { class: "xl-hits" });
    svg.append(this.marks, this.over, this.hitGroup);
    svg.addEventListener("pointermove", (event) => this.point(event));
    svg.addEventListener("pointerleave", () => this.select(this.pinned, false));
    svg.addEventListener("click", (event) => this.click(event));
    svg.addEventListener("keydown", (event) => this.key(event));
    svg.addEventListener("focus", () => this.selected === undefined && this.select(this.targets[0]?.id, true));
    svg.addEventListener("blur", () => this.pinned === undefined && this.select(undefined, false));
    this.svg = svg;
    this.frame.prepend(svg);
  }
  shape(target, attributes) {
    return svgMake(target.path ? "path" : "rect", { ...place(target), ...attributes });
  }
  targetAt(event) {
    return event.target.closest?.(".xl-hit")?.dataset.id;
  }
  point(event) {
    const id = this.targetAt(event);
    if (id !== this.selected) this.select(id ?? this.pinned, false);
  }
  click(event) {
    const id = this.targetAt(event);
    this.pinned = id === this.pinned ? undefined : id;
    this.select(id, false);
    this.choose(id);
  }
  choose(id) {
    const pass = this.targets[this.places.get(id)]?.pass;
    if (pass === undefined) return;
    this.model.set("chosen", pass);
    this.model.save_changes();
  }
  key(event) {
    const last = this.targets.length - 1;
    const at = this.places.get(this.selected) ?? -1;
    const moves = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: last };
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in moves) this.select(this.targets[Math.min(last, Math.max(0, moves[event.key]))]?.id, true);
    else if (event.key === "Escape") this.select((this.pinned = undefined), false);
    else if (event.key === "Enter" || event.key === " ") {
      this.pinned = this.selected;
      this.choose(this.selected);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
  select(id, scroll) {
    this.selected = id;
    this.root.dataset.selected = id ?? "";
    const target = this.targets[this.places.get(id)];
    this.svg.querySelectorAll("[aria-selected=true]").forEach((old) => old.setAttribute("aria-selected", "false"));
    this.over.replaceChildren();
    this.tip.hidden = !target;
    this.say.textContent = target ? target.says.join("; ") : "";
    if (!target) {
      this.svg.removeAttribute("aria-activedescendant");
      return;
    }
    for (const near of target.near) {
      const other = this.targets[this.places.get(near)];
      if (other) this.over.append(this.shape(other, { class: `xl-near xl-near-${other.kind}` }));
    }
    this.over.append(this.shape(target, { class: `xl-chosen xl-chosen-${target.kind}` }));
    const element = this.hits.get(id);
    element.setAttribute("aria-selected", "true");
    this.svg.setAttribute("aria-activedescendant", element.id);
    this.tip.replaceChildren(...target.says.map((line, n) => make(n ? "div" : "b", "", line)));
    this.placeTip(element, scroll);
  }
  placeTip(element, scroll) {
    if (scroll) element.scrollIntoView({ block: "nearest", inline: "nearest" });
    const frame = this.frame.getBoundingClientRect();
    const box = element.getBoundingClientRect();
    this.tip.style.left = "0";
    const [wide, high] = [this.tip.offsetWidth, this.tip.offsetHeight];
    // Beside a tall stroke, below anything else: what it speaks of and the two ends stay in sight where there is room.
    const tall = box.height > 40 && box.width < 120;
    const right = box.right + 16 + wide <= frame.right ? box.right + 16 : box.left - 16 - wide;
    const left = tall ? right : box.left + box.width / 2 - 40;
    const top = tall ? box.top + box.height / 2 - high / 2 : box.bottom + 8;
    this.tip.style.left = `${Math.min(Math.max(0, left - frame.left), Math.max(0, frame.width - wide - 4))}px`;
    this.tip.style.top = `${Math.max(0, top - frame.top)}px`;
  }
  markWrong() {
    const wrong = new Set(this.model.get("wrong") || []);
    this.svg?.querySelectorAll(".xl-wrong-pass").forEach((old) => old.remove());
    for (const target of this.targets || []) {
      if (target.kind === "pass" && wrong.has(target.pass)) this.svg.append(this.shape(target, { class: "xl-wrong-pass" }));
    }
  }
  remove() {
    this.model.off("change:drawn", this.show);
    this.model.off("change:wrong", this.mark);
    this.model.off("msg:custom", this.message);
    this.downloads.remove();
  }
}

export default {
  render({ model, el }) {
    const view = new SceneView(model, el);
    return () => view.remove();
  },
};
