/** Taking a generated layout into the document. */
import { madeBox } from "./doc.js";
import { centre, round } from "./geometry.js";
import { rectOf } from "./request.js";

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").Box} Box */
/** @typedef {import("./types.js").LayoutRecord} LayoutRecord */
/** @typedef {import("./types.js").Index} Index */
/** @typedef {import("./types.js").Rect} Rect */

/**
 * The document with a result in it. Listed boxes come first in a result, in their order; the
 * others are made ones, which take over the ids of like ones nearby, so that they glide.
 * @param {Doc} base
 * @param {LayoutRecord} result
 * @param {Index} index
 * @param {readonly Box[]} [before]  boxes on the screen, to glide from
 * @returns {Doc}
 */
export function taken(base, result, index, before = base.boxes) {
  const listed = new Set(index.elements);
  const old = new Map(base.boxes.map((box) => [box.id, box]));
  const spare = before.filter((box) => box.made && !listed.has(box.id));
  const numbers = [...base.boxes, ...before].map((box) => Number(box.id.slice(1)) || 0);
  let number = Math.max(0, ...numbers);
  /** @type {Box[]} */
  const boxes = result.boxes.map((b, i) => {
    const rect = rectOf(b, base.canvas);
    const box = old.get(index.elements[i] ?? "");
    if (box) {
      // What stood still must not move by the dust of a division.
      const same = box.locked || near(rect, box);
      const at = same ? box : { x: round(rect.x), y: round(rect.y), w: round(rect.w), h: round(rect.h) };
      return { ...box, x: at.x, y: at.y, w: at.w, h: at.h, label: result.labels[i] };
    }
    const like = nearest(spare, result.labels[i], rect);
    if (like) spare.splice(spare.indexOf(like), 1);
    return madeBox(like ? like.id : `e${++number}`, result.labels[i], rect);
  });
  const there = new Set(boxes.map((box) => box.id));
  return {
    ...base, boxes,
    relations: base.relations.filter((r) => there.has(r.of) && (r.to === "canvas" || there.has(r.to))),
    groups: base.groups.filter((g) => g.of.every((id) => there.has(id))),
    order: base.order.filter((id) => there.has(id)),
  };
}

/** @param {Rect} a @param {Rect} b */
const near = (a, b) =>
  Math.max(Math.abs(a.x - b.x), Math.abs(a.y - b.y), Math.abs(a.w - b.w), Math.abs(a.h - b.h)) < 0.02;

/** @param {readonly Box[]} boxes @param {string} label @param {Rect} rect */
function nearest(boxes, label, rect) {
  const c = centre(rect);
  /** @param {Box} box */
  const distance = (box) => Math.hypot(centre(box).x - c.x, centre(box).y - c.y);
  const like = boxes.filter((box) => box.label === label);
  return like.sort((a, b) => distance(a) - distance(b))[0];
}

/**
 * Live: only what the user left free follows the result; drafts stay where they were put.
 * @param {Doc} doc @param {LayoutRecord} result @param {Index} index @returns {Doc}
 */
export function followed(doc, result, index) {
  const all = taken(doc, result, index);
  const old = new Map(doc.boxes.map((box) => [box.id, box]));
  return {
    ...all,
    boxes: all.boxes.map((box) => {
      const was = old.get(box.id);
      if (!was || box.made) return box;
      const { x, y, w, h } = was;
      const pick = { ...box };
      if (was.wish.x !== "free") Object.assign(pick, { x });
      if (was.wish.w !== "free") Object.assign(pick, { w });
      if (was.wish.y !== "free") Object.assign(pick, { y });
      if (was.wish.h !== "free") Object.assign(pick, { h });
      return pick;
    }),
  };
}
