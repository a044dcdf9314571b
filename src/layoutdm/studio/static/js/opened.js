/** A request that is opened: the panels show what they know, and the rest is carried along. */
import { AXES, added, blank, freshId, named } from "./doc.js";
import { inUnit, marginsIn } from "./request.js";

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").Box} Box */
/** @typedef {import("./types.js").Wish} Wish */

const USUAL = { size: { x: 0.5, y: 0.06 }, first: 0.06, step: 0.08, last: 0.95 };

/** @param {any} v */
const isNumber = (v) => typeof v === "number" && Number.isFinite(v);
/** A value that is fixed or about. @param {any} v */
const isValue = (v) => isNumber(v) || isNumber(v?.about);
/** @param {any} v @returns {any[]} */
const list = (v) => (Array.isArray(v) ? v : []);

/**
 * What a request leaves open lies in a column until it is generated.
 * @param {any} spec
 * @param {Doc} now
 * @returns {{doc: Doc, lost: string[]}}  lost: what cannot be kept, because it names nothing
 */
export function requestDoc(spec, now) {
  const { elements, more, number_of_elements: number, relations, groups, reading_order: order, canvas: size, unit, margins, ...kept } = spec;
  const canvas = isNumber(size?.width) && isNumber(size?.height) && size.width > 0 && size.height > 0 ? { ...size } : now.canvas;
  /** @type {Doc} */
  let doc = {
    ...blank(now.model, canvas), unit: unit === "px" ? "px" : "share", more: more ?? !list(elements).length, kept,
    least: (isNumber(number) ? number : number?.min) ?? null, most: (isNumber(number) ? number : number?.max) ?? null,
  };
  doc = { ...doc, margins: margins === undefined || margins === null ? null : marginsIn(margins, doc, -1) };
  /** @type {Map<string, string>} */
  const ids = new Map();
  list(elements).forEach((e, i) => {
    const [next, id] = withElement(doc, inUnit(e ?? {}, doc, -1), i);
    doc = next;
    if (e?.name) ids.set(String(e.name), id);
  });
  doc = { ...doc, within: firstWithin(doc) ?? doc.within };
  return withWishes(doc, { relations: list(relations), groups: list(groups), order: list(order) }, ids);
}

/** How far its first draft may be left. @param {Doc} doc */
const firstWithin = (doc) =>
  doc.boxes.flatMap((box) => Object.values(box.said ?? {})).find((v) => isNumber(v?.within) && !("strength" in v))?.within;

/** @param {Doc} doc @param {any} e  in shares @param {number} i @returns {[Doc, string]} */
function withElement(doc, e, i) {
  const { name, label, area, aspect_ratio: aspect, ...rest } = e;
  const across = along(rest, AXES[0], 0.5, USUAL.size.x);
  const down = along(rest, AXES[1], Math.min(USUAL.last, USUAL.first + i * USUAL.step), USUAL.size.y);
  const said = { ...across.said, ...down.said };
  const kept = Object.fromEntries(Object.entries(rest).filter(([key, v]) => !(key in said) && v !== null));
  const { width, height } = doc.canvas;
  const rect = { x: across.start * width, y: down.start * height, w: across.size * width, h: down.size * height };
  const choices = Array.isArray(label) ? label.map(String) : [];
  const [next, id] = added(doc, rect, choices[0] ?? String(label ?? "?"), {
    wish: { label: label === undefined || label === null ? "free" : "fixed", x: across.wish[0], w: across.wish[1], y: down.wish[0], h: down.wish[1] },
    said, choices, area: area ?? null, aspect: aspect ?? null, kept,
  });
  return [name ? named(next, id, String(name)) : next, id];
}

/**
 * One axis of an element: where it begins, how long it is, and what the request says of both.
 * @param {Record<string, any>} e
 * @param {typeof AXES[number]} axis
 * @param {number} middle  usual
 * @param {number} length  usual
 * @returns {{start: number, size: number, wish: [Wish, Wish], said: Record<string, any>}}
 */
function along(e, axis, middle, length) {
  const said = Object.fromEntries(axis.filter((key) => isValue(e[key])).map((key) => [key, e[key]]));
  const [centre, size, low, high] = axis.map((key) => said[key]?.about ?? said[key]);
  // Whatever two values do not say is NaN, and passed over.
  const extent = [size, high - low, 2 * (centre - low), 2 * (high - centre), length].find(isNumber);
  const start = [low, high - extent, (centre ?? middle) - extent / 2].find(isNumber);
  /** @param {any[]} values @returns {Wish} */
  const state = (values) => (values.some(isNumber) ? "fixed" : values.some(isValue) ? "about" : "free");
  const edges = [said[axis[2]], said[axis[3]]];
  const both = Object.values(said).filter(isNumber).length > 1; // two values of an axis say all of it
  return { start, size: extent, wish: [state([said[axis[0]], ...edges]), both ? "fixed" : state([said[axis[1]]])], said };
}

/**
 * @param {Doc} doc
 * @param {{relations: any[], groups: any[], order: any[]}} wishes
 * @param {ReadonlyMap<string, string>} ids  by name
 */
function withWishes(doc, wishes, ids) {
  /** @type {string[]} */
  const lost = [];
  const found = (/** @type {any} */ name) => ids.get(String(name)) ?? (lost.push(String(name)), "");
  const pixels = (/** @type {number} */ v, /** @type {boolean} */ across) => (doc.unit === "px" ? v : v * (across ? doc.canvas.width : doc.canvas.height));
  for (const { of, is, to, gap, ...kept } of wishes.relations) {
    const [from, target] = [found(of), to === "canvas" ? "canvas" : found(to)];
    if (!from || !target) continue;
    const far = isNumber(gap) ? { gap: pixels(gap, is === "left_of" || is === "right_of") } : {};
    doc = { ...doc, relations: [...doc.relations, { id: freshId(doc, "r"), of: from, is: String(is), to: target, ...far, kept }] };
  }
  for (const { column, row, grid, gap, align, same, ...kept } of wishes.groups) {
    const cells = list(grid).map((line) => list(line).map((name) => (name === null ? null : found(name))));
    const of = (grid ? cells.flat() : list(column ?? row).map(found)).filter((id) => id !== null);
    if (of.length < 2 || of.includes("")) continue;
    /** @type {import("./types.js").Group["kind"]} */
    const kind = grid ? "grid" : column ? "column" : "row";
    const far = gap === undefined || gap === null ? "" : isNumber(gap) ? String(pixels(gap, kind === "row")) : String(gap);
    doc = { ...doc, groups: [...doc.groups, { id: freshId(doc, "g"), kind, of, columns: Math.max(1, ...cells.map((line) => line.length)), gap: far, align: align ?? "", same: same ?? "", ...(grid ? { cells } : {}), kept }] };
  }
  return { doc: { ...doc, order: wishes.order.map(found).filter(Boolean) }, lost };
}
