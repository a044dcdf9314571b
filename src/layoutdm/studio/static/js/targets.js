/** Where boxes should be seen: a frame of the film, a variant in place, or the document. */
import { madeBox } from "./doc.js";
import { rectOf } from "./request.js";
import { taken } from "./variant.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {{box: import("./types.js").Box, opacity: number}} Target */

/** @param {State} state @returns {Target[]} */
export function targets(state) {
  const { variants, hover, film } = state;
  const doc = state.draft ?? state.history.present;
  const result = variants?.results[hover];
  if (!variants || !result) return doc.boxes.map((box) => ({ box, opacity: 1 }));
  const shown = taken(variants.base, result, variants.asked.index, doc.boxes);
  if (!film) return shown.boxes.map((box) => ({ box, opacity: 1 }));
  const frame = film.frames[film.at];
  return frame.boxes.map((b, i) => {
    // A value that is not decided spans the canvas: the box condenses as its values are drawn.
    const open = b.filter((v) => v === null).length;
    const [x, w] = b[0] === null ? [0.5, b[2] ?? 1] : [b[0], b[2] ?? 0.02];
    const [y, h] = b[1] === null ? [0.5, b[3] ?? 1] : [b[1], b[3] ?? 0.02];
    const known = shown.boxes[i];
    const label = frame.labels[i] ?? known?.label ?? "";
    const box = { ...madeBox(known?.id ?? `f${i}`, label, rectOf([x, y, w, h], doc.canvas)) };
    return { box, opacity: [1, 0.5, 0.3, 0.18, 0.07][open] };
  });
}
