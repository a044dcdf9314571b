/** The document: boxes, relations and groups on a canvas. Each function gives a new document. */
import { around, carried, cut, heldBack, round } from "./geometry.js";

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").Box} Box */
/** @typedef {import("./types.js").Rect} Rect */
/** @typedef {import("./types.js").Wish} Wish */
/** @typedef {import("./types.js").Side} Side */
/** @typedef {import("./types.js").Size} Size */
/** @typedef {import("./types.js").Point} Point */
/** @typedef {ReadonlySet<string> | readonly string[]} Ids */

/** @type {readonly Side[]} */
export const SIDES = ["x", "y", "w", "h"];
/** @type {readonly (Side | "label")[]} */
export const FIELDS = ["label", ...SIDES];
/** @type {Record<Side | "label", Wish>} */
const DRAFT = { label: "fixed", x: "about", y: "about", w: "about", h: "about" };
/** @type {Record<Side | "label", Wish>} */
const FREE = { label: "free", x: "free", y: "free", w: "free", h: "free" };

/** @param {string} model @param {Size} canvas @returns {Doc} */
export const blank = (model, canvas) => ({
  model, canvas, boxes: [], relations: [], groups: [],
  more: true, least: null, most: null, within: 0.05, margin: 0, margins: null, order: [], unit: "share", kept: {}, picture: null,
});

/** @param {Doc} doc @param {string} kind */
export function freshId(doc, kind) {
  const taken = [...doc.boxes, ...doc.relations, ...doc.groups].map((item) => item.id);
  const numbers = taken.filter((id) => id.startsWith(kind)).map((id) => Number(id.slice(kind.length)) || 0);
  return `${kind}${Math.max(0, ...numbers) + 1}`;
}

/** @param {Ids} ids */
const asSet = (ids) => new Set(ids);
/** @param {Rect} r @returns {Rect} */
const tidyRect = (r) => ({ x: round(r.x), y: round(r.y), w: round(r.w), h: round(r.h) });

/** @param {Doc} doc @param {string} id @returns {Box | undefined} */
export const boxOf = (doc, id) => doc.boxes.find((box) => box.id === id);

/** What people call a box. @param {Box} box */
export const title = (box) => box.name || box.label || "Element";

/**
 * @param {Doc} doc
 * @param {Rect} rect
 * @param {string} label
 * @param {Partial<Box>} [more]
 * @returns {[Doc, string]}
 */
export function added(doc, rect, label, more = {}) {
  const id = freshId(doc, "e");
  /** @type {Box} */
  const box = { id, name: "", label, ...tidyRect(cut(rect, doc.canvas)), wish: DRAFT, locked: false, made: false, ...more };
  return [{ ...doc, boxes: [...doc.boxes, box] }, id];
}

/** A box that the model drew. @param {string} id @param {string} label @param {Rect} rect @returns {Box} */
export const madeBox = (id, label, rect) =>
  ({ id, name: "", label, ...tidyRect(rect), wish: FREE, locked: false, made: true });

/** @param {Doc} doc @param {Ids} ids @param {(box: Box) => Box} change @returns {Doc} */
export function changed(doc, ids, change) {
  const chosen = asSet(ids);
  let same = true;
  const boxes = doc.boxes.map((box) => {
    const next = chosen.has(box.id) ? change(box) : box;
    same &&= next === box;
    return next;
  });
  return same ? doc : { ...doc, boxes };
}

/**
 * What a hand has touched is wished: a free value becomes a draft, a fixed one stays fixed.
 * @param {Box} box @param {readonly Side[]} sides @returns {Box}
 */
export function touched(box, sides) {
  const wish = { ...box.wish };
  for (const side of sides) if (wish[side] === "free") wish[side] = "about";
  if (box.made) wish.label = "fixed";
  return { ...box, ...unsaid(box, sides), wish, made: false };
}

/** What an opened request said of an axis is over when a hand touches it. @param {Box} box @param {readonly (Side | "label")[]} fields */
function unsaid(box, fields) {
  if (!box.said) return {};
  const over = AXES.filter((_, i) => fields.some((field) => field !== "label" && "xy"[i] === TOUCHES[field])).flat();
  return { said: Object.fromEntries(Object.entries(box.said).filter(([key]) => !over.includes(key))) };
}
/** @type {Record<Side, "x" | "y">} */
const TOUCHES = { x: "x", w: "x", y: "y", h: "y" };

/** The fields of a request along each axis: centre, size and edges. */
export const AXES = [["x", "width", "left", "right"], ["y", "height", "top", "bottom"]];

/** How far drafts may be left, also those of an opened request. @param {Doc} doc @param {number} within @returns {Doc} */
export function loosened(doc, within) {
  const boxes = doc.boxes.map((box) => box.said
    ? { ...box, said: Object.fromEntries(Object.entries(box.said).map(([key, v]) => [key, typeof v === "object" ? { ...v, within } : v])) }
    : box);
  return { ...doc, boxes, within };
}

/** @param {Doc} doc @param {Ids} ids @param {Point} by @returns {Doc} */
export function moved(doc, ids, by) {
  const chosen = asSet(ids);
  const boxes = doc.boxes.filter((box) => chosen.has(box.id) && !box.locked);
  if (!boxes.length) return doc;
  const held = heldBack(around(boxes), by, doc.canvas);
  if (!held.x && !held.y) return doc;
  /** @type {Side[]} */
  const sides = [];
  if (held.x) sides.push("x");
  if (held.y) sides.push("y");
  return changed(doc, boxes.map((b) => b.id), (box) =>
    touched({ ...box, x: round(box.x + held.x), y: round(box.y + held.y) }, sides));
}

/**
 * All chosen boxes follow when the rectangle around them changes.
 * @param {Doc} doc
 * @param {Ids} ids
 * @param {Rect} from
 * @param {Rect} to
 */
export function reshaped(doc, ids, from, to) {
  const inside = cut(to, doc.canvas);
  return changed(doc, ids, (box) => {
    if (box.locked) return box;
    const rect = tidyRect(carried(box, from, inside));
    const sides = SIDES.filter((side) => rect[side] !== box[side]);
    return sides.length ? touched({ ...box, ...rect }, sides) : box;
  });
}

/** One value typed by hand. @param {Doc} doc @param {string} id @param {Side} side @param {number} value */
export function placed(doc, id, side, value) {
  return changed(doc, [id], (box) => {
    if (box.locked) return box;
    const whole = side === "x" || side === "w" ? doc.canvas.width : doc.canvas.height;
    const start = side === "w" ? "x" : side === "h" ? "y" : null;
    const size = side === "x" ? "w" : side === "y" ? "h" : null;
    const room = size ? whole - box[size] : whole;
    const next = { ...box, [side]: round(Math.min(Math.max(value, start ? 1 : 0), room)) };
    // A box that grows beyond the edge is pushed back in.
    if (start) next[start] = round(Math.min(next[start], whole - next[side]));
    return touched(next, [side]);
  });
}

/** @param {Doc} doc @param {Ids} ids @param {Side | "label"} field @param {Wish} wish */
export const wished = (doc, ids, field, wish) =>
  changed(doc, ids, (box) => (box.wish[field] === wish ? box : { ...box, ...unsaid(box, [field]), made: false, wish: { ...box.wish, [field]: wish } }));

/** The state that one click leads to. @param {Wish} wish @param {boolean} label @returns {Wish} */
export const nextWish = (wish, label) =>
  wish === "free" ? (label ? "fixed" : "about") : wish === "about" ? "fixed" : "free";

/** @param {Doc} doc @param {Ids} ids @param {string} label */
export const labelled = (doc, ids, label) =>
  changed(doc, ids, (box) => ({ ...touched(box, []), label, choices: [], wish: { ...box.wish, label: "fixed" }, made: false }));

/** Another label that a box may have, or one less. @param {Doc} doc @param {string} id @param {string} label */
export const chosen = (doc, id, label) => changed(doc, [id], (box) => {
  const now = box.choices?.length ? box.choices : [box.label];
  const choices = now.includes(label) ? now.filter((other) => other !== label) : [...now, label];
  return { ...touched(box, []), label: choices.includes(box.label) ? box.label : choices[0], choices, wish: { ...box.wish, label: "fixed" } };
});

/** Wished area or shape. @param {Doc} doc @param {string} id @param {"area" | "aspect"} field @param {number | null} value */
export const shaped = (doc, id, field, value) => changed(doc, [id], (box) => ({ ...touched(box, []), [field]: value }));

/** @param {Doc} doc @param {string} id @param {string} name */
export const named = (doc, id, name) => changed(doc, [id], (box) => ({ ...touched(box, []), name }));

/** @param {Doc} doc @param {Ids} ids @param {boolean} locked */
export const locked = (doc, ids, locked) =>
  changed(doc, ids, (box) => (box.locked === locked ? box : { ...touched(box, []), locked }));

/** Made boxes become the user's, as a draft. @param {Doc} doc @param {Ids} ids */
export const keptBoxes = (doc, ids) => changed(doc, ids, (box) => (box.made ? touched(box, SIDES) : box));

/** @param {Doc} doc @param {Ids} ids @returns {Doc} */
export function removed(doc, ids) {
  const gone = asSet(ids);
  const groups = doc.groups.map((g) => ({
    ...g, of: g.of.filter((id) => !gone.has(id)),
    ...(g.cells ? { cells: g.cells.map((row) => row.map((id) => (id && gone.has(id) ? null : id))) } : {}),
  }));
  const order = gone.has("order") ? [] : doc.order.filter((id) => !gone.has(id));
  return {
    ...doc,
    boxes: doc.boxes.filter((box) => !gone.has(box.id)),
    relations: doc.relations.filter((r) => !gone.has(r.id) && !gone.has(r.of) && !gone.has(r.to)),
    groups: groups.filter((g) => g.of.length > 1 && !gone.has(g.id)),
    order: order.length > 1 ? order : [],
  };
}

/**
 * Copies beside the originals, with the relations among them; a name that nobody has any more comes along.
 * @param {Doc} doc
 * @param {readonly Box[]} boxes
 * @param {Point} by
 * @param {readonly import("./types.js").Relation[]} [relations]
 * @returns {[Doc, string[]]}
 */
export function pasted(doc, boxes, by, relations = doc.relations) {
  const held = boxes.length ? heldBack(around(boxes), by, doc.canvas) : by;
  /** @type {Map<string, string>} */
  const ids = new Map();
  let next = doc;
  for (const box of boxes) {
    const rect = { x: box.x + held.x, y: box.y + held.y, w: box.w, h: box.h };
    const name = next.boxes.some((other) => other.name === box.name) ? "" : box.name;
    /** @type {string} */
    let id;
    [next, id] = added(next, rect, box.label, { name, wish: box.made ? DRAFT : box.wish, choices: box.choices, area: box.area, aspect: box.aspect, kept: box.kept });
    ids.set(box.id, id);
  }
  for (const r of relations) {
    const [of, to] = [ids.get(r.of), ids.get(r.to)];
    if (of && to) next = { ...next, relations: [...next.relations, { ...r, id: freshId(next, "r"), of, to }] };
  }
  return [next, [...ids.values()]];
}

/** @param {Doc} doc @param {string} of @param {string} is @param {string} to @returns {Doc} */
export function related(doc, of, is, to) {
  if (doc.relations.some((r) => r.of === of && r.is === is && r.to === to)) return doc;
  const relation = { id: freshId(doc, "r"), of, is, to };
  return keptBoxes({ ...doc, relations: [...doc.relations, relation] }, [of, to]);
}

/** Another canvas; everything keeps its share of it. @param {Doc} doc @param {Size} canvas @returns {Doc} */
export function resized(doc, canvas) {
  const sx = canvas.width / doc.canvas.width;
  const sy = canvas.height / doc.canvas.height;
  const boxes = doc.boxes.map((b) => ({ ...b, ...tidyRect({ x: b.x * sx, y: b.y * sy, w: b.w * sx, h: b.h * sy }) }));
  return { ...doc, canvas, boxes, margin: round(doc.margin * Math.min(sx, sy)) };
}
