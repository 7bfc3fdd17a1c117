// What is selected, who its relatives are, the sentence that says so, and the shader lines that did it.

const plural = (count, one, many = `${one}s`) => `${count.toLocaleString("en")} ${count === 1 ? one : many}`;

// Small things get decimals, as in "1.5 KiB".
// The row of the first memory that a thread's `entry` is counted in.
const rowOf = (map, t) => (map.memory.length && map.memory[0].rows.length > 1 ? Math.max(0, map.bucket[t]) : 0);

function srcOf(frame, sel) {
  if (!sel) return -1;
  if (sel.kind === "src") return sel.id;
  const map = frame.maps[sel.map];
  if (sel.kind === "thread") return map.src[sel.id];
  const row = map.memory[sel.memory].rows[sel.row];
  return sel.id < row.src.length ? row.src[sel.id] : -1;
}

// Per map: the threads and entries to light, and which of them are the selected ones.
function relativesOf(frame, sel) {
  const src = srcOf(frame, sel);
  const maps = frame.maps.map((map, index) => {
    const mine = sel.kind !== "src" && sel.map === index;
    const lit = { threads: [], entries: [], chosen: [], chosenEntries: [] };
    const only = mine && sel.kind === "entry" && sel.memory === 0;
    if (src >= 0) {
      for (let t = 0; t < map.threads; t++) {
        if (map.src[t] !== src) continue;
        if (!only || (map.entry[t] === sel.id && rowOf(map, t) === sel.row)) lit.threads.push(t);
      }
      map.memory.forEach((memory, m) =>
        memory.rows.forEach((row, r) => {
          for (let e = row.src.indexOf(src); e >= 0; e = row.src.indexOf(src, e + 1)) lit.entries.push([m, r, e]);
        }),
      );
    }
    if (mine && sel.kind === "thread") {
      lit.chosen.push(sel.id);
      if (map.entry[sel.id] >= 0 && map.memory.length) lit.chosenEntries.push([0, rowOf(map, sel.id), map.entry[sel.id]]);
    }
    if (mine && sel.kind === "entry") lit.chosenEntries.push([sel.memory, sel.row, sel.id]);
    return lit;
  });
  return { src, maps };
}

function selectionKey(sel, frame) {
  if (!sel) return "";
  const where = sel.map && frame.maps.length > 1 ? `@${sel.map}` : "";
  if (sel.kind === "entry") return `entry:${sel.row}/${sel.id}${where}`;
  return `${sel.kind}:${sel.id}${where}`;
}

function spanText(threads) {
  if (!threads.length) return "no thread";
  const first = threads[0];
  const last = threads[threads.length - 1];
  if (threads.length === 1) return `thread ${first}`;
  if (last - first + 1 === threads.length) return `threads ${first} to ${last}`;
  return `${threads.length} threads between ${first} and ${last}`;
}

function sentence(frame, sel, relatives) {
  if (!sel) return "";
  const map = frame.maps[sel.map || 0];
  const name = frame.maps.length > 1 && sel.kind !== "src" ? `${map.strategy}, ` : "";
  if (sel.kind === "thread") return name + threadText(map, sel.id);
  if (sel.kind === "entry") return name + entryText(map, sel, relatives);
  const parts = frame.maps.map((item, index) => {
    const lit = relatives.maps[index];
    const entries = item.memory.length ? `, ${plural(lit.entries.length, "entry", "entries")}` : "";
    return `${frame.maps.length > 1 ? `${item.strategy}: ` : ""}${spanText(lit.threads)}${entries}`;
  });
  return `src ${sel.id}: N = ${frame.counts[sel.id]}; ${parts.join("; ")}`;
}

function threadText(map, t) {
  const dispatch = map.dispatch[map.threads - 1] > 0 ? `dispatch ${map.dispatch[t]}, ` : "";
  const place = `thread ${t}: ${dispatch}workgroup ${map.workgroup[t]}, subgroup ${map.subgroup[t]}, lane ${map.lane[t]}`;
  if (map.src[t] < 0) {
    const padding = map.bucket[t] >= 0 ? `idle, in the padding of bucket ${map.bucket[t]}` : "idle";
    return `${place}; ${padding}`;
  }
  const item = `${place}; src ${map.src[t]}, local ${map.local[t]}`;
  if (map.entry[t] < 0 || !map.memory.length) return item;
  const memory = map.memory[0];
  const row = memory.rows[rowOf(map, t)];
  return `${item}; found through ${row ? row.label : memory.buffer}, entry ${map.entry[t]}`;
}

function entryText(map, sel, relatives) {
  const memory = map.memory[sel.memory];
  const row = memory.rows[sel.row];
  const place = `${memory.rows.length > 1 ? row.label : memory.buffer}, entry ${sel.id}`;
  if (sel.id >= row.src.length) return `${place}: free (${row.src.length} of ${row.capacity} are filled)`;
  const stands = row.width > 1 ? `, stands for ${row.width} items` : "";
  const threads = relatives.maps[sel.map].threads;
  return `${place}: src ${row.src[sel.id]}, ${row.entry_bytes} bytes${stands}; ${spanText(threads)}`;
}

// Lines to mark in the code of a map: those of the selection, or else that of the step, or else the work.
function linesFor(frame, index, sel, step) {
  const map = frame.maps[index];
  const some = (...names) => names.map((name) => map.lines[name]).filter(Boolean);
  if (sel && (sel.kind === "src" || sel.map === index)) {
    if (sel.kind === "src") return some("load");
    if (sel.kind === "entry") return sel.id < map.memory[sel.memory].rows[sel.row].src.length ? some("write") : [];
    return map.src[sel.id] >= 0 ? some("work", "read") : some("idle");
  }
  const shown = stepOf(map, step);
  return shown ? [shown.line] : some("work");
}

const stepOf = (map, step) => (step >= 0 && step < map.steps.length ? map.steps[step] : null);

// --- keyboard: where an arrow leads ---------------------------------------------------------------------------

const KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "PageUp", "PageDown"]);

function moved(key, id, count, line, page) {
  const by = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -line, ArrowDown: line, PageUp: -page, PageDown: page }[key];
  const to = key === "Home" ? 0 : key === "End" ? count - 1 : id + by;
  return Math.max(0, Math.min(count - 1, to));
}

function movedEntry(key, sel, layout) {
  const place = Math.max(0, layout.rows.findIndex((row) => row.memory === sel.memory && row.index === sel.row));
  const step = { ArrowUp: -1, PageUp: -1, ArrowDown: 1, PageDown: 1 }[key] || 0;
  const row = layout.rows[Math.max(0, Math.min(layout.rows.length - 1, place + step))];
  const id = step ? Math.min(sel.id, row.capacity - 1) : moved(key, sel.id, row.capacity, 0, 0);
  return { ...sel, memory: row.memory, row: row.index, id };
}
