/** The canvas: what is seen of a document, in screen coordinates. */
import { h, part, show } from "./dom.js";
import { SIDES, boxOf, title } from "./doc.js";
import { area, meet } from "./geometry.js";
import { seenNow } from "./glide.js";
import { mark } from "./icons.js";
import { colour } from "./palette.js";
import { overlay } from "./overlay.js";
import { boxText } from "./words.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {import("./glide.js").Seen} Seen */
/** @typedef {import("./types.js").Rect} Rect */
/** @typedef {import("./types.js").View} View */

/** @param {Rect} r @param {View} v @returns {Rect} */
export const onScreen = (r, v) => ({ x: r.x * v.zoom + v.x, y: r.y * v.zoom + v.y, w: r.w * v.zoom, h: r.h * v.zoom });

/** @param {State} state */
export function drawCanvas(state) {
  const { view } = state;
  const doc = state.draft ?? state.history.present;
  const page = onScreen({ x: 0, y: 0, w: doc.canvas.width, h: doc.canvas.height }, view);
  const seen = seenNow(performance.now()).sort((a, b) => area(b.box) - area(a.box));
  const ready = state.hover < 0 && !state.film;
  show(part("stage"),
    h("rect", { key: "page", class: "page", x: page.x, y: page.y, width: page.w, height: page.h, rx: 3 }),
    doc.picture && h("image", {
      key: "picture", href: doc.picture.href, opacity: doc.picture.opacity, preserveAspectRatio: "none",
      x: page.x, y: page.y, width: page.w, height: page.h,
    }),
    h("g", { key: "boxes", class: ready ? "boxes" : "boxes preview", role: "presentation" }, seen.map((item) => boxView(item, seen, state))),
    overlay(state, doc, seen),
  );
}

/** @param {Seen} item @param {readonly Seen[]} seen @param {State} state */
function boxView(item, seen, state) {
  const { box } = item;
  const r = onScreen(item, state.view);
  const selected = state.selected.has(box.id);
  const problem = state.problems.find((p) => p.id === box.id);
  const known = boxOf(state.draft ?? state.history.present, box.id) !== undefined;
  const kinds = [
    "box", selected && "selected", box.locked && "locked", box.made && "made", problem && "wrong",
    box.locked ? "sure" : SIDES.every((s) => box.wish[s] === "free") ? "open" : "",
  ];
  return h("g", {
    key: box.id, class: kinds.filter(Boolean).join(" "), "data-box": box.id, opacity: item.opacity,
    style: { "--c": colour(box.label) }, tabindex: -1, role: "button",
    "aria-hidden": known ? null : "true",
    "aria-pressed": selected ? "true" : "false",
    "aria-label": boxText(box) + (problem ? `. Problem: ${problem.message}` : ""),
  },
    h("rect", { class: "body", x: r.x, y: r.y, width: Math.max(r.w, 1), height: Math.max(r.h, 1), rx: Math.min(4, r.w / 4, r.h / 4) }),
    caption(item, r, seen, state),
    badges(item, r, seen, state),
  );
}

const LINE = 15;
const LETTER = 9; // the height of a letter

/**
 * The name, where there is room for it and no smaller box on top.
 * @param {Seen} item
 * @param {Rect} r
 * @param {readonly Seen[]} seen
 * @param {State} state
 */
function caption(item, r, seen, state) {
  const text = title(item.box);
  const room = Math.floor((r.w - 10) / 6.3);
  if (r.h < 12 || room < 2) return null;
  const shown = text.length <= room ? text : `${text.slice(0, Math.max(1, room - 1))}…`;
  const y = r.h < 24 ? r.y + r.h / 2 + 4 : r.y + LINE;
  const { zoom } = state.view;
  const place = { x: item.x + 6 / zoom, y: (y - LETTER - state.view.y) / zoom, w: (shown.length * 6) / zoom, h: LETTER / zoom };
  if (covered(item, place, seen) && !state.selected.has(item.box.id)) return null;
  return h("text", { class: item.box.name ? "caption named" : "caption", x: r.x + 6, y }, shown);
}

/** Is a part of a box under a smaller one? @param {Seen} item @param {Rect} place @param {readonly Seen[]} seen */
const covered = (item, place, seen) => seen.some((other) => other !== item && area(other.box) < area(item.box) && meet(other, place));

/**
 * Padlock and the states of the four values, in the corner.
 * @param {Seen} item
 * @param {Rect} r
 * @param {readonly Seen[]} seen
 * @param {State} state
 */
function badges(item, r, seen, state) {
  const { box } = item;
  const y = r.h < 24 ? r.y + r.h / 2 : r.y + 10;
  const taken = title(box).length * 6.3 + 16;
  const { zoom } = state.view;
  const wide = (box.locked ? 17 : 34) / zoom;
  const corner = { x: item.x + item.w - wide, y: (y - 5 - state.view.y) / zoom, w: wide, h: 10 / zoom };
  if (r.w < 40 || r.h < 12 || covered(item, corner, seen)) return null;
  if (box.locked) return r.w > taken + 14 ? mark("lock", r.x + r.w - 17, y - 6) : null;
  if (box.made || state.hover >= 0 || r.w < taken + 36) return null;
  return h("g", { class: "pips" }, SIDES.map((side, i) =>
    h("circle", { cx: r.x + r.w - 31 + i * 7.500, cy: y, r: 2.5, class: `pip ${box.wish[side]}` })));
}
