/**
 * A document from a file, a link or the browser's memory: all that the page relies on is there and of
 * its kind. Other versions leave things out, and anyone can write a link.
 */
import { FIELDS, SIDES, blank } from "./doc.js";

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").Box} Box */
/** @typedef {import("./types.js").Wish} Wish */

const FARTHEST = 1e9; // pixels; beyond them the arithmetic of the page ends

/** @param {any} v */
const isNumber = (v) => typeof v === "number" && Number.isFinite(v);
/** @param {any} v @returns {any[]} */
const list = (v) => (Array.isArray(v) ? v : []);
/** @param {any} v @returns {Record<string, any>} */
const record = (v) => (v && typeof v === "object" && !Array.isArray(v) ? v : {});
/** @param {any} v @returns {v is string} */
const isText = (v) => typeof v === "string";
/** @param {any} v */
const positive = (v) => (isNumber(v) && v > 0 ? v : null);

/** @param {any} data @returns {Doc | null}  null: it is no document */
export function wholeDoc(data) {
  const { width, height } = record(data?.canvas);
  if (!positive(width) || !positive(height) || Math.max(width, height) > FARTHEST || !Array.isArray(data.boxes) || !Array.isArray(data.relations)) return null;
  const boxes = data.boxes.map(wholeBox);
  const ids = new Set(boxes.map((/** @type {Box | null} */ box) => box?.id));
  if (boxes.includes(null) || ids.size < boxes.length) return null;
  const there = (/** @type {any} */ id) => isText(id) && ids.has(id);
  const doc = blank(isText(data.model) ? data.model : "", { width, height });
  return {
    ...doc, boxes,
    relations: withIds(data.relations.filter((/** @type {any} */ r) => there(r?.of) && (r.to === "canvas" || there(r.to)) && isText(r.is)))
      .map(({ id, of, is, to, gap, kept }) => ({ id, of, is, to, kept: record(kept), ...(isNumber(gap) ? { gap } : {}) })),
    groups: withIds(list(data.groups).filter((g) => ["column", "row", "grid"].includes(g?.kind) && list(g.of).length > 1 && g.of.every(there))).map(wholeGroup),
    more: data.more !== false, least: positive(data.least), most: positive(data.most),
    within: positive(data.within) ?? doc.within, margin: positive(data.margin) ?? 0,
    margins: isNumber(data.margins) || Object.keys(record(data.margins)).length ? data.margins : null,
    order: list(data.order).filter(there), unit: data.unit === "px" ? "px" : "share", kept: record(data.kept),
    picture: isText(data.picture?.href) && data.picture.href.startsWith("data:image/")
      ? { href: data.picture.href, opacity: isNumber(data.picture.opacity) ? data.picture.opacity : 0.5 } : null,
  };
}

/** Each has an id of its own. @param {any[]} items @returns {any[]} */
const withIds = (items) => items.filter((item, i) => isText(item.id) && items.findIndex((other) => other.id === item.id) === i);

/** @param {any} b @returns {Box | null} */
function wholeBox(b) {
  const right = isText(b?.id) && isText(b.label) && SIDES.every((side) => isNumber(b[side]) && Math.abs(b[side]) <= FARTHEST) && b.w >= 0 && b.h >= 0;
  if (!right) return null;
  const wish = record(b.wish);
  const wishes = FIELDS.map((field) => [field, ["free", "about", "fixed"].includes(wish[field]) ? wish[field] : "free"]);
  return {
    id: b.id, name: isText(b.name) ? b.name : "", label: b.label, x: b.x, y: b.y, w: b.w, h: b.h,
    wish: /** @type {Box["wish"]} */ (Object.fromEntries(wishes)), locked: b.locked === true, made: b.made === true,
    choices: list(b.choices).filter(isText), area: positive(b.area), aspect: positive(b.aspect), said: wholeSaid(b.said), kept: record(b.kept),
  };
}

/** Numbers, and values that are about one. @param {any} said */
const wholeSaid = (said) => Object.fromEntries(Object.entries(record(said)).filter(([, v]) => isNumber(v) || isNumber(v?.about)));

/** @param {any} g @returns {import("./types.js").Group} */
function wholeGroup(g) {
  const word = (/** @type {any} */ v) => (isText(v) ? v : "");
  const cells = list(g.cells).every((row) => Array.isArray(row) && row.every((id) => id === null || g.of.includes(id)));
  return {
    id: g.id, kind: g.kind, of: g.of, columns: Math.max(1, Math.round(positive(g.columns) ?? 1)),
    gap: word(g.gap), align: word(g.align), same: word(g.same), kept: record(g.kept),
    ...(Array.isArray(g.cells) && cells ? { cells: g.cells } : {}),
  };
}
