// Paints the strips. The pictures below the highlights are written pixel by pixel into one buffer each: 16 384 threads
// with gaps and hatching then cost about a millisecond, where as many canvas calls would cost fifty.

class Raster {
  constructor(width, height) {
    this.image = new ImageData(Math.max(1, width), Math.max(1, height));
    this.words = new Uint32Array(this.image.data.buffer);
    this.width = this.image.width;
    this.height = this.image.height;
  }
  rect(x, y, w, h, colour) {
    const { words, width } = this;
    const right = Math.min(width, x + w);
    const bottom = Math.min(this.height, y + h);
    for (let row = y; row < bottom; row++) {
      const end = row * width + right;
      // A call of `fill` costs as much as a dozen pixels.
      if (w > 24) words.fill(colour, row * width + x, end);
      else for (let i = row * width + x; i < end; i++) words[i] = colour;
    }
  }
  // Diagonal lines: what is idle or free, told apart without colour too.
  hatch(x, y, w, h, colour, ground, period, thick) {
    const { words, width } = this;
    const right = Math.min(width, x + w);
    const bottom = Math.min(this.height, y + h);
    for (let row = y; row < bottom; row++)
      for (let at = x, i = row * width + x; at < right; at++, i++)
        words[i] = (at + row) % period < thick ? colour : ground;
  }
  put(context) {
    context.putImageData(this.image, 0, 0);
  }
}

// A canvas keeps its buffer, as long as it keeps its size: a slider's every move would leave megabytes behind.
const rasters = new WeakMap();

function rasterOf(context, size, ground) {
  let raster = rasters.get(context);
  if (!raster || raster.width !== Math.max(1, size.width) || raster.height !== Math.max(1, size.height)) {
    raster = new Raster(size.width, size.height);
    rasters.set(context, raster);
  }
  raster.words.fill(word(ground));
  return raster;
}

// 0xRRGGBB -> what a little-endian word of ImageData holds.
const word = (rgb) => (0xff000000 | ((rgb & 0xff) << 16) | (rgb & 0xff00) | ((rgb >> 16) & 0xff)) >>> 0;
const css = (rgb) => `#${(rgb & 0xffffff).toString(16).padStart(6, "0")}`;

function mix(from, to, share) {
  const part = (shift) => Math.round(((from >> shift) & 255) * (1 - share) + ((to >> shift) & 255) * share) << shift;
  return part(16) | part(8) | part(0);
}

// Black or white, whichever reads better on the colour.
function ink(rgb) {
  const light = 0.299 * ((rgb >> 16) & 255) + 0.587 * ((rgb >> 8) & 255) + 0.114 * (rgb & 255);
  return light > 140 ? "#000" : "#fff";
}

// The theme's colours as 0xRRGGBB, resolved by the browser itself; `known`, where the style is still the same.
function themeOf(element, known) {
  const style = getComputedStyle(element);
  const names = ["--xl-ground", "--xl-text", "--xl-accent"];
  const source = [...names.map((name) => style.getPropertyValue(name).trim()), style.fontFamily].join(";");
  if (known && known.source === source) return known;
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const read = (name, fallback) => {
    probe.fillStyle = fallback;
    probe.fillStyle = style.getPropertyValue(name).trim() || fallback;
    probe.fillRect(0, 0, 1, 1);
    const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
    return (r << 16) | (g << 8) | b;
  };
  const ground = read("--xl-ground", "#fff");
  const text = read("--xl-text", "#222");
  return {
    source, ground, text,
    soft: mix(ground, text, 0.62), line: mix(ground, text, 0.28), hatch: mix(ground, text, 0.24),
    idle: mix(ground, text, 0.05), accent: read("--xl-accent", "#1976d2"), font: style.fontFamily || "sans-serif",
  };
}

function drawSources(context, frame, theme, size) {
  const raster = rasterOf(context, size, theme.ground);
  const base = size.height - size.dpr;
  raster.rect(0, base, size.width, size.dpr, word(theme.line));
  const count = frame.counts.length;
  const scale = (base - 2 * size.dpr) / Math.max(1, frame.widest);
  const pitch = size.width / Math.max(1, count);
  const bar = (s, x, w) => {
    const high = frame.counts[s] > 0 ? Math.max(size.dpr, Math.round(frame.counts[s] * scale)) : 0;
    raster.rect(x, base - high, w, high, word(frame.colours[s]));
  };
  if (pitch >= 1) {
    for (let s = 0; s < count; s++) {
      const x = Math.round(s * pitch);
      const next = Math.round((s + 1) * pitch);
      bar(s, x, Math.max(1, next - x - (pitch > 3 * size.dpr ? Math.round(size.dpr) : 0)));
    }
  } else {
    // Several src share a pixel column: the tallest stands for them.
    for (let x = 0; x < size.width; x++) {
      let tallest = Math.floor(x * count / size.width);
      const end = Math.max(tallest + 1, Math.floor((x + 1) * count / size.width));
      for (let s = tallest + 1; s < end; s++) if (frame.counts[s] > frame.counts[tallest]) tallest = s;
      if (tallest < count) bar(tallest, x, 1);
    }
  }
  raster.put(context);
  if (pitch >= 15 * size.dpr && count < 100) {
    context.font = `${9 * size.dpr}px ${theme.font}`;
    context.textAlign = "center";
    context.textBaseline = "bottom";
    for (let s = 0; s < count; s++) {
      const high = frame.counts[s] * scale;
      const inside = high > 13 * size.dpr;
      context.fillStyle = inside ? ink(frame.colours[s]) : css(theme.soft);
      const y = inside ? base - high + 11 * size.dpr : base - high - size.dpr;
      context.fillText(frame.counts[s], (s + 0.5) * pitch, y);
    }
  }
}

// Filled entries in their src's colour, free ones hatched; an entry's border shows once there is room for one.
function drawMemory(context, frame, map, layout, theme, size) {
  const raster = rasterOf(context, size, theme.ground);
  const gap = Math.max(1, Math.round(size.dpr));
  const hatch = Math.round(5 * size.dpr);
  for (const row of layout.rows) {
    const wide = size.scale * row.width;
    const edge = (e) => size.left + Math.round(e * wide);
    const free = edge(row.used);
    raster.hatch(free, row.y, edge(row.capacity) - free, row.high, word(theme.hatch), word(theme.idle), hatch, gap);
    if (wide >= 1) {
      const room = wide >= 4 * size.dpr ? gap : 0;
      for (let e = 0; e < row.used; e++) {
        const across = Math.max(1, edge(e + 1) - edge(e) - room);
        const rgb = frame.colours[row.src[e]];
        // Written for a src without items: it leads nobody anywhere.
        if (frame.counts[row.src[e]]) raster.rect(edge(e), row.y, across, row.high, word(rgb));
        else raster.hatch(edge(e), row.y, across, row.high, word(theme.soft), word(theme.line), 3 * gap, gap);
      }
    } else {
      for (let x = size.left; x < free; x++) {
        const e = Math.min(row.used - 1, Math.floor((x - size.left) / wide));
        raster.rect(x, row.y, 1, row.high, word(frame.colours[row.src[e]]));
      }
    }
  }
  raster.put(context);
  drawMemoryText(context, frame, layout, theme, size);
}

function drawMemoryText(context, frame, layout, theme, size) {
  context.textBaseline = "middle";
  for (const row of layout.rows) {
    const middle = row.y + row.high / 2 + size.dpr / 2;
    const small = Math.min(10.5 * size.dpr, row.high + 2 * size.dpr);
    context.font = `${small}px ${theme.font}`;
    context.fillStyle = css(theme.soft);
    context.textAlign = "right";
    context.fillText(row.label, size.left - 8 * size.dpr, middle, size.left - 10 * size.dpr);
    const told = `${row.used.toLocaleString("en")} of ${row.capacity.toLocaleString("en")}`;
    context.fillText(told, size.width - 62 * size.dpr, middle);
    context.fillText(bytesText(row.capacity * row.entry_bytes), size.width - 2 * size.dpr, middle);
    const wide = size.scale * row.width;
    if (wide < 15 * size.dpr || layout.rows.reduce((sum, item) => sum + item.used, 0) >= 256) continue;
    context.textAlign = "center";
    for (let e = 0; e < row.used; e++) {
      context.fillStyle = ink(frame.colours[row.src[e]]);
      context.fillText(row.src[e], size.left + (e + 0.5) * wide, middle);
    }
  }
}

// How much each subgroup fades at a step: not at all for the finished map, wholly where no lane is active.
function fading(map, step) {
  const shown = stepOf(map, step);
  if (!shown) return null;
  const groups = map.threads / map.subgroup_size;
  const fade = new Float32Array(Math.ceil(groups)).fill(0.82);
  if (shown.pass === map.last && shown.active.length === groups) {
    shown.active.forEach((lanes, g) => { fade[g] = 0.82 * (1 - lanes / map.subgroup_size); });
  }
  return fade;
}

function drawThreads(context, frame, map, grid, theme, size, step) {
  const raster = rasterOf(context, size, theme.ground);
  const fade = fading(map, step);
  const gap = grid.cell >= 4 * size.dpr ? Math.max(1, Math.round(size.dpr)) : grid.cell >= 3 ? 1 : 0;
  const inner = grid.cell - gap;
  const hatch = Math.round((grid.cell > 8 * size.dpr ? 5 : 3) * size.dpr);
  const thick = Math.max(1, Math.round(size.dpr));
  let active = 0;
  for (let b = 0; b < grid.blocks; b++) {
    for (let t = map.blocks[b]; t < map.blocks[b + 1]; t++) {
      const [x, y] = placeOfThread(map, grid, t, b);
      const away = fade ? fade[Math.floor(t / map.subgroup_size)] : 0;
      if (map.src[t] < 0) {
        raster.hatch(x, y, inner, inner, word(mix(theme.hatch, theme.ground, away * 0.6)), word(theme.idle), hatch, thick);
        continue;
      }
      active++;
      const rgb = frame.colours[map.src[t]];
      raster.rect(x, y, inner, inner, word(away ? mix(rgb, theme.ground, away) : rgb));
    }
  }
  raster.put(context);
  if (grid.top) nameBlocks(context, map, grid, theme, size);
  if (map.threads < 256 && grid.cell >= 13 * size.dpr) {
    const working = Array.from(map.src.keys()).filter((t) => map.src[t] >= 0);
    const faded = (t) => mix(frame.colours[map.src[t]], theme.ground, fade ? fade[Math.floor(t / map.subgroup_size)] : 0);
    writeLocals(context, map, grid, size, working, faded);
  }
  return active;
}

function nameBlocks(context, map, grid, theme, size) {
  context.font = `${9.5 * size.dpr}px ${theme.font}`;
  context.textAlign = "left";
  context.textBaseline = "alphabetic";
  context.fillStyle = css(theme.soft);
  for (let b = 0; b < grid.blocks; b++) {
    const [x, y] = placeOfThread(map, grid, map.blocks[b], b);
    context.fillText(`workgroup ${map.workgroup[map.blocks[b]]}`, x, y - 3 * size.dpr);
  }
}

// The local index in its thread's cell; `ground(t)` is the colour that it stands on.
function writeLocals(context, map, grid, size, threads, ground) {
  context.font = `${Math.min(10, grid.cell / size.dpr / 2.1) * size.dpr}px sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (const t of threads) {
    const [x, y] = placeOfThread(map, grid, t, blockOf(map, t));
    context.fillStyle = ink(ground(t));
    context.fillText(map.local[t], x + grid.cell / 2, y + grid.cell / 2 + size.dpr / 2);
  }
  context.fillStyle = "#000";
}

// --- highlights: a veil over the strip, the relatives on top in full colour --------------------------------------

function veil(context, theme, size) {
  context.clearRect(0, 0, size.width, size.height);
  context.fillStyle = css(theme.ground);
  context.globalAlpha = 0.72;
  context.fillRect(size.left || 0, 0, size.right || size.width, size.height);
  context.globalAlpha = 1;
}

function outline(context, theme, dpr, x, y, w, h) {
  const thick = Math.max(2, Math.round(2 * dpr));
  context.lineWidth = thick + 2 * dpr;
  context.strokeStyle = css(theme.ground);
  context.strokeRect(x - thick / 2, y - thick / 2, w + thick, h + thick);
  context.lineWidth = thick;
  context.strokeStyle = css(theme.text);
  context.strokeRect(x - thick / 2, y - thick / 2, w + thick, h + thick);
}

function lightSources(context, frame, src, theme, size, chosen) {
  veil(context, theme, size);
  if (src < 0) return;
  const pitch = size.width / frame.counts.length;
  const base = size.height - size.dpr;
  const high = Math.max(2 * size.dpr, frame.counts[src] * (base - 2 * size.dpr) / Math.max(1, frame.widest));
  const wide = Math.max(3 * size.dpr, pitch - size.dpr);
  const x = Math.max(0, Math.min(size.width - wide, src * pitch));
  context.fillStyle = css(frame.colours[src]);
  context.fillRect(x, base - high, wide, high);
  if (chosen) outline(context, theme, size.dpr, x + 1, base - high, wide - 2, high - 2 * size.dpr);
}

function lightMemory(context, frame, map, lit, layout, theme, size) {
  veil(context, theme, size);
  const boxOf = ([m, r, e]) => {
    const row = layout.rows.find((item) => item.memory === m && item.index === r);
    const wide = row.width * size.scale;
    return [size.left + Math.round(e * wide), row.y, Math.max(2 * size.dpr, wide - (wide > 4 ? size.dpr : 0)), row.high, row];
  };
  for (const entry of lit.entries) {
    const [x, y, w, h, row] = boxOf(entry);
    context.fillStyle = css(frame.colours[row.src[entry[2]]]);
    context.fillRect(x, y, w, h);
  }
  for (const entry of lit.chosenEntries) outline(context, theme, size.dpr, ...boxOf(entry).slice(0, 4));
}

function lightThreads(context, frame, map, lit, grid, theme, size, colour) {
  veil(context, theme, size);
  const inner = Math.max(1, grid.cell - (grid.cell >= 3 ? 1 : 0));
  if (colour !== null) context.fillStyle = css(colour);
  for (const t of lit.threads) {
    const [x, y] = placeOfThread(map, grid, t, blockOf(map, t));
    context.fillRect(x, y, inner, inner);
  }
  if (map.threads < 256 && grid.cell >= 13 * size.dpr) writeLocals(context, map, grid, size, lit.threads, () => colour);
  for (const t of lit.chosen) {
    const [x, y] = placeOfThread(map, grid, t, blockOf(map, t));
    outline(context, theme, size.dpr, x, y, inner, inner);
  }
}
