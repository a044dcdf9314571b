/** The list of relations and groups, each with its verdict. */
import { boxOf, removed, title } from "./doc.js";
import { h } from "./dom.js";
import { icon } from "./icons.js";
import { GAPPED, idAt } from "./request.js";
import { edit, select } from "./store.js";
import { button, choice, number } from "./fields.js";
import { reportNow, verdictOf } from "./verdict.js";
import { groupText, missText, orderText, relationText } from "./words.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").Group} Group */

/** @param {State} state @param {Doc} doc @param {readonly string[] | null} of  boxes, or null for all */
export function wishList(state, doc, of) {
  const about = (/** @type {readonly string[]} */ ids) => !of || ids.some((id) => of.includes(id));
  const relations = doc.relations.filter((r) => about([r.of, r.to]));
  const groups = doc.groups.filter((g) => about(g.of));
  const order = doc.order.length > 1 && about(doc.order);
  return h("section", { key: "wishes", class: "wishes" },
    h("h2", {}, "Wishes", summary(state)),
    relations.length + groups.length === 0 && !order && h("p", { class: "hint" }, of
      ? "Drag from the dot beside a box to another box to say how they relate."
      : "Select a box and drag from the dot beside it to another, or select two and press L."),
    h("ul", { "aria-label": "Wishes" },
      relations.map((r) => line(state, r.id, relationText(doc, r), [r.of, r.to], of && state.features.gap && GAPPED.has(r.is) ? gapField(r) : null)),
      groups.map((g) => line(state, g.id, groupText(doc, g), g.of, groupFields(g))),
      order && line(state, "order", orderText(doc), doc.order, orderFields(doc))),
    missedFields(state),
    otherProblems(state, doc, of));
}

/**
 * Problems that are shown nowhere else in the panel: not at a wish, nor at the one box that is selected.
 * @param {State} state @param {Doc} doc @param {readonly string[] | null} of
 */
function otherProblems(state, doc, of) {
  const wishes = [...doc.relations.map((r) => ({ id: r.id, of: [r.of, r.to] })), ...doc.groups, { id: "order", of: doc.order }];
  const shown = new Set(wishes.filter((wish) => !of || wish.of.some((id) => of.includes(id))).map((wish) => wish.id));
  const rest = state.problems.filter((p) => !shown.has(p.id) && !(of?.length === 1 && of[0] === p.id));
  const whose = (/** @type {string} */ id) => (boxOf(doc, id) ? [id] : (wishes.find((wish) => wish.id === id)?.of ?? []));
  return rest.length > 0 && h("ul", { class: "problems", role: "alert" }, rest.map((p) => {
    const boxes = whose(p.id).filter((id) => id !== "canvas");
    const box = boxOf(doc, p.id);
    const text = box ? `${title(box)}: ${p.message}` : p.message;
    return h("li", {}, boxes.length ? h("button", { type: "button", class: "plain", onclick: () => select(boxes) }, text) : text);
  }));
}

/** @param {State} state */
function summary(state) {
  const now = reportNow(state);
  if (!now) return null;
  const { wishes, missed } = now.report;
  return h("small", { class: missed.length ? "missed" : "met" }, missed.length ? `${wishes - missed.length} of ${wishes} met` : `all ${wishes} met`);
}

/**
 * @param {State} state
 * @param {string} id
 * @param {string} text
 * @param {readonly string[]} boxes
 * @param {import("./dom.js").Loose} extra
 */
function line(state, id, text, boxes, extra) {
  const problem = state.problems.find((p) => p.id === id);
  const verdict = verdictOf(state, id);
  const kind = problem ? "missed" : verdict.kind;
  const status = problem ? problem.message : verdict.missed ? missText(verdict.missed) : verdict.text;
  return h("li", { key: id, class: kind, "data-wish": id },
    h("span", { class: "sign", "aria-hidden": "true" }, icon(kind === "met" ? "check" : kind === "missed" ? "miss" : "relate", { class: "icon small" })),
    h("button", { type: "button", class: "plain", onclick: () => select(boxes.filter((b) => b !== "canvas")) }, text, h("small", {}, status)),
    button("close", `Remove the wish: ${text}`, () => edit((d) => removed(d, [id]))),
    extra ? h("div", { class: "extra" }, extra) : null);
}

/** @param {import("./types.js").Relation} r */
function gapField(r) {
  const put = (/** @type {string} */ text) => {
    const gap = text === "" ? undefined : Math.max(0, Number(text) || 0);
    edit((d) => ({ ...d, relations: d.relations.map((o) => (o.id === r.id ? { ...o, gap } : o)) }));
  };
  return h("label", {}, "Gap ", number("Gap in pixels", r.gap ?? "", put, { min: 0, placeholder: "any" }), " px");
}

/** Each of them one place earlier. @param {Doc} doc */
function orderFields(doc) {
  const earlier = (/** @type {number} */ i) => edit((d) => {
    const order = [...d.order];
    [order[i - 1], order[i]] = [order[i], order[i - 1]];
    return { ...d, order };
  });
  return h("ol", { "aria-label": "Reading order" }, doc.order.map((id, i) => {
    const box = doc.boxes.find((b) => b.id === id);
    const name = box ? title(box) : "?";
    return h("li", { key: id }, h("span", {}, name), i > 0 && button("up", `Read ${name} earlier`, () => earlier(i)));
  }));
}

/** @type {readonly [string, string][]} */
const GAPS = [["equal", "equal gaps"], ["", "any gaps"], ["0", "no gaps"], ["8", "8 px"], ["16", "16 px"], ["24", "24 px"]];
/** @type {readonly [string, string][]} */
const SAME = [["", "own sizes"], ["width", "same width"], ["height", "same height"], ["size", "same size"]];
const ALIGNS = { column: ["left", "center", "right"], row: ["top", "middle", "bottom"], grid: [] };

/** @param {Group} g */
function groupFields(g) {
  const put = (/** @type {"gap" | "align" | "same"} */ key) => (/** @type {string} */ value) =>
    edit((d) => ({ ...d, groups: d.groups.map((o) => (o.id === g.id ? { ...o, [key]: value } : o)) }));
  /** @type {[string, string][]} */
  const aligns = ALIGNS[g.kind].map((name) => [name, name]);
  return [
    choice("Gaps", g.gap, GAPS.some(([gap]) => gap === g.gap) ? GAPS : [...GAPS, [g.gap, `${Math.round(Number(g.gap) * 10) / 10} px`]], put("gap")),
    aligns.length > 0 && choice("Alignment", g.align, [["", "not aligned"], ...aligns], put("align")),
    choice("Same", g.same, SAME, put("same")),
  ];
}

/** @param {import("./types.js").Missed} m @param {import("./types.js").Index} index @param {Doc} doc */
function fieldText(m, index, doc) {
  const box = doc.boxes.find((b) => b.id === idAt(m.path, index));
  const field = m.path.split(".").at(-1) ?? "";
  return box ? `${title(box)}: ${field} ${m.kind === "about" ? "about " : ""}${m.wanted}` : `${field.replaceAll("_", " ")}: ${m.wanted}`;
}

/** Missed values of boxes, such as a draft that was left too far. @param {State} state */
function missedFields(state) {
  const now = reportNow(state);
  const rest = (now?.report.missed ?? []).filter((m) => !/^(relations|groups|reading_order)/.test(m.path));
  if (!now || !rest.length) return null;
  return h("ul", { class: "rest", "aria-label": "Missed values" }, rest.map((m) => h("li", { class: "missed" },
    h("span", { class: "sign", "aria-hidden": "true" }, icon("miss", { class: "icon small" })),
    h("button", { type: "button", class: "plain", onclick: () => select([idAt(m.path, now.asked.index)].filter(Boolean)) }, fieldText(m, now.asked.index, state.history.present), h("small", {}, missText(m))))));
}
