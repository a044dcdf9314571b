/** A tidied layout in the document: what is locked or fixed stays, and the others line up with it. */
import { round } from "./geometry.js";
import { rectOf } from "./request.js";

/** @typedef {import("./types.js").Box} Box */
/** @typedef {import("./types.js").Rect} Rect */

const SAME = 0.05; // pixels

/**
 * @param {import("./types.js").Doc} doc
 * @param {import("./types.js").LayoutRecord} neat  the same boxes, in the same order
 * @returns {import("./types.js").Doc}
 */
export function tidied(doc, neat) {
  const rects = neat.boxes.map((b) => rectOf(b, doc.canvas));
  const locks = doc.boxes.map((box, i) => ({ box, rect: rects[i] })).filter(({ box }) => box.locked);
  const boxes = doc.boxes.map((box, i) => {
    if (box.locked) return box;
    const rect = { ...rects[i] };
    for (const lock of locks) {
      follow(rect, rects[i], lock, "x", "w");
      follow(rect, rects[i], lock, "y", "h");
    }
    const value = (/** @type {import("./types.js").Side} */ side) => (box.wish[side] === "fixed" ? box[side] : round(rect[side]));
    return { ...box, x: value("x"), y: value("y"), w: value("w"), h: value("h") };
  });
  return { ...doc, boxes };
}

/**
 * Edges that tidying made equal to those of a locked box follow it back to where it is.
 * @param {Rect} rect  changed
 * @param {Rect} neat
 * @param {{box: Box, rect: Rect}} lock
 * @param {"x" | "y"} start
 * @param {"w" | "h"} size
 */
function follow(rect, neat, lock, start, size) {
  for (const part of [0, 1, 0.5]) {
    const apart = neat[start] + neat[size] * part - lock.rect[start] - lock.rect[size] * part;
    if (Math.abs(apart) > SAME) continue;
    if (Math.abs(neat[size] - lock.rect[size]) <= SAME) rect[size] = lock.box[size];
    rect[start] = lock.box[start] + lock.box[size] * part - rect[size] * part;
    return;
  }
}
