// Reads a frame (panels/packing.py writes it) and lays it out. Lengths are device pixels unless they say otherwise.

function decodeFrame(view) {
  let bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  if (bytes.byteOffset % 4) bytes = bytes.slice(); // typed arrays of words need an aligned start
  const length = new DataView(bytes.buffer, bytes.byteOffset, 4).getUint32(0, true);
  const frame = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const start = bytes.byteOffset + 4 + length;
  const stored = { 1: Int8Array, 2: Int16Array, 4: Int32Array };
  const words = (place) => {
    if (!Array.isArray(place)) return numbered(place);
    const [first, count, size] = place;
    const found = new stored[size](bytes.buffer, start + 4 * first, count);
    return size === 4 ? found : new Int32Array(found);
  };
  frame.counts = words(frame.counts);
  frame.colours = words(frame.colours);
  frame.widest = frame.counts.reduce((most, n) => Math.max(most, n), 0);
  for (const map of frame.maps) {
    for (const name of Object.keys(map.columns)) map[name] = words(map.columns[name]);
    map.threads = map.src.length;
    for (const memory of map.memory) for (const row of memory.rows) row.src = words(row.src);
    for (const step of map.steps) {
      step.active = words(step.active);
      step.lanes = step.active.reduce((sum, lanes) => sum + lanes, 0);
      step.share = step.active.length ? step.lanes / (step.active.length * map.subgroup_size) : 0;
    }
    map.last = map.steps.length ? map.steps[map.steps.length - 1].pass : "";
    map.blocks = blocksOf(map);
  }
  return frame;
}

// An array that its header describes: runs of `every` equal values, one up with each run, anew after `period` runs.
function numbered({ length, start, every, period }) {
  const found = new Int32Array(length);
  for (let i = 0, run = 0, left = every; i < length; i++, left--) {
    if (!left) {
      left = every;
      if (++run === period) run = 0;
    }
    found[i] = start + run;
  }
  return found;
}

// First row of each run of one workgroup, and the end of all. A thread that takes several items has several rows.
function blocksOf(map) {
  const starts = [];
  for (let t = 0; t < map.threads; t++) {
    if (t === 0 || map.workgroup[t] !== map.workgroup[t - 1] || map.dispatch[t] !== map.dispatch[t - 1]) starts.push(t);
  }
  starts.push(map.threads);
  return Int32Array.from(starts);
}

// --- threads: workgroups are blocks, rows of a block are whole subgroups side by side --------------------------

function threadGrid(map, width, cell, dpr, named) {
  const size = map.subgroup_size;
  const lanes = Math.min(map.workgroup_size, size > 64 ? 64 : Math.max(size, 32));
  const apart = cell >= 5 * dpr ? Math.round(2 * dpr) : 1;
  const between = Math.max(apart + 1, Math.round((cell >= 8 * dpr ? 8 : cell >= 3 * dpr ? 4 : 3) * dpr));
  const parts = size < lanes ? lanes / size : 1;
  let longest = 1;
  for (let b = 0; b + 1 < map.blocks.length; b++) longest = Math.max(longest, map.blocks[b + 1] - map.blocks[b]);
  const rows = Math.ceil(longest / lanes);
  const blockWidth = lanes * cell + (parts - 1) * apart;
  const pitchX = blockWidth + between;
  const perLine = Math.max(1, Math.floor((width + between) / pitchX));
  const blocks = map.blocks.length - 1;
  const top = named ? Math.round(12 * dpr) : 0; // room for the workgroup's number
  const pitchY = top + rows * (cell + apart) - apart + (named ? Math.round(4 * dpr) : between);
  const height = Math.max(1, Math.ceil(blocks / perLine)) * pitchY + Math.round(2 * dpr);
  return { top, cell, lanes, size, apart, between, parts, rows, blockWidth, pitchX, pitchY, perLine, blocks, height };
}

// The largest cell with which every map fits, so that two maps are drawn to one scale.
function commonGrid(maps, width, dpr) {
  const most = Math.max(...maps.map((map) => map.threads));
  const room = (most < 256 ? 190 : most <= 4096 ? 230 : most <= 16384 ? 330 : 430) * dpr;
  const blocks = Math.max(...maps.map((map) => map.blocks.length - 1));
  for (let cell = Math.round((most < 256 ? 24 : 15) * dpr); cell >= 1; cell--) {
    const named = cell >= 8 * dpr && blocks <= 48;
    const grids = maps.map((map) => threadGrid(map, width, cell, dpr, named));
    if (cell === 1 || grids.every((grid) => grid.blockWidth <= width && grid.height <= room)) return grids;
  }
}

function placeOfThread(map, grid, t, block) {
  const inside = t - map.blocks[block];
  const lane = inside % grid.lanes;
  const row = (inside - lane) / grid.lanes;
  const gaps = grid.size < grid.lanes ? Math.floor(lane / grid.size) * grid.apart : 0;
  return [
    (block % grid.perLine) * grid.pitchX + lane * grid.cell + gaps,
    Math.floor(block / grid.perLine) * grid.pitchY + grid.top + row * (grid.cell + grid.apart),
  ];
}

function blockOf(map, t) {
  let low = 0;
  let high = map.blocks.length - 2;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (map.blocks[middle] <= t) low = middle;
    else high = middle - 1;
  }
  return low;
}

function threadAt(map, grid, x, y) {
  const column = Math.floor(x / grid.pitchX);
  const line = Math.floor(y / grid.pitchY);
  const block = line * grid.perLine + column;
  if (x < 0 || y < 0 || column >= grid.perLine || block >= grid.blocks) return -1;
  const inX = x - column * grid.pitchX;
  const inY = y - line * grid.pitchY - grid.top;
  if (inX >= grid.blockWidth || inY < 0) return -1;
  const row = Math.floor(inY / (grid.cell + grid.apart));
  const part = grid.size < grid.lanes ? grid.size * grid.cell + grid.apart : grid.blockWidth + 1;
  const piece = Math.floor(inX / part);
  const lane = piece * grid.size + Math.min(grid.size * grid.cell - 1, inX - piece * part) / grid.cell;
  const t = map.blocks[block] + row * grid.lanes + Math.floor(lane);
  return t < map.blocks[block + 1] ? t : -1;
}

// --- memory: rows of entries, an entry as wide as the items that it stands for ----------------------------------

function memoryRows(map, dpr) {
  const rows = [];
  const rest = { rows: 0, bytes: 0, first: "", last: "" };
  map.memory.forEach((memory, m) => {
    let end = memory.rows.length;
    while (end > 1 && !memory.rows[end - 1].src.length) end--;
    memory.rows.forEach((row, r) => {
      if (r < end) return rows.push({ ...row, memory: m, index: r, used: row.src.length });
      rest.first = rest.rows++ ? rest.first : row.label;
      rest.last = row.label.replace(/^\D+/, "");
      rest.bytes += row.capacity * row.entry_bytes;
    });
  });
  const high = Math.round((rows.length > 16 ? 8 : rows.length > 4 ? 12 : 22) * dpr);
  const gap = Math.round(3 * dpr);
  rows.forEach((row, place) => Object.assign(row, { y: place * (high + gap), high }));
  return { rows, height: Math.max(1, rows.length * (high + gap)), pitch: high + gap, rest };
}

// Device pixels of one dst item, common to all maps.
function memoryScale(layouts, width) {
  const items = Math.max(1, ...layouts.flatMap((layout) => layout.rows.map((row) => row.capacity * row.width)));
  return width / items;
}

function entryAt(layout, scale, left, x, y) {
  const row = layout.rows[Math.floor(y / layout.pitch)];
  if (!row || x < left) return null;
  const id = Math.floor((x - left) / scale / row.width);
  return id < row.capacity ? { memory: row.memory, row: row.index, id } : null;
}
