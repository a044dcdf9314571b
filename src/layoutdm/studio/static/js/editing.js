/** Edits of what is selected, for keys, menus and buttons. */
import * as D from "./doc.js";
import { isRecord } from "./files.js";
import { around } from "./geometry.js";
import { recordOf, rectOf } from "./request.js";
import { commit, doc, edit, get, nextLabel, say, select } from "./store.js";

/** @typedef {import("./types.js").Box} Box */

/** @type {readonly Box[]} */
let clip = [];
/** @type {import("./types.js").Doc["relations"]} */
let clipped = []; // among them, and kept when they are cut
let pastes = 0;

const chosen = () => doc().boxes.filter((box) => get().selected.has(box.id));

export const selectAll = () => select(doc().boxes.map((box) => box.id));

export function remove() {
  const { selected } = get();
  if (selected.size) edit((d) => D.removed(d, selected), { selected: [] });
}

export function toggleLock() {
  const boxes = chosen();
  if (!boxes.length) return;
  const lock = boxes.some((box) => !box.locked);
  edit((d) => D.locked(d, get().selected, lock));
  say(`${boxes.length === 1 ? D.title(boxes[0]) : `${boxes.length} elements`} ${lock ? "locked" : "unlocked"}.`);
}

export function duplicate() {
  const boxes = chosen();
  if (!boxes.length) return;
  const [next, ids] = D.pasted(doc(), boxes, { x: 12, y: 12 });
  commit(next, { selected: ids });
}

/** Also to the system's clipboard, as the record of a layout, so that it travels. */
export function copy() {
  clip = chosen();
  clipped = doc().relations;
  pastes = 0;
  if (clip.length) navigator.clipboard?.writeText(JSON.stringify(recordOf(doc(), clip))).catch(() => {});
}

export function cutOut() {
  copy();
  remove();
}

/** @param {boolean} inPlace */
export function paste(inPlace) {
  if (!clip.length) return;
  pastes += 1;
  const by = inPlace ? 0 : 12 * pastes;
  const [next, ids] = D.pasted(doc(), clip, { x: by, y: by }, clipped);
  commit(next, { selected: ids });
}

/**
 * What another program put on the clipboard.
 * @param {string} text
 * @returns {boolean} whether it was a layout
 */
export function pasteText(text) {
  /** @type {any} */
  let record;
  try {
    record = JSON.parse(text);
  } catch {
    return false;
  }
  if (!isRecord(record) || !record.boxes.length) return false;
  if (clip.length && JSON.stringify(recordOf(doc(), clip)) === text) return false; // our own copy
  let next = doc();
  /** @type {string[]} */
  const ids = [];
  record.boxes.forEach((/** @type {number[]} */ b, /** @type {number} */ i) => {
    const [d, id] = D.added(next, rectOf(b, next.canvas), record.labels[i]);
    const name = record.metadata?.names?.[i];
    const free = typeof name === "string" && name && !next.boxes.some((box) => box.name === name);
    next = free ? D.named(d, id, name) : d;
    ids.push(id);
  });
  commit(next, { selected: ids });
  return true;
}

/** A box without a mouse: in the middle, or beside the selected one. */
export function addBox() {
  const { canvas } = doc();
  const at = chosen();
  const [w, h] = [Math.round(canvas.width * 0.4), Math.round(canvas.height * 0.08)];
  const beside = at.length ? around(at) : null;
  const rect = beside
    ? { x: beside.x, y: Math.min(beside.y + beside.h + 8, canvas.height - h), w, h }
    : { x: Math.round((canvas.width - w) / 2), y: Math.round((canvas.height - h) / 2), w, h };
  const [next, id] = D.added(doc(), rect, nextLabel());
  commit(next, { selected: [id] });
}

/** @param {number} x @param {number} y */
export const nudge = (x, y) => edit((d) => D.moved(d, get().selected, { x, y }), { tag: "nudge" });

/** @param {number} x @param {number} y */
export function grow(x, y) {
  const boxes = chosen().filter((box) => !box.locked);
  if (!boxes.length) return;
  const from = around(boxes);
  const to = { ...from, w: Math.max(1, from.w + x), h: Math.max(1, from.h + y) };
  edit((d) => D.reshaped(d, get().selected, from, to), { tag: "grow" });
}
