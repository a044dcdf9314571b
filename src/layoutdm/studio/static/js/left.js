/** The left panel: labels to draw with, and the list of elements. */
import { labelled, title } from "./doc.js";
import { h } from "./dom.js";
import { addBox } from "./editing.js";
import { icon } from "./icons.js";
import { colour } from "./palette.js";
import { edit, get, model, nextLabel, select, set } from "./store.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {import("./types.js").Label} Label */

/** @param {Label} label @param {string} search  names first, then other words for them */
function rank(label, search) {
  const name = label.name.toLowerCase();
  if (!search || name.startsWith(search)) return 0;
  if (name.includes(search)) return 1;
  return label.aliases.some((alias) => alias.toLowerCase().includes(search)) ? 2 : 3;
}

/** @param {State} state */
function found(state) {
  const search = state.search.trim().toLowerCase();
  const labels = model()?.labels ?? [];
  const ranked = labels.map((label) => ({ label, rank: rank(label, search) })).filter((item) => item.rank < 3);
  return ranked.sort((a, b) => a.rank - b.rank).map((item) => item.label); // equals keep their order
}

/** @param {string} label */
function choose(label) {
  set({ label });
  const { selected } = get();
  if (selected.size) edit((doc) => labelled(doc, selected, label));
  else set({ tool: "draw" });
}

/** @param {State} state */
export function left(state) {
  const doc = state.draft ?? state.history.present;
  const labels = found(state);
  const total = (model()?.labels ?? []).reduce((sum, label) => sum + (label.count ?? 0), 0);
  const search = state.search.trim().toLowerCase();
  return [
    h("section", { class: "labels" },
      h("h2", {}, "Labels"),
      h("input", {
        id: "label-search", type: "search", placeholder: "Search a label", "aria-label": "Search a label", value: state.search, autocomplete: "off",
        oninput: (/** @type {Event} */ e) => set({ search: /** @type {HTMLInputElement} */ (e.target).value }),
        onkeydown: (/** @type {KeyboardEvent} */ e) => {
          const [first] = found(get()); // not `labels`: who types fast is ahead of what is drawn
          if (e.key !== "Enter" || !first) return;
          choose(first.name);
          set({ search: "" });
          /** @type {HTMLElement} */ (e.target).blur();
        },
      }),
      h("ul", { "aria-label": "Labels" }, labels.map((label) => {
        const alias = rank(label, search) === 2 ? label.aliases.find((a) => a.toLowerCase().includes(search)) : "";
        return h("li", { key: label.name }, h("button", {
          type: "button", "aria-pressed": label.name === nextLabel() ? "true" : "false", onclick: () => choose(label.name),
          title: label.aliases.length ? `also: ${label.aliases.join(", ")}` : null,
        }, h("i", { class: "dot", style: { "--c": colour(label.name) } }), h("span", {}, label.name, alias ? h("small", {}, ` ${alias}`) : null),
          label.count !== null && total > 0 && h("small", { class: "count", title: `${label.count.toLocaleString("en")} in the training data` },
            share(label.count / total))));
      }), labels.length ? null : h("li", { class: "hint" }, "No label is called so."))),
    h("section", { class: "elements" },
      h("h2", {}, "Elements", h("small", {}, doc.boxes.length ? String(doc.boxes.length) : "")),
      h("ul", { "aria-label": "Elements" }, doc.boxes.map((box) => h("li", { key: box.id }, h("button", {
        type: "button", class: box.made ? "made" : "", "aria-pressed": state.selected.has(box.id) ? "true" : "false", "data-element": box.id,
        onclick: (/** @type {MouseEvent} */ e) => select(e.shiftKey || e.ctrlKey || e.metaKey ? [...get().selected, box.id] : [box.id]),
      }, h("i", { class: "dot", style: { "--c": colour(box.label) } }), h("span", {}, title(box), box.name ? h("small", {}, ` ${box.label}`) : null),
        box.locked && icon("lock", { class: "icon small" }),
        state.problems.some((p) => p.id === box.id) && h("b", { class: "alarm", title: "has a problem" }, "!"))))),
      h("button", { type: "button", class: "wide", onclick: addBox }, icon("more"), `Add ${nextLabel() || "element"}`)),
  ];
}

/** @param {number} part */
const share = (part) => (part >= 0.005 ? `${Math.round(part * 100)} %` : "<1 %");
