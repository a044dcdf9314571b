/** The keyboard. */
import { run, take, tidy } from "./actions.js";
import { aligned, distributed } from "./arrange.js";
import { boxOf } from "./doc.js";
import { openHelp } from "./dialogs.js";
import { anotherSeed } from "./dock.js";
import * as E from "./editing.js";
import { giveUp, typing } from "./gestures.js";
import { closeMenu, relateSelected } from "./menus.js";
import { doc, edit, get, redo, say, select, set, undo } from "./store.js";
import { boxText } from "./words.js";
import { actual, closer, fit, further } from "./zoom.js";

/** What `?` lists. @type {readonly [string, readonly [string, string][]][]} */
export const KEYS = [
  ["Tools", [
    ["V", "Select"], ["R or B", "Draw a box"],
    ["L", "Relate what is selected, or the tool"], ["H or Space + drag", "Move the view"],
    ["N", "Add a box without a mouse"], ["/", "Search a label"],
  ]],
  ["Canvas", [
    ["Enter", "Go into the canvas; on a box: its properties"], ["Tab, Shift Tab", "Next, previous box"],
    ["Space", "Keep the box selected while going on"], ["Esc", "Clear, leave"],
    ["Click again", "The box underneath"], ["Shift + click", "Add to the selection"],
    ["Ctrl A", "Select all"],
  ]],
  ["Change", [
    ["Arrows", "Move by 1 px; with Shift by 10"], ["Alt + arrows", "Resize; with Shift by 10"],
    ["Shift + drag", "One axis; keep the ratio"], ["Alt + drag", "Duplicate; resize from the centre"],
    ["Ctrl + drag", "Without snapping"], ["Del", "Delete"],
  ]],
  ["Edit", [
    ["Ctrl Z, Ctrl Shift Z", "Undo, redo"], ["Ctrl C, X, V", "Copy, cut, paste; Shift: in place"],
    ["Ctrl D", "Duplicate"], ["Ctrl Shift L", "Lock, unlock"],
    ["Ctrl Shift arrows", "Align"], ["Alt H, Alt V", "Equal gaps across, down"],
  ]],
  ["Generate", [
    ["G or Ctrl Enter", "Generate"], ["Shift G", "Regenerate the rest"],
    ["C", "Complete"], ["M", "More like this"],
    ["T", "Tidy"], ["1 … 8", "Take a variant"],
    ["D", "Another seed"],
  ]],
  ["View", [
    ["Ctrl + wheel, + and −", "Zoom"], ["Shift 1", "Fit"],
    ["Ctrl 0", "100 %"], ["?", "These keys"],
  ]],
];

/** @type {Record<string, () => unknown>} */
const PLAIN = {
  v: () => set({ tool: "select" }), r: () => set({ tool: "draw" }), b: () => set({ tool: "draw" }),
  h: () => set({ tool: "pan" }), l: () => (get().selected.size ? relateSelected() : set({ tool: "relate" })),
  n: E.addBox, g: () => run("generate"), G: () => run("rest"), c: () => run("complete"), m: () => run("refine"), t: tidy,
  d: () => anotherSeed(),
  "?": openHelp, "+": closer, "=": closer, "-": further, "!": fit,
  "/": () => document.getElementById("label-search")?.focus(),
  Delete: E.remove, Backspace: E.remove,
};

/** @type {Record<string, () => unknown>} */
const WITH_CTRL = {
  a: E.selectAll, d: E.duplicate, c: E.copy, x: E.cutOut, z: undo, y: redo, Enter: () => run("generate"), 0: actual,
  "+": closer, "=": closer, "-": further,
};

/** @type {Record<string, import("./arrange.js").Align>} */
const ALIGN = { ArrowLeft: "left", ArrowRight: "right", ArrowUp: "top", ArrowDown: "bottom" };
/** @type {Record<string, [number, number]>} */
const ARROW = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export function listenForKeys() {
  addEventListener("keydown", (event) => { if (handled(event)) event.preventDefault(); });
  addEventListener("paste", (event) => {
    if (typing(event)) return;
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!E.pasteText(text)) E.paste(shifted);
  });
  addEventListener("keydown", (event) => { shifted = event.shiftKey; }, true);
}
let shifted = false;

/** @param {KeyboardEvent} event @returns {boolean} */
function handled(event) {
  if (document.querySelector("dialog[open]")) return false;
  if (typing(event)) {
    if (event.key === "Escape") part(event).blur();
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return done(() => run("generate"));
    return false;
  }
  const ctrl = event.ctrlKey || event.metaKey;
  const arrow = ARROW[event.key];
  const key = event.key.length === 1 && !event.shiftKey ? event.key.toLowerCase() : event.key;
  if (ctrl && event.shiftKey) return withBoth(event);
  if (ctrl) return WITH_CTRL[key] ? done(WITH_CTRL[key]) : false;
  if (event.altKey) return withAlt(event, arrow);
  if (event.key === "Escape") return done(escape);
  if (event.key === "Tab") return tabbed(event.shiftKey);
  const inside = within();
  if (event.key === "Enter" && document.activeElement?.id === "stage") return done(enter);
  if (event.key === " " && inside) return done(() => pin(inside));
  if (event.key === "Enter" && inside) return done(() => document.getElementById("field-name")?.focus());
  if (onButton(event)) return false;
  if (arrow && get().selected.size) return done(() => E.nudge(arrow[0] * (event.shiftKey ? 10 : 1), arrow[1] * (event.shiftKey ? 10 : 1)));
  if (event.shiftKey && event.code === "Digit1") return done(fit);
  if (/^[1-8]$/.test(event.key)) return done(() => take(Number(event.key) - 1));
  return PLAIN[key] ? done(PLAIN[key]) : false;
}

/** @param {Event} event @returns {HTMLElement} */
const part = (event) => /** @type {HTMLElement} */ (event.target);

/** @param {() => unknown} act */
function done(act) {
  act();
  return true;
}

/** Arrows and Enter belong to a button or slider that has the focus. @param {KeyboardEvent} event */
const onButton = (event) =>
  event.target instanceof HTMLElement &&
  (event.target.matches("[type=range]")
    ? event.key in ARROW
    : (event.key === "Enter" || event.key === " ") && event.target.matches("button, input, [role=button]"));

/** @param {KeyboardEvent} event */
function withBoth(event) {
  const how = ALIGN[event.key];
  if (how) return done(() => edit((d) => aligned(d, get().selected, how)));
  const act = { l: E.toggleLock, z: redo }[event.key.toLowerCase()];
  return act ? done(act) : false;
}

/** @param {KeyboardEvent} event @param {[number, number] | undefined} arrow */
function withAlt(event, arrow) {
  const by = event.shiftKey ? 10 : 1;
  if (arrow) return done(() => E.grow(arrow[0] * by, arrow[1] * by));
  if (event.code === "KeyH") return done(() => edit((d) => distributed(d, get().selected, "x")));
  if (event.code === "KeyV") return done(() => edit((d) => distributed(d, get().selected, "y")));
  return false;
}

/** One thing at a time: menu, gesture, preview, tool, selection, canvas. */
function escape() {
  const state = get();
  pinned.clear();
  if (closeMenu() || giveUp()) return;
  if (state.sheet) return set({ sheet: "" });
  if (state.hover >= 0 || state.film) return set({ hover: -1, film: null });
  if (state.tool !== "select") return set({ tool: "select" });
  if (state.selected.size) select([]);
  if (within()) document.getElementById("stage")?.focus();
}

/** The box that has the focus. */
const within = () => document.activeElement?.closest?.("[data-box]")?.getAttribute("data-box") ?? "";

/** Boxes as they are read: from the top, then from the left. */
const inOrder = () => [...doc().boxes].sort((a, b) => a.y - b.y || a.x - b.x);

/** @param {boolean} back */
function tabbed(back) {
  const id = within();
  if (!id) return false;
  const order = inOrder().map((box) => box.id);
  const next = order.indexOf(id) + (back ? -1 : 1);
  if (next < 0 || next >= order.length) {
    // Past the last box the canvas is left, as everywhere on the page.
    document.getElementById(back ? "stage" : "generate")?.focus();
    return true;
  }
  step(next);
  return true;
}

/** Into the canvas: to what is selected, else to the first box. */
const enter = () => step(Math.max(0, inOrder().findIndex((box) => get().selected.has(box.id))));

/** @param {number} i */
function step(i) {
  const box = inOrder()[i];
  if (!box) return say("The canvas is empty. Press N to add a box, or G to generate.");
  select([...pinned, box.id]);
  const seen = document.querySelector(`[data-box="${box.id}"]`);
  if (seen instanceof SVGElement) seen.focus();
}

/** Boxes that stay selected while Tab goes on; a bar of space adds and removes. @type {Set<string>} */
const pinned = new Set();

/** @param {string} id */
function pin(id) {
  if (!pinned.delete(id)) pinned.add(id);
  select([...pinned, id]);
  const box = boxOf(doc(), id);
  if (box) say(`${boxText(box)}. ${pinned.size} kept in the selection.`);
}
