/** The bar at the top: file, history, tools, view, theme. */
import { h } from "./dom.js";
import { openHelp } from "./dialogs.js";
import { EXAMPLES, docOf } from "./examples.js";
import { button, press } from "./fields.js";
import { icon } from "./icons.js";
import { dropMenu } from "./menus.js";
import * as P from "./project.js";
import { redo, set, undo } from "./store.js";
import { actual, closer, fit, further } from "./zoom.js";

/** @typedef {import("./store.js").State} State */

/** @type {readonly [import("./store.js").Tool, string][]} */
const TOOLS = [["select", "Select (V)"], ["draw", "Draw a box (R)"], ["relate", "Relate two boxes (L)"], ["pan", "Move the view (H)"]];

/** @param {State} state */
export function topbar(state) {
  const zoom = `${Math.round(state.view.zoom * 100)} %`;
  const dark = document.documentElement.dataset.theme === "dark";
  return [
    h("div", { class: "brand" },
      h("span", { class: "logo", "aria-hidden": "true" }, h("i"), h("i"), h("i")),
      h("h1", {}, "layoutdm ", h("span", {}, "studio"))),
    h("div", { class: "group narrow" }, press(icon("menu"), (e) => dropMenu(e, wholeMenu(state, dark), "Menu"),
      { class: "quiet", "aria-label": "Menu", "aria-haspopup": "menu" })),
    h("div", { class: "group broad" },
      menuButton("File", fileMenu), menuButton("Examples", () => exampleMenu(state)), menuButton("Export", exportMenu)),
    h("div", { class: "group", role: "group", "aria-label": "History" },
      button("undo", "Undo (Ctrl Z)", undo, { disabled: !state.history.past.length }),
      button("redo", "Redo (Ctrl Shift Z)", redo, { disabled: !state.history.future.length })),
    h("div", { class: "group tools", role: "group", "aria-label": "Tools" }, TOOLS.map(([tool, text]) =>
      button(tool, text, () => set({ tool }), { "aria-pressed": state.tool === tool ? "true" : "false" }))),
    h("div", { class: "space" }),
    h("div", { class: "group broad", role: "group", "aria-label": "View" },
      button("less", "Zoom out", further),
      press(zoom, actual, { class: "quiet zoom", title: "100 % (Ctrl 0)", "aria-label": `Zoom ${zoom}, set to 100 %` }),
      button("more", "Zoom in", closer), button("fit", "Fit (Shift 1)", fit)),
    h("div", { class: "group broad" },
      button("link", "Copy a link to this request", () => void P.copyLink()),
      button(dark ? "sun" : "moon", dark ? "Light colours" : "Dark colours", () => set({ theme: dark ? "light" : "dark" })),
      button("help", "Keys (?)", openHelp)),
    h("div", { class: "group narrow" },
      sheetButton(state, "left", "labels", "Labels and elements"), sheetButton(state, "right", "panel", "Properties")),
  ];
}

/** @param {string} text @param {() => import("./menus.js").Item[]} items */
const menuButton = (text, items) =>
  press([text, icon("down", { class: "icon small" })], (e) => dropMenu(e, items(), text), { class: "quiet text", "aria-haspopup": "menu" });

/**
 * A narrow window shows its side panels one at a time.
 * @param {State} state
 * @param {"left" | "right"} side
 * @param {string} name
 * @param {string} text
 */
function sheetButton(state, side, name, text) {
  const open = state.sheet === side;
  return button(name, text, () => set({ sheet: open ? "" : side }), { "aria-expanded": String(open) });
}

/** @returns {import("./menus.js").Item[]} */
const fileMenu = () => [
  { text: "New", act: P.fresh },
  { text: "Open…", icon: "open", act: () => P.chooseFiles() },
  { text: "Trace over an image…", icon: "picture", act: () => P.chooseFiles("image/*") },
  { text: "Save project", icon: "save", act: P.save },
  { text: "Copy link", icon: "link", act: () => void P.copyLink() },
];

/**
 * All menus in one, for a narrow window.
 * @param {State} state
 * @param {boolean} dark
 * @returns {import("./menus.js").Item[]}
 */
const wholeMenu = (state, dark) => [
  ...fileMenu(), { text: "Examples", heading: true }, ...exampleMenu(state), ...exportMenu(), { text: "View", heading: true },
  { text: "Zoom in", icon: "more", act: closer }, { text: "Zoom out", icon: "less", act: further }, { text: "Fit", icon: "fit", act: fit },
  { text: dark ? "Light colours" : "Dark colours", icon: dark ? "sun" : "moon", act: () => set({ theme: dark ? "light" : "dark" }) },
  { text: "Keys", icon: "help", act: openHelp },
];

/** @param {State} state @returns {import("./menus.js").Item[]} */
const exampleMenu = (state) => EXAMPLES.map((example) => ({ text: `${example.title}: ${example.says}`, act: () => startFrom(example, state) }));

/** @param {import("./examples.js").Example} example @param {State} state */
export const startFrom = (example, state) =>
  P.begin(docOf(example, state.models.map((m) => m.name), state.features));

/** @returns {import("./menus.js").Item[]} */
const exportMenu = () => [
  { text: "The layout as", heading: true },
  ...P.FORMATS.map(({ to, name }) => ({ text: name, act: () => void P.exportAs(to) })),
  { text: "The request as", heading: true },
  { text: "JSON", act: () => P.showCode("json") },
  { text: "Command", act: () => P.showCode("command") },
  { text: "Python", act: () => P.showCode("python") },
];
