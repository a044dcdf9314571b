/** Rectangles in canvas pixels: pure functions. */

/** @typedef {import("./types.js").Rect} Rect */
/** @typedef {import("./types.js").Size} Size */
/** @typedef {import("./types.js").Point} Point */

/** Hundredths of a pixel are finer than anything one sees, and hide the dust of divisions. */
/** @param {number} value */
export const round = (value) => Math.round(value * 100) / 100;

/** @param {number} value @param {number} low @param {number} high */
export const clamp = (value, low, high) => Math.min(Math.max(value, low), Math.max(low, high));

/** @param {Rect} rect */
export const area = (rect) => rect.w * rect.h;

/** @param {Rect} rect @returns {Point} */
export const centre = (rect) => ({ x: rect.x + rect.w / 2, y: rect.y + rect.h / 2 });

/** @param {Rect} rect @param {Point} point @param {number} [margin] */
export const holds = (rect, point, margin = 0) =>
  point.x >= rect.x - margin && point.x <= rect.x + rect.w + margin &&
  point.y >= rect.y - margin && point.y <= rect.y + rect.h + margin;

/** @param {Rect} a @param {Rect} b */
export const meet = (a, b) =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** The rectangle between two corners. @param {Point} a @param {Point} b @returns {Rect} */
export const between = (a, b) => ({
  x: Math.min(a.x, b.x), y: Math.min(a.y, b.y), w: Math.abs(a.x - b.x), h: Math.abs(a.y - b.y),
});

/** The smallest rectangle around all. @param {readonly Rect[]} rects @returns {Rect} */
export function around(rects) {
  const x = Math.min(...rects.map((r) => r.x));
  const y = Math.min(...rects.map((r) => r.y));
  const right = Math.max(...rects.map((r) => r.x + r.w));
  const bottom = Math.max(...rects.map((r) => r.y + r.h));
  return { x, y, w: right - x, h: bottom - y };
}

/** The part of a rectangle that lies on the canvas. @param {Rect} rect @param {Size} canvas */
export function cut(rect, canvas) {
  const x = clamp(rect.x, 0, canvas.width);
  const y = clamp(rect.y, 0, canvas.height);
  const w = clamp(rect.x + rect.w, 0, canvas.width) - x;
  const h = clamp(rect.y + rect.h, 0, canvas.height) - y;
  return { x, y, w, h };
}

/** A move that keeps a rectangle on the canvas. @param {Rect} rect @param {Point} by @param {Size} canvas */
export const heldBack = (rect, by, canvas) => ({
  x: clamp(by.x, -rect.x, canvas.width - rect.x - rect.w),
  y: clamp(by.y, -rect.y, canvas.height - rect.y - rect.h),
});

/**
 * A rectangle pulled by one of its handles ("n", "se", ...).
 * @param {Rect} rect
 * @param {string} handle
 * @param {Point} by
 * @param {{ratio?: boolean, centred?: boolean, least?: number}} [how]
 * @returns {Rect}
 */
export function pulled(rect, handle, by, { ratio = false, centred = false, least = 1 } = {}) {
  const toX = handle.includes("e") ? 1 : handle.includes("w") ? -1 : 0;
  const toY = handle.includes("s") ? 1 : handle.includes("n") ? -1 : 0;
  const times = centred ? 2 : 1;
  let w = Math.max(least, rect.w + toX * by.x * times);
  let h = Math.max(least, rect.h + toY * by.y * times);
  if (ratio && rect.w > 0 && rect.h > 0) {
    const scale = toX && toY ? Math.max(w / rect.w, h / rect.h) : toX ? w / rect.w : h / rect.h;
    w = rect.w * scale;
    h = rect.h * scale;
  }
  const stay = centred ? 0 : 1;
  return {
    x: rect.x + (rect.w - w) * (0.5 - (0.5 * toX) * stay),
    y: rect.y + (rect.h - h) * (0.5 - (0.5 * toY) * stay),
    w, h,
  };
}

/**
 * A rectangle carried along when the one around it changes.
 * @param {Rect} rect
 * @param {Rect} from
 * @param {Rect} to
 */
export function carried(rect, from, to) {
  const sx = from.w ? to.w / from.w : 1;
  const sy = from.h ? to.h / from.h : 1;
  return { x: to.x + (rect.x - from.x) * sx, y: to.y + (rect.y - from.y) * sy, w: rect.w * sx, h: rect.h * sy };
}

/**
 * All rectangles at a point, the smallest first.
 * @template {Rect} T
 * @param {readonly T[]} rects
 * @param {Point} point
 * @param {number} margin
 * @returns {T[]}
 */
export const stackAt = (rects, point, margin) =>
  rects.filter((rect) => holds(rect, point, margin)).sort((a, b) => area(a) - area(b));
