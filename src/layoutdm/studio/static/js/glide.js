/** Boxes that glide from where they are seen to where they should be. */

/** @typedef {import("./types.js").Box} Box */
/** @typedef {{box: Box, x: number, y: number, w: number, h: number, opacity: number}} Seen */

const DURATION = 240; // milliseconds

/** @type {Map<string, Seen>} */
let from = new Map();
/** @type {Map<string, Seen>} */
let to = new Map();
let began = -Infinity;

/** @param {Box} box @param {number} opacity @returns {Seen} */
const seenAs = (box, opacity) => ({ box, x: box.x, y: box.y, w: box.w, h: box.h, opacity });

/**
 * Where boxes should be from now on.
 * @param {readonly {box: Box, opacity: number}[]} boxes @param {boolean} jump  without gliding
 */
export function aim(boxes, jump) {
  const now = performance.now();
  const seen = new Map(seenNow(now).map((item) => [item.box.id, item]));
  to = new Map(boxes.map(({ box, opacity }) => [box.id, seenAs(box, opacity)]));
  if (jump || matchMedia("(prefers-reduced-motion: reduce)").matches) {
    from = new Map(to);
    began = -Infinity;
    return;
  }
  // What goes fades where it is, what comes fades in where it will be.
  for (const [id, item] of seen) if (!to.has(id)) to.set(id, { ...item, opacity: 0 });
  from = new Map([...to].map(([id, item]) => [id, seen.get(id) ?? { ...item, opacity: 0 }]));
  began = now;
}

/** @param {number} now @returns {Seen[]} */
export function seenNow(now) {
  const share = Math.min(1, (now - began) / DURATION);
  const t = 1 - (1 - share) ** 3;
  /** @type {Seen[]} */
  const out = [];
  for (const [id, end] of to) {
    const start = from.get(id) ?? end;
    /** @param {"x" | "y" | "w" | "h" | "opacity"} key */
    const mix = (key) => start[key] + (end[key] - start[key]) * t;
    if (share === 1 && end.opacity === 0) continue;
    out.push({ box: end.box, x: mix("x"), y: mix("y"), w: mix("w"), h: mix("h"), opacity: mix("opacity") });
  }
  return out;
}

export const gliding = () => performance.now() - began < DURATION;
