/** Requests to start from; places are shares of the canvas. */
import { grouped } from "./arrange.js";
import { added, blank, locked, named, related, wished, SIDES } from "./doc.js";

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").Wish} Wish */
/** @typedef {{label: string, at: [number, number, number, number], name?: string, lock?: boolean, free?: boolean}} Part  at: left, top, width, height */
/** @typedef {{title: string, says: string, model: string, canvas: [number, number], parts: Part[], relations?: [string, string, string][], columns?: string[][], more?: boolean}} Example  a
 *   column is aligned, with equal gaps and equal sizes */

/** @type {readonly Example[]} */
export const EXAMPLES = [
  {
    title: "Login", says: "Logo above two inputs and a button", model: "rico25", canvas: [390, 844], more: false,
    parts: [
      { label: "Image", name: "logo", at: [0.32, 0.12, 0.36, 0.16] },
      { label: "Input", name: "email", at: [0.08, 0.38, 0.84, 0.065] },
      { label: "Input", name: "password", at: [0.08, 0.47, 0.84, 0.065] },
      { label: "Text Button", name: "sign in", at: [0.08, 0.58, 0.84, 0.07] },
      { label: "Text Button", name: "forgot", at: [0.3, 0.68, 0.4, 0.05], free: true },
    ],
    relations: [["logo", "top", "canvas"], ["email", "below", "logo"], ["password", "below", "email"], ["sign in", "below", "password"], ["forgot", "below", "sign in"], ["logo", "centered_with", "canvas"], ["forgot", "centered_with", "sign in"]],
    columns: [["email", "password", "sign in"]],
  },
  {
    title: "List", says: "A locked toolbar; the model adds the rows", model: "rico25", canvas: [390, 844],
    parts: [
      { label: "Toolbar", name: "bar", at: [0, 0.03, 1, 0.075], lock: true },
      { label: "List Item", name: "row 1", at: [0, 0.115, 1, 0.11] },
      { label: "List Item", name: "row 2", at: [0, 0.225, 1, 0.11] },
      { label: "List Item", name: "row 3", at: [0, 0.335, 1, 0.11] },
    ],
    relations: [["row 1", "below", "bar"], ["row 2", "equal_size", "row 1"], ["row 3", "equal_size", "row 1"]], columns: [["row 1", "row 2", "row 3"]],
  },
  {
    title: "Product page", says: "A large picture, a price, one button at the bottom", model: "rico25", canvas: [390, 844],
    parts: [
      { label: "Toolbar", name: "bar", at: [0, 0.03, 1, 0.075], lock: true },
      { label: "Image", name: "photo", at: [0, 0.105, 1, 0.4] },
      { label: "Text", name: "title", at: [0.05, 0.53, 0.7, 0.04] },
      { label: "Text", name: "price", at: [0.05, 0.59, 0.25, 0.035], free: true },
      { label: "Text Button", name: "buy", at: [0.05, 0.9, 0.9, 0.07] },
    ],
    relations: [["photo", "below", "bar"], ["title", "below", "photo"], ["price", "below", "title"], ["buy", "bottom", "canvas"], ["photo", "larger", "buy"]],
  },
  {
    title: "Settings", says: "Texts with switches to their right", model: "rico25", canvas: [390, 844], more: false,
    parts: [
      { label: "Toolbar", name: "bar", at: [0, 0.03, 1, 0.075], lock: true },
      ...[0, 1, 2, 3].flatMap((i) => /** @type {Part[]} */ ([
        { label: "Text", name: `option ${i + 1}`, at: [0.05, 0.14 + i * 0.09, 0.6, 0.04] },
        { label: "On/Off Switch", name: `switch ${i + 1}`, at: [0.82, 0.14 + i * 0.09, 0.13, 0.04] },
      ])),
    ],
    relations: [1, 2, 3, 4].flatMap((i) => /** @type {[string, string, string][]} */ ([[`switch ${i}`, "right_of", `option ${i}`], [`switch ${i}`, "level_with", `option ${i}`], ...(i > 1 ? [[`option ${i}`, "below", `option ${i - 1}`], [`switch ${i}`, "equal_size", "switch 1"]] : [])])),
    columns: [[1, 2, 3, 4].map((i) => `option ${i}`), [1, 2, 3, 4].map((i) => `switch ${i}`)],
  },
  {
    title: "Article page", says: "Title, figure and text of a paper", model: "publaynet", canvas: [595, 842],
    parts: [
      { label: "title", name: "heading", at: [0.1, 0.08, 0.8, 0.04] },
      { label: "figure", name: "plot", at: [0.52, 0.16, 0.38, 0.22] },
      { label: "text", name: "intro", at: [0.1, 0.16, 0.38, 0.3] },
      { label: "text", name: "body", at: [0.1, 0.5, 0.38, 0.4], free: true },
    ],
    relations: [["intro", "below", "heading"], ["plot", "right_of", "intro"], ["body", "below", "intro"]],
  },
  {
    title: "Slide", says: "A title, a list and a figure side by side", model: "publaynet", canvas: [1280, 720], more: false,
    parts: [
      { label: "title", name: "headline", at: [0.06, 0.08, 0.88, 0.12], lock: true },
      { label: "list", name: "points", at: [0.06, 0.28, 0.42, 0.6] },
      { label: "figure", name: "chart", at: [0.54, 0.28, 0.4, 0.5] },
      { label: "text", name: "caption", at: [0.54, 0.82, 0.4, 0.06] },
    ],
    relations: [["points", "below", "headline"], ["chart", "right_of", "points"], ["caption", "below", "chart"]],
  },
];

/**
 * @param {Example} example
 * @param {readonly string[]} models  names that the server has
 * @param {import("./request.js").Features} features
 * @returns {Doc}
 */
export function docOf(example, models, features) {
  const [width, height] = example.canvas;
  let doc = blank(models.includes(example.model) ? example.model : models[0], { width, height });
  doc = { ...doc, more: example.more ?? true };
  const columns = features.groups ? (example.columns ?? []) : [];
  /** @type {Map<string, string>} */
  const ids = new Map();
  for (const part of example.parts) {
    const [x, y, w, h] = part.at;
    const [next, id] = added(doc, { x: x * width, y: y * height, w: w * width, h: h * height }, part.label);
    doc = part.name ? named(next, id, part.name) : next;
    if (part.lock) doc = locked(doc, [id], true);
    if (part.free) for (const side of SIDES) doc = wished(doc, [id], side, "free");
    ids.set(part.name ?? id, id);
  }
  for (const [of, is, to] of example.relations ?? []) {
    const said = columns.some((column) => column.includes(of) && column.includes(to));
    if (said || !features.relations.has(is)) continue;
    doc = related(doc, ids.get(of) ?? "", is, to === "canvas" ? to : (ids.get(to) ?? ""));
  }
  for (const column of columns) doc = grouped(doc, column.map((name) => ids.get(name) ?? ""), "column");
  return { ...doc, groups: doc.groups.map((group) => ({ ...group, same: "size" })) };
}
