/** The words of wishes, as people say them. */
import { boxOf, title } from "./doc.js";

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").Relation} Relation */
/** @typedef {import("./types.js").Group} Group */

/** @type {Record<string, string>} */
const SAID = {
  above: "above", below: "below", left_of: "left of", right_of: "right of",
  overlapping: "overlapping", inside: "inside", apart: "apart from",
  smaller: "smaller than", equal_size: "as large as", larger: "larger than",
  same_width: "as wide as", same_height: "as high as",
  left_aligned: "left edge as", right_aligned: "right edge as", top_aligned: "top edge as",
  bottom_aligned: "bottom edge as", centered_with: "centred with", level_with: "level with",
  top: "in the top third of", middle: "in the middle third of", bottom: "in the bottom third of",
};

/** What menus offer, in their order. @type {readonly [string, readonly string[]][]} */
export const BETWEEN = [
  ["Place", ["above", "below", "left_of", "right_of", "inside", "overlapping", "apart"]],
  ["Size", ["larger", "smaller", "equal_size", "same_width", "same_height"]],
  ["Line up", ["left_aligned", "centered_with", "right_aligned", "top_aligned", "level_with", "bottom_aligned"]],
];
/** @type {readonly [string, readonly string[]][]} */
export const TO_CANVAS = [
  ["Place", ["top", "middle", "bottom"]],
  ["Line up", ["left_aligned", "centered_with", "right_aligned", "top_aligned", "level_with", "bottom_aligned"]],
  ["Size", ["same_width", "same_height", "larger", "smaller", "equal_size"]],
];

/** @param {string} is */
export const said = (is) => SAID[is] ?? is.replaceAll("_", " ");

/** @param {Doc} doc @param {string} id */
const called = (doc, id) => {
  if (id === "canvas") return "the canvas";
  const box = boxOf(doc, id);
  return box ? title(box) : "?";
};

/** @param {Doc} doc @param {Relation} r */
export const relationText = (doc, r) =>
  `${called(doc, r.of)} ${said(r.is)} ${called(doc, r.to)}${r.gap === undefined ? "" : `, ${Math.round(r.gap * 10) / 10} px apart`}${r.kept?.strength === undefined ? "" : ", softly"}`;

/** @param {Doc} doc @param {Group} g */
export function groupText(doc, g) {
  const gap = g.gap === "equal" ? ", equal gaps" : g.gap ? `, gaps of ${Math.round(Number(g.gap) * 10) / 10} px` : "";
  const align = g.align ? `, aligned ${g.align}` : "";
  const same = g.same ? `, same ${g.same}` : "";
  return `${g.kind} of ${g.of.map((id) => called(doc, id)).join(", ")}${gap}${align}${same}`;
}

/** @param {Doc} doc */
export const orderText = (doc) => `read in order: ${doc.order.map((id) => called(doc, id)).join(", ")}`;

/** @param {import("./types.js").Box} box */
export function boxText(box) {
  const px = (/** @type {number} */ v) => String(Math.round(v));
  const size = `${px(box.w)} by ${px(box.h)} at ${px(box.x)}, ${px(box.y)}`;
  const name = box.name ? `${box.name}, ${box.label}` : box.label;
  return `${name}, ${size}${box.locked ? ", locked" : ""}${box.made ? ", made by the model" : ""}`;
}

/** By how much a wish is missed, in people's numbers. @param {import("./types.js").Missed} missed */
export function missText(missed) {
  if (missed.kind === "label" || missed.kind === "number") return "missed";
  return `missed by ${(missed.miss * 100).toFixed(missed.miss < 0.01 ? 2 : 1)} %`;
}
