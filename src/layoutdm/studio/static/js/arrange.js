/** Boxes in line, evenly spaced, in an order and in groups. Each function gives a new document. */
import { changed, freshId, keptBoxes, touched } from "./doc.js";
import { around, round } from "./geometry.js";

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").Box} Box */
/** @typedef {import("./types.js").Group} Group */
/** @typedef {import("./doc.js").Ids} Ids */
/** @typedef {"left" | "centre" | "right" | "top" | "middle" | "bottom"} Align */

/** @param {Doc} doc @param {Ids} ids @param {Align} how */
export function aligned(doc, ids, how) {
  const chosen = new Set(ids);
  const boxes = doc.boxes.filter((box) => chosen.has(box.id));
  if (!boxes.length) return doc;
  // One box alone lines up with the canvas; several with what is around them, or with a locked one.
  const locks = boxes.filter((box) => box.locked);
  const whole = boxes.length === 1 ? { x: 0, y: 0, w: doc.canvas.width, h: doc.canvas.height } : around(locks.length ? locks : boxes);
  const part = { left: 0, centre: 0.5, right: 1, top: 0, middle: 0.5, bottom: 1 }[how];
  const across = how === "left" || how === "centre" || how === "right";
  return changed(doc, ids, (box) => {
    if (box.locked) return box;
    return across
      ? touched({ ...box, x: round(whole.x + (whole.w - box.w) * part) }, ["x"])
      : touched({ ...box, y: round(whole.y + (whole.h - box.h) * part) }, ["y"]);
  });
}

/** Equal gaps between three or more boxes. @param {Doc} doc @param {Ids} ids @param {"x" | "y"} axis */
export function distributed(doc, ids, axis) {
  const chosen = new Set(ids);
  const size = axis === "x" ? "w" : "h";
  const boxes = doc.boxes.filter((box) => chosen.has(box.id)).sort((a, b) => a[axis] - b[axis]);
  if (boxes.length < 3) return doc;
  const whole = around(boxes);
  const gap = (whole[size] - boxes.reduce((sum, box) => sum + box[size], 0)) / (boxes.length - 1);
  let at = whole[axis];
  /** @type {Map<string, number>} */
  const places = new Map();
  for (const box of boxes) {
    places.set(box.id, round(at));
    at += box[size] + gap;
  }
  return changed(doc, ids, (box) =>
    box.locked ? box : touched({ ...box, [axis]: places.get(box.id) ?? box[axis] }, [axis]));
}

/** These are read one after the other, as they stand now. @param {Doc} doc @param {Ids} ids @returns {Doc} */
export function ordered(doc, ids) {
  const chosen = new Set(ids);
  const boxes = doc.boxes.filter((box) => chosen.has(box.id)).sort((a, b) => a.y - b.y || a.x - b.x);
  return keptBoxes({ ...doc, order: boxes.map((box) => box.id) }, ids);
}

/**
 * A column, row or grid of these boxes, in the order in which they stand.
 * @param {Doc} doc
 * @param {Ids} ids
 * @param {Group["kind"]} kind
 * @returns {Doc}
 */
export function grouped(doc, ids, kind) {
  const chosen = new Set(ids);
  const boxes = doc.boxes.filter((box) => chosen.has(box.id));
  const rows = kind === "grid" ? inRows(boxes) : [];
  const sorted = kind === "grid" ? rows.flat() : [...boxes].sort((a, b) => (kind === "row" ? a.x - b.x : a.y - b.y));
  /** @type {Group} */
  const group = {
    id: freshId(doc, "g"), kind, of: sorted.map((box) => box.id), gap: "equal", same: "",
    columns: Math.max(1, ...rows.map((row) => row.length)),
    align: kind === "column" ? "left" : kind === "row" ? "middle" : "",
  };
  return keptBoxes({ ...doc, groups: [...doc.groups, group] }, group.of);
}

/**
 * Boxes in rows: a row ends where the next box begins below the first one's middle.
 * @param {readonly Box[]} boxes
 */
function inRows(boxes) {
  /** @type {Box[][]} */
  const rows = [];
  for (const box of [...boxes].sort((a, b) => a.y + a.h / 2 - b.y - b.h / 2)) {
    const first = rows.at(-1)?.[0];
    if (first && box.y < first.y + first.h / 2) rows.at(-1)?.push(box);
    else rows.push([box]);
  }
  return rows.map((row) => row.sort((a, b) => a.x - b.x));
}
