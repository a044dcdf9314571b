/** What lies over the boxes: handles, the states of fields, relations, guides. */
import { h } from "./dom.js";
import { FIELDS, boxOf, nextWish, wished } from "./doc.js";
import { around, centre } from "./geometry.js";
import { mark } from "./icons.js";
import { edit } from "./store.js";
import { verdictOf } from "./verdict.js";
import { onScreen } from "./view.js";
import { groupText, missText, relationText, said } from "./words.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").Box} Box */
/** @typedef {import("./types.js").Rect} Rect */
/** @typedef {import("./glide.js").Seen} Seen */

const HANDLES = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];
const CHIP = 34;

/** @param {State} state @param {Doc} doc @param {readonly Seen[]} seen */
export function overlay(state, doc, seen) {
  const where = new Map(seen.map((item) => [item.box.id, onScreen(item, state.view)]));
  const ready = state.hover < 0 && !state.film && !state.busy.startsWith("film");
  return h("g", { key: "overlay", role: "presentation" },
    !state.film && wishesView(state, doc, where),
    h("g", { key: "guides", class: "guides", "aria-hidden": "true" }, state.guides.map((g) => guideView(g, state))),
    state.marquee && rectView("marquee", state.marquee, state),
    state.wire && wireView(state, where),
    ready && selectionView(state, doc, where),
  );
}

/** All lines, then all badges: no line crosses out a word. @param {State} state @param {Doc} doc @param {ReadonlyMap<string, Rect>} where */
function wishesView(state, doc, where) {
  const views = [
    ...doc.groups.map((g) => groupView(g, doc, state, where)),
    ...doc.relations.map((r) => relationView(r, doc, state, where)),
  ];
  return [
    h("g", { key: "lines", role: "presentation" }, views.map((view) => view?.line)),
    h("g", { key: "badges", role: "presentation" }, views.map((view) => view?.badge)),
  ];
}

/** What is told of a relation or a group: its problem, else its verdict. @param {State} state @param {string} id */
function statusOf(state, id) {
  const problem = state.problems.find((p) => p.id === id);
  const verdict = verdictOf(state, id);
  return {
    kind: problem ? "missed" : verdict.kind,
    status: problem ? problem.message : verdict.missed ? missText(verdict.missed) : verdict.text,
  };
}

/** @param {string} name @param {Rect} rect @param {State} state */
function rectView(name, rect, state) {
  const r = onScreen(rect, state.view);
  return h("rect", { key: name, class: name, x: r.x, y: r.y, width: r.w, height: r.h });
}

/** @param {State} state @param {Doc} doc @param {ReadonlyMap<string, Rect>} where */
function selectionView(state, doc, where) {
  const boxes = doc.boxes.filter((box) => state.selected.has(box.id));
  const rects = boxes.flatMap((box) => where.get(box.id) ?? []);
  if (!rects.length || state.tool === "draw" || state.marquee) return null;
  const r = around(rects);
  const one = boxes.length === 1 ? boxes[0] : null;
  const still = state.draft !== null;
  return h("g", { key: "selection", class: "selection" },
    boxes.length > 1 && h("rect", { class: "frame", x: r.x, y: r.y, width: r.w, height: r.h }),
    boxes.some((box) => !box.locked) && HANDLES.map((name) => handleView(name, r)),
    !still && one && h("g", { key: "link", class: "port", "data-link": one.id, "aria-hidden": "true" },
      h("circle", { cx: r.x + r.w + 20, cy: r.y + r.h / 2, r: 14, class: "reach" }),
      h("circle", { cx: r.x + r.w + 20, cy: r.y + r.h / 2, r: 9 }),
      mark("relate", r.x + r.w + 14, r.y + r.h / 2 - 6),
      h("title", {}, "Drag to another box to relate the two")),
    !still && one && !one.locked && chips(one, r, state),
  );
}

/** @param {string} name @param {Rect} r */
function handleView(name, r) {
  const x = r.x + (name.includes("w") ? 0 : name.includes("e") ? r.w : r.w / 2);
  const y = r.y + (name.includes("n") ? 0 : name.includes("s") ? r.h : r.h / 2);
  // Small boxes keep their corners only, or there would be no inside left to take hold of.
  const tight = (name.length === 1) && ((/[ns]/.test(name) && r.w < 40) || (/[ew]/.test(name) && r.h < 40));
  if (tight) return null;
  return h("g", { key: name, class: `handle ${name}`, "data-handle": name, "aria-hidden": "true" },
    h("rect", { class: "reach", x: x - 10, y: y - 10, width: 20, height: 20 }),
    h("rect", { class: "knob", x: x - 4, y: y - 4, width: 8, height: 8, rx: 2 }));
}

const SIGN = { free: "○", about: "≈", fixed: "●" };

/** One click on a field leads to its next state. @param {Box} box @param {Rect} r @param {State} state */
function chips(box, r, state) {
  const width = FIELDS.length * CHIP;
  const x = Math.min(Math.max(r.x + r.w / 2 - width / 2, 6), Math.max(6, state.stage.width - width - 6));
  const below = r.y + r.h + 12;
  const y = below + 24 < state.stage.height - 4 ? below : Math.max(6, r.y - 38);
  return h("g", { key: "chips", class: "chips", "data-ui": true, role: "group", "aria-label": "Wishes for the selected element" },
    h("rect", { class: "bar", x: x - 3, y: y - 3, width: width + 6, height: 28, rx: 8 }),
    FIELDS.map((field, i) => {
      const wish = box.wish[field];
      const next = nextWish(wish, field === "label");
      const name = field === "label" ? "label" : { x: "x", y: "y", w: "width", h: "height" }[field];
      const change = () => edit((doc) => wished(doc, [box.id], field, next));
      return h("g", {
        key: field, class: `chip ${wish}`, role: "button", tabindex: 0, "data-chip": field,
        "aria-label": `${name} is ${wish}; make it ${next}`, onclick: change,
        onkeydown: (/** @type {KeyboardEvent} */ e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); e.stopPropagation(); change(); } },
      },
        h("rect", { x: x + i * CHIP, y, width: CHIP - 2, height: 22, rx: 6 }),
        h("text", { x: x + i * CHIP + 10, y: y + 15 }, field === "label" ? "L" : field.toUpperCase()),
        h("text", { x: x + i * CHIP + 22, y: y + 15, class: "sign" }, SIGN[wish]),
        h("title", {}, `${name}: ${wish}. Click: ${next}`));
    }));
}

/**
 * A line between the nearest edges with a badge on it: a sign, and the words where they matter.
 * @param {import("./types.js").Relation} r @param {Doc} doc @param {State} state @param {ReadonlyMap<string, Rect>} where
 */
function relationView(r, doc, state, where) {
  const from = where.get(r.of);
  const to = r.to === "canvas" ? from : where.get(r.to);
  if (!from || !to) return null;
  const [a, b] = r.to === "canvas" ? towards(r.is, from, onScreen({ x: 0, y: 0, w: doc.canvas.width, h: doc.canvas.height }, state.view)) : joined(from, to);
  const { kind, status } = statusOf(state, r.id);
  const chosen = state.selected.has(r.of) && (state.selected.size === 1 || state.selected.has(r.to)) || state.selected.has(r.to);
  // Relations of one pair stand side by side.
  const same = doc.relations.filter((o) => (o.of === r.of && o.to === r.to) || (o.of === r.to && o.to === r.of));
  const text = said(r.is);
  const half = chosen ? text.length * 3.1 + 14 : 8;
  const shift = (same.indexOf(r) - (same.length - 1) / 2) * (chosen ? 0 : 20);
  const at = { x: (a.x + b.x) / 2 + shift, y: (a.y + b.y) / 2 + (chosen ? (same.indexOf(r) - (same.length - 1) / 2) * 22 : 0) };
  const look = `relation ${kind} ${chosen ? "chosen" : ""}`;
  const line = h("g", { key: r.id, class: look, role: "presentation" },
    h("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y }),
    chosen && h("circle", { class: "end", cx: a.x, cy: a.y, r: 3 }));
  const badge = h("g", { key: r.id, class: look, "data-relation": r.id },
    h("g", { "data-ui": true, class: "badge", role: "img", "aria-label": `${relationText(doc, r)}: ${status}` },
      h("rect", { x: at.x - half, y: at.y - (chosen ? 9 : 8), width: half * 2, height: chosen ? 18 : 16, rx: 9 }),
      chosen && h("text", { x: at.x + 6, y: at.y + 4 }, text),
      mark(kind === "met" ? "check" : kind === "missed" ? "miss" : "relate", at.x - half + (chosen ? 5 : 3), at.y - 5, 10),
      h("title", {}, `${relationText(doc, r)}: ${status}`)));
  return { line, badge };
}

/**
 * A frame around the members, with a badge at its corner.
 * @param {import("./types.js").Group} g
 * @param {Doc} doc
 * @param {State} state
 * @param {ReadonlyMap<string, Rect>} where
 */
function groupView(g, doc, state, where) {
  const rects = g.of.flatMap((id) => where.get(id) ?? []);
  if (rects.length < 2) return null;
  const r = around(rects);
  const { kind, status } = statusOf(state, g.id);
  const line = h("g", { key: g.id, class: `relation ${kind}`, role: "presentation" },
    h("rect", { class: "fence", x: r.x - 5, y: r.y - 5, width: r.w + 10, height: r.h + 10, rx: 6 }));
  const badge = h("g", { key: g.id, class: `relation ${kind}`, "data-group": g.id },
    h("g", { "data-ui": true, class: "badge", role: "img", "aria-label": `${groupText(doc, g)}: ${status}` },
      h("rect", { x: r.x - 13, y: r.y - 13, width: 16, height: 16, rx: 8 }),
      mark(kind === "met" ? "check" : kind === "missed" ? "miss" : g.kind, r.x - 10, r.y - 10, 10),
      h("title", {}, `${groupText(doc, g)}: ${status}`)));
  return { line, badge };
}

/**
 * The nearest points of two boxes.
 * @param {Rect} a
 * @param {Rect} b
 * @returns {[import("./types.js").Point, import("./types.js").Point]}
 */
function joined(a, b) {
  /** @param {number} s @param {number} n @param {number} t @param {number} m @returns {[number, number]} */
  const along = (s, n, t, m) => {
    if (s + n <= t) return [s + n, t];
    if (t + m <= s) return [s, t + m];
    // Not in the middle, where the handles are.
    const [from, to] = [Math.max(s, t), Math.min(s + n, t + m)];
    const place = from + (to - from) * 0.3;
    return [place, place];
  };
  const [ax, bx] = along(a.x, a.w, b.x, b.w);
  const [ay, by] = along(a.y, a.h, b.y, b.h);
  return [{ x: ax, y: ay }, { x: bx, y: by }];
}

/**
 * From a box to the part of the canvas that a relation names.
 * @param {string} is
 * @param {Rect} box
 * @param {Rect} page
 * @returns {[import("./types.js").Point, import("./types.js").Point]}
 */
function towards(is, box, page) {
  const c = centre(box);
  if (is === "left_aligned") return [{ x: box.x, y: c.y }, { x: page.x, y: c.y }];
  if (is === "right_aligned") return [{ x: box.x + box.w, y: c.y }, { x: page.x + page.w, y: c.y }];
  if (is.startsWith("bottom")) return [{ x: c.x, y: box.y + box.h }, { x: c.x, y: page.y + page.h }];
  if (is.startsWith("top")) return [{ x: c.x, y: box.y }, { x: c.x, y: page.y }];
  return [{ x: box.x, y: c.y }, { x: page.x, y: c.y }];
}

/** @param {import("./types.js").Guide} g @param {State} state */
function guideView(g, state) {
  const { zoom, x, y } = state.view;
  // A guide of the x axis is a vertical line; a gap lies along its axis.
  const upright = (g.axis === "x") !== Boolean(g.gap);
  const [at, from, to] = upright
    ? [g.at * zoom + x, g.from * zoom + y, g.to * zoom + y]
    : [g.at * zoom + y, g.from * zoom + x, g.to * zoom + x];
  const line = upright ? { x1: at, x2: at, y1: from, y2: to } : { y1: at, y2: at, x1: from, x2: to };
  if (!g.gap) return h("line", line);
  const size = Math.round(g.to - g.from);
  const middle = (from + to) / 2;
  return h("g", { class: "gap" }, h("line", line),
    h("text", upright ? { x: at + 5, y: middle + 4 } : { x: middle, y: at - 5, "text-anchor": "middle" }, size));
}

/** @param {State} state @param {ReadonlyMap<string, Rect>} where */
function wireView(state, where) {
  const wire = state.wire;
  const from = wire && where.get(wire.from);
  if (!wire || !from) return null;
  const a = centre(from);
  const b = onScreen({ ...wire.at, w: 0, h: 0 }, state.view);
  const target = boxOf(state.history.present, [...state.selected].find((id) => id !== wire.from) ?? "");
  return h("g", { key: "wire", class: "wire" }, h("line", { x1: a.x, y1: a.y, x2: b.x, y2: b.y }),
    h("circle", { cx: b.x, cy: b.y, r: target ? 6 : 4 }));
}
