/** The right panel: what is selected, or the request as a whole. */
import * as A from "./arrange.js";
import * as D from "./doc.js";
import { h } from "./dom.js";
import { remove, duplicate, toggleLock } from "./editing.js";
import { alsoSaid, button, choice, number, press, valueOf } from "./fields.js";
import { icon } from "./icons.js";
import { dropMenu, openMenu, relateSelected, relationMenu } from "./menus.js";
import { requestPanel } from "./request_panel.js";
import { doc, edit, model } from "./store.js";
import { wishList } from "./wishes.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {import("./types.js").Box} Box */
/** @typedef {import("./types.js").Side} Side */

const NAMES = { x: "X", y: "Y", w: "W", h: "H" };
const LONG = { x: "Left", y: "Top", w: "Width", h: "Height", label: "Label" };
const WISHES = /** @type {const} */ (["free", "about", "fixed"]);
const SIGNS = { free: "○", about: "≈", fixed: "●" };
const MEANS = { free: "free: the model decides", about: "about: near this value", fixed: "fixed: exactly this value" };

/** @param {State} state */
export function inspector(state) {
  const now = state.draft ?? state.history.present;
  const boxes = now.boxes.filter((box) => state.selected.has(box.id));
  if (boxes.length === 1) return [oneBox(boxes[0], state), wishList(state, now, [boxes[0].id])];
  if (boxes.length > 1) return [manyBoxes(boxes, state), wishList(state, now, boxes.map((box) => box.id))];
  return [requestPanel(state, now), wishList(state, now, null)];
}

/** Lock, duplicate, delete. @param {boolean} locked */
const acts = (locked) => h("span", { class: "acts" },
  button(locked ? "lock" : "unlock", locked ? "Unlock (Ctrl Shift L)" : "Lock (Ctrl Shift L)", toggleLock, { "aria-pressed": String(locked) }),
  button("copy", "Duplicate (Ctrl D)", duplicate),
  button("bin", "Delete (Del)", remove));

/** @param {Box} box @param {State} state */
function oneBox(box, state) {
  const problems = state.problems.filter((p) => p.id === box.id);
  const wrong = (/** @type {string} */ field) => (problems.some((p) => p.field === field) ? "true" : null);
  return h("section", { key: `box-${box.id}`, class: "properties" },
    h("h2", {}, D.title(box), acts(box.locked)),
    box.made && h("div", { class: "notice" },
      h("p", {}, "Made by the model; the next generation replaces it."),
      press("Keep it", () => edit((d) => D.keptBoxes(d, [box.id])))),
    h("label", { class: "line" }, h("span", {}, "Name"), h("input", {
      id: "field-name", value: box.name, placeholder: "optional", autocomplete: "off", "aria-invalid": wrong("name"),
      oninput: (/** @type {Event} */ e) => edit((d) => D.named(d, box.id, valueOf(e).trim()), { tag: `name ${box.id}` }),
    })),
    h("div", { class: "line" }, h("span", {}, "Label"), labelChoice(box), states(box, "label")),
    orLabels(box),
    h("div", { class: "sides" }, D.SIDES.map((side) => sideField(box, side, wrong(side)))),
    state.features.shapes && shapeFields(box, wrong),
    keptHint(box),
    problems.length > 0 && h("ul", { class: "problems", role: "alert" }, problems.map((p) => h("li", {}, p.message))),
    h("div", { class: "row" },
      press([icon("relate"), "To the canvas…"],
        (e) => dropMenu(e, relationMenu(box.id, "canvas"), "Relation to the canvas"), { "aria-haspopup": "menu" }),
      press([icon("relate"), "To another…"],
        (e) => dropMenu(e, others(box), "Relate to"), { "aria-haspopup": "menu", disabled: doc().boxes.length < 2 })));
}

/** @param {Box} box */
function labelChoice(box) {
  /** @type {[string, string][]} */
  const labels = (model()?.labels ?? []).map((label) => [label.name, label.name]);
  if (!labels.some(([name]) => name === box.label)) labels.unshift([box.label, `${box.label} (unknown)`]);
  return choice("Label", box.label, labels, (label) => edit((d) => D.labelled(d, [box.id], label)), { id: "field-label" });
}

/** Labels that the model may choose from. @param {Box} box */
function orLabels(box) {
  const more = (box.choices ?? []).filter((label) => label !== box.label);
  const rest = (model()?.labels ?? []).filter((label) => label.name !== box.label && !more.includes(label.name));
  const put = (/** @type {string} */ label) => edit((d) => D.chosen(d, box.id, label));
  return h("div", { class: "row ors", role: "group", "aria-label": "Or another label" },
    more.map((label) => press([`or ${label}`, icon("close", { class: "icon small" })], () => put(label),
      { key: label, title: `Not ${label}`, "aria-label": `Not ${label}`, disabled: box.locked })),
    press(more.length ? "or…" : "Or another label…", (e) => dropMenu(e, rest.map(({ name }) => ({ text: name, act: () => put(name) })), "Or another label"),
      { key: "more", class: "quiet", "aria-haspopup": "menu", disabled: box.locked, title: "The model chooses among these labels" }));
}

/** Wished area and shape, in what people measure: percent of the canvas, and width by height. @param {Box} box @param {(field: string) => string | null} wrong */
function shapeFields(box, wrong) {
  const { width, height } = doc().canvas;
  /** @param {"area" | "aspect"} field @param {(typed: number) => number} share */
  const put = (field, share) => (/** @type {string} */ text) =>
    edit((d) => D.shaped(d, box.id, field, Number(text) > 0 ? share(Number(text)) : null));
  const short = (/** @type {number} */ value) => String(Number(value.toPrecision(4)));
  const more = (/** @type {string} */ field) => ({ id: `field-${field}`, min: 0, step: "any", placeholder: "any", disabled: box.locked, "aria-invalid": wrong(field) });
  return h("div", { class: "pair shapes" },
    h("label", { title: "Wished area, in percent of the canvas; met within 10 %" }, h("span", {}, "Area %"),
      number("Area in percent of the canvas", box.area ? short(box.area * 100) : "", put("area", (v) => v / 100), more("area"))),
    h("label", { title: "Wished width divided by height, such as 1.78 for 16:9; met within 10 %" }, h("span", {}, "W : H"),
      number("Width divided by height", box.aspect ? short(width / height / box.aspect) : "", put("aspect", (v) => width / height / v), more("aspect"))));
}

/** What the opened request says of a box and no panel shows. @param {Box} box */
function keptHint(box) {
  const abouts = Object.entries(box.said ?? {}).filter(([, v]) => typeof v === "object");
  const told = abouts.flatMap(([key, { about, within, ...more }]) => (Object.keys(more).length ? [`${key} ${JSON.stringify(more)}`] : []));
  return [
    told.length > 0 && h("p", { class: "hint" }, `The opened request also says: ${told.join("; ")}.`),
    alsoSaid(box.kept ?? {}, () => edit((d) => D.changed(d, [box.id], (b) => ({ ...b, kept: {} })))),
  ];
}

/** Which other box; then how. @param {Box} box */
function others(box) {
  const at = document.getElementById("right")?.getBoundingClientRect();
  return doc().boxes.filter((b) => b.id !== box.id).map((b) => ({
    text: `${D.title(b)}${b.name ? ` (${b.label})` : ""}`,
    act: () => openMenu(relationMenu(box.id, b.id), (at?.left ?? 100) + 12, (at?.top ?? 100) + 120, "Relation"),
  }));
}

/** @param {Box} box @param {Side | "label"} field */
function states(box, field) {
  const kinds = field === "label" ? /** @type {const} */ (["free", "fixed"]) : WISHES;
  const now = box.locked ? "fixed" : box.wish[field];
  const put = (/** @type {import("./types.js").Wish} */ wish) => edit((d) => D.wished(d, [box.id], field, wish));
  return h("span", { class: "states", role: "radiogroup", "aria-label": `${LONG[field]} is` }, kinds.map((wish, i) =>
    press(SIGNS[wish], () => put(wish), {
      role: "radio", class: wish, "aria-checked": String(now === wish), "aria-label": wish, title: MEANS[wish], disabled: box.locked,
      tabindex: now === wish ? 0 : -1, onkeydown: (/** @type {KeyboardEvent} */ e) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
        if (!step || e.ctrlKey || e.altKey || e.metaKey) return;
        const next = (i + step + kinds.length) % kinds.length;
        put(kinds[next]);
        /** @type {HTMLElement | undefined} */ (/** @type {HTMLElement} */ (e.currentTarget).parentElement?.children[next])?.focus();
        e.preventDefault();
        e.stopPropagation();
      },
    })));
}

/** @param {Box} box @param {Side} side @param {string | null} wrong */
function sideField(box, side, wrong) {
  const put = (/** @type {string} */ text) => {
    if (text !== "" && Number.isFinite(Number(text))) edit((d) => D.placed(d, box.id, side, Number(text)), { tag: `${side} ${box.id}` });
  };
  const more = { id: `field-${side}`, disabled: box.locked, step: "any", "aria-invalid": wrong };
  return h("div", { class: "side" },
    h("label", {}, h("span", {}, NAMES[side]), number(`${LONG[side]} in pixels`, Math.round(box[side] * 10) / 10, put, more)),
    states(box, side));
}

/** @type {readonly [A.Align, string][]} */
const ALIGNS = [
  ["left", "Align left"], ["centre", "Centre"], ["right", "Align right"],
  ["top", "Align top"], ["middle", "Align middle"], ["bottom", "Align bottom"],
];
/** @type {readonly [string, string][]} */
const KEEP = [
  ["left_aligned", "Same left"], ["centered_with", "Same centre"], ["right_aligned", "Same right"],
  ["same_width", "Same width"], ["same_height", "Same height"], ["top_aligned", "Same top"],
];
const GROUPS = /** @type {const} */ (["column", "row", "grid"]);

/** @param {readonly Box[]} boxes @param {State} state */
function manyBoxes(boxes, state) {
  const ids = boxes.map((box) => box.id);
  const few = { disabled: boxes.length < 3 };
  /** All others to the first. @param {string} is */
  const keep = (is) => edit((d) => ids.slice(1).reduce((next, id) => D.related(next, id, is, ids[0]), d));
  return h("section", { key: "many", class: "properties" },
    h("h2", {}, `${boxes.length} elements`, acts(boxes.every((box) => box.locked))),
    h("h3", {}, "Line up now"),
    h("div", { class: "aligns", role: "group", "aria-label": "Align and distribute" },
      ALIGNS.map(([how, text]) => button(how, text, () => edit((d) => A.aligned(d, ids, how)))),
      button("space-x", "Equal gaps across (Alt H)", () => edit((d) => A.distributed(d, ids, "x")), few),
      button("space-y", "Equal gaps down (Alt V)", () => edit((d) => A.distributed(d, ids, "y")), few)),
    h("h3", {}, "Wish for every layout"),
    h("div", { class: "row" },
      press([icon("relate"), "Relate…"], relateSelected, { "aria-haspopup": "menu", disabled: boxes.length !== 2, title: "Relate the two (L)" }),
      state.features.groups && GROUPS.map((kind) =>
        press([icon(kind), kind[0].toUpperCase() + kind.slice(1)], () => edit((d) => A.grouped(d, ids, kind)), { key: kind })),
      state.features.order && press([icon("down"), "Reading order"], () => edit((d) => A.ordered(d, ids)), { key: "order", title: "They are read in the order in which they stand" })),
    h("div", { class: "row keep" },
      KEEP.filter(([is]) => state.features.relations.has(is)).map(([is, text]) => press(text, () => keep(is), { key: is }))),
    h("h3", {}, "All values are"),
    h("div", { class: "row" }, WISHES.map((wish) =>
      press(`${SIGNS[wish]} ${wish}`, () => edit((d) => D.SIDES.reduce((next, side) => D.wished(next, ids, side, wish), d)),
        { key: wish, title: MEANS[wish] }))));
}
