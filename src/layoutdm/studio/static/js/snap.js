/**
 * Snapping: where a moving rectangle would line up with its neighbours, and the lines that show it.
 */
import { round } from "./geometry.js";

/** @typedef {import("./types.js").Rect} Rect */
/** @typedef {import("./types.js").Guide} Guide */
/** @typedef {import("./types.js").Size} Size */
/** @typedef {import("./types.js").Point} Point */
/** @typedef {{at: number, from: number, to: number}} Line */
/** @typedef {{by: number, guides: Guide[]}} Snap */
/** @typedef {[start: number, size: number, acrossStart: number, acrossSize: number]} Span */

/** @param {Rect} r @param {"x" | "y"} axis @returns {Span} */
const span = (r, axis) => (axis === "x" ? [r.x, r.w, r.y, r.h] : [r.y, r.h, r.x, r.w]);

/**
 * How far to shift so that edges or centres meet those of others, or gaps become equal.
 * @param {Rect} rect  where it would be without snapping
 * @param {readonly Rect[]} others
 * @param {Size} canvas
 * @param {number} reach  canvas pixels
 * @param {{x: readonly number[], y: readonly number[]}} [anchors]  which parts snap: 0 start, 0.5 centre, 1 end
 * @returns {{by: Point, guides: Guide[]}}
 */
export function snapped(rect, others, canvas, reach, anchors = { x: [0, 0.5, 1], y: [0, 0.5, 1] }) {
  const all = [...others, { x: 0, y: 0, w: canvas.width, h: canvas.height }];
  const x = along("x", rect, others, all, reach, anchors.x);
  const y = along("y", rect, others, all, reach, anchors.y);
  const moved = { ...rect, x: rect.x + x.by, y: rect.y + y.by };
  return { by: { x: x.by, y: y.by }, guides: [...x.guides, ...y.guides].map((g) => stretched(g, moved)) };
}

/**
 * @param {"x" | "y"} axis @param {Rect} rect @param {readonly Rect[]} others
 * @param {readonly Rect[]} all @param {number} reach @param {readonly number[]} anchors
 * @returns {Snap}
 */
function along(axis, rect, others, all, reach, anchors) {
  if (!anchors.length) return { by: 0, guides: [] };
  const [start, size] = span(rect, axis);
  let best = reach + 1e-9;
  /** @type {Map<number, Guide[]>} */
  const found = new Map();
  for (const other of all) {
    const [oStart, oSize, aStart, aSize] = span(other, axis);
    for (const part of [0, 0.5, 1]) {
      const at = oStart + oSize * part;
      for (const anchor of anchors) {
        const by = round(at - (start + size * anchor));
        if (Math.abs(by) > best) continue;
        best = Math.min(best, Math.abs(by));
        found.set(by, [...(found.get(by) ?? []), { axis, at, from: aStart, to: aStart + aSize }]);
      }
    }
  }
  const lines = [...found.entries()].filter(([by]) => Math.abs(by) <= best + 1e-9);
  const [by, guides] = lines[0] ?? [0, []];
  // Equal gaps are offered where no edge is near.
  if (!lines.length && anchors.length === 3) return evenly(axis, rect, others, reach);
  return { by, guides: merged(guides) };
}

/** Lines at one place become one. @param {Guide[]} guides @returns {Guide[]} */
function merged(guides) {
  /** @type {Map<number, Guide>} */
  const by = new Map();
  for (const g of guides) {
    const old = by.get(g.at);
    by.set(g.at, old ? { ...g, from: Math.min(old.from, g.from), to: Math.max(old.to, g.to) } : g);
  }
  return [...by.values()];
}

/** A line reaches to the moved rectangle. @param {Guide} g @param {Rect} rect @returns {Guide} */
function stretched(g, rect) {
  if (g.gap) return g;
  const [, , start, size] = span(rect, g.axis);
  return { ...g, from: Math.min(g.from, start), to: Math.max(g.to, start + size) };
}

/**
 * The same distance to both neighbours, or the distance that two neighbours already have.
 * @param {"x" | "y"} axis @param {Rect} rect @param {readonly Rect[]} others @param {number} reach
 * @returns {Snap}
 */
function evenly(axis, rect, others, reach) {
  const [start, size, aStart, aSize] = span(rect, axis);
  const row = others
    .map((o) => span(o, axis))
    .filter(([, , s, n]) => s < aStart + aSize && aStart < s + n)
    .sort((a, b) => a[0] + a[1] - b[0] - b[1]);
  const before = row.filter(([s, n]) => s + n <= start + size / 2);
  const after = row.filter(([s]) => s >= start + size / 2).sort((a, b) => a[0] - b[0]);
  const [p, q] = [before.at(-1), before.at(-2)];
  const [n, m] = [after[0], after[1]];
  const at = aStart + aSize / 2;
  /** @param {number} from @param {number} to @returns {Guide} */
  const gap = (from, to) => ({ axis, at, from, to, gap: true });
  /** @type {{place: number, guides: (place: number) => Guide[]}[]} */
  const wishes = [];
  if (p && n) {
    const [end, next] = [p[0] + p[1], n[0]];
    wishes.push({ place: (end + next - size) / 2, guides: (s) => [gap(end, s), gap(s + size, next)] });
  }
  if (p && q && p[0] > q[0] + q[1]) {
    const [a, b, c] = [q[0] + q[1], p[0], p[0] + p[1]];
    wishes.push({ place: c + (b - a), guides: (s) => [gap(a, b), gap(c, s)] });
  }
  if (n && m && m[0] > n[0] + n[1]) {
    const [a, b, c] = [n[0], n[0] + n[1], m[0]];
    wishes.push({ place: a - (c - b) - size, guides: (s) => [gap(s + size, a), gap(b, c)] });
  }
  const near = wishes.filter((w) => Math.abs(w.place - start) <= reach);
  near.sort((a, b) => Math.abs(a.place - start) - Math.abs(b.place - start));
  const best = near[0];
  return best ? { by: best.place - start, guides: best.guides(best.place) } : { by: 0, guides: [] };
}
