/** Drags on the canvas: marquee, move, resize, draw, relate. Each is a small value with its state. */
import * as D from "./doc.js";
import { around, between, clamp, cut, holds, meet, pulled, stackAt } from "./geometry.js";
import { openMenu, relationMenu } from "./menus.js";
import { snapped } from "./snap.js";
import { commit, doc, get, nextLabel, select, set } from "./store.js";

/** @typedef {import("./types.js").Point} Point */
/** @typedef {import("./types.js").Rect} Rect */
/** @typedef {import("./types.js").Box} Box */
/**
 * What a pressed pointer does; places are those of the screen.
 * @typedef {{move: (at: Point, event: PointerEvent) => void,
 *   end: (at: Point, event: PointerEvent) => void, cancel?: () => void}} Gesture
 */

const REACH = 6; // screen pixels within which edges snap

/** @param {Point} p @returns {Point} */
export function onCanvas(p) {
  const { zoom, x, y } = get().view;
  return { x: (p.x - x) / zoom, y: (p.y - y) / zoom };
}

/** @param {Point} at  canvas */
export const boxesAt = (at) => stackAt(doc().boxes, at, 2 / get().view.zoom);

/** @param {Point} from @param {boolean} adds @returns {Gesture} */
export function marking(from, adds) {
  const before = adds ? [...get().selected] : [];
  return {
    move: (p) => {
      const marquee = between(from, onCanvas(p));
      const inside = doc().boxes.filter((box) => meet(box, marquee) && !holds(box, from)).map((box) => box.id);
      set({ marquee, selected: new Set([...before, ...inside]) });
    },
    end: () => set({ marquee: null }),
  };
}

/** @param {Point} from @param {Box} grabbed @param {boolean} copies @returns {Gesture} */
export function moving(from, grabbed, copies) {
  let base = doc();
  let ids = [...get().selected];
  if (!ids.includes(grabbed.id)) ids = [grabbed.id];
  const original = [...ids];
  if (copies) {
    [base, ids] = D.pasted(base, base.boxes.filter((box) => original.includes(box.id)), { x: 0, y: 0 });
    set({ selected: new Set(ids) });
  }
  const chosen = base.boxes.filter((box) => ids.includes(box.id) && !box.locked);
  const whole = around(chosen);
  const others = base.boxes.filter((box) => !ids.includes(box.id));
  return {
    move: (p, e) => {
      const to = onCanvas(p);
      let by = { x: to.x - from.x, y: to.y - from.y };
      if (e.shiftKey) by = Math.abs(by.x) > Math.abs(by.y) ? { x: by.x, y: 0 } : { x: 0, y: by.y };
      by = { x: Math.round(by.x), y: Math.round(by.y) };
      const at = { ...whole, x: whole.x + by.x, y: whole.y + by.y };
      const free = e.ctrlKey || e.metaKey;
      const anchors = { x: e.shiftKey && !by.x ? [] : [0, 0.5, 1], y: e.shiftKey && !by.y ? [] : [0, 0.5, 1] };
      const snap = free ? { by: { x: 0, y: 0 }, guides: [] } : snapped(at, others, base.canvas, REACH / get().view.zoom, anchors);
      const draft = D.moved(base, ids, { x: by.x + snap.by.x, y: by.y + snap.by.y });
      set({ draft, guides: snap.guides });
    },
    end: () => finish(copies),
    cancel: () => { if (copies) select(original); },
  };
}

/** @param {boolean} [always] */
function finish(always = false) {
  const { draft } = get();
  if (draft && (always || draft !== doc())) commit(draft);
  else set({ draft: null, guides: [] });
}

/** @param {string} handle @param {Point} from @returns {Gesture} */
export function resizing(handle, from) {
  const base = doc();
  const ids = [...get().selected];
  const chosen = base.boxes.filter((box) => ids.includes(box.id) && !box.locked);
  const whole = around(chosen);
  const others = base.boxes.filter((box) => !ids.includes(box.id));
  return {
    move: (p, e) => {
      const to = onCanvas(p);
      const by = { x: Math.round(to.x - from.x), y: Math.round(to.y - from.y) };
      const how = { ratio: e.shiftKey, centred: e.altKey, least: 1 };
      let next = pulled(whole, handle, by, how);
      /** @type {readonly import("./types.js").Guide[]} */
      let guides = [];
      if (!e.ctrlKey && !e.metaKey && !e.shiftKey) {
        const x = handle.includes("e") ? [1] : handle.includes("w") ? [0] : [];
        const y = handle.includes("s") ? [1] : handle.includes("n") ? [0] : [];
        const snap = snapped(next, others, base.canvas, REACH / get().view.zoom, { x, y });
        guides = snap.guides;
        next = pulled(whole, handle, { x: by.x + snap.by.x, y: by.y + snap.by.y }, how);
      }
      set({ draft: D.reshaped(base, ids, whole, next), guides });
    },
    end: () => finish(),
  };
}

/** @param {Point} start @returns {Gesture} */
export function drawing(start) {
  const base = doc();
  /** @type {Rect | null} */
  let rect = null;
  let id = "";
  return {
    move: (p, e) => {
      const { canvas } = base;
      const to = onCanvas(p);
      const free = e.ctrlKey || e.metaKey;
      const corner = free ? to : snappedPoint(to);
      const from = free ? start : snappedPoint(start);
      const inside = (/** @type {Point} */ at) => ({ x: clamp(at.x, 0, canvas.width), y: clamp(at.y, 0, canvas.height) });
      const raw = between(inside(from), inside(corner));
      rect = cut({ x: Math.round(raw.x), y: Math.round(raw.y), w: Math.round(raw.w), h: Math.round(raw.h) }, canvas);
      if (rect.w < 1 || rect.h < 1) return;
      const [draft, fresh] = D.added(base, rect, nextLabel());
      id = fresh;
      set({ draft, guides: [] });
    },
    end: () => {
      const least = 4 / get().view.zoom;
      if (!rect || rect.w < least || rect.h < least || !id) return set({ draft: null });
      const { draft } = get();
      if (draft) commit(draft, { selected: [id] });
      set({ tool: "select" });
    },
  };
}

/** @param {Point} p */
function snappedPoint(p) {
  const { by } = snapped({ ...p, w: 0, h: 0 }, doc().boxes, doc().canvas, REACH / get().view.zoom, { x: [0], y: [0] });
  return { x: p.x + by.x, y: p.y + by.y };
}

/** From box to box, or to the canvas. @param {string} from @returns {Gesture} */
export function wiring(from) {
  if (!from) return { move: () => {}, end: () => {} };
  const over = (/** @type {Point} */ at) => boxesAt(at).find((box) => box.id !== from);
  return {
    move: (p) => {
      const at = onCanvas(p);
      const target = over(at);
      set({ wire: { from, at }, selected: new Set(target ? [from, target.id] : [from]) });
    },
    end: (p, e) => {
      const moved = get().wire !== null;
      const target = over(onCanvas(p));
      set({ wire: null });
      if (moved) openMenu(relationMenu(from, target?.id ?? "canvas"), e.clientX, e.clientY);
      else select([from]);
    },
  };
}
