/** Menus: one list at a time, near the pointer or under its button; arrows, Enter and Escape. */
import * as D from "./doc.js";
import { h, part, show } from "./dom.js";
import { icon } from "./icons.js";
import { copy, duplicate, paste, remove, selectAll, toggleLock } from "./editing.js";
import { doc, edit, get } from "./store.js";
import { BETWEEN, TO_CANVAS, said } from "./words.js";

/** @typedef {{text: string, act?: () => void, icon?: string, key?: string, heading?: boolean, off?: boolean}} Item */

/** @type {Element | null} */
let opener = null;

/** @param {readonly Item[]} items @param {number} x @param {number} y @param {string} [name] */
export function openMenu(items, x, y, name = "Menu") {
  const menu = part("menu");
  opener = document.activeElement;
  show(menu, items.map((item, i) =>
    item.heading
      ? h("div", { class: "heading", role: "presentation", key: `${i}${item.text}` }, item.text)
      : h("button", {
          key: `${i}${item.text}`, type: "button", role: "menuitem", tabindex: -1, disabled: item.off ?? false,
          onclick: () => { closeMenu(); item.act?.(); },
        }, item.icon ? icon(item.icon) : null, h("span", {}, item.text), item.key ? h("kbd", {}, item.key) : null)));
  menu.setAttribute("aria-label", name);
  menu.hidden = false;
  const size = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(6, Math.min(x, innerWidth - size.width - 6))}px`;
  menu.style.top = `${Math.max(6, Math.min(y, innerHeight - size.height - 6))}px`;
  entries()[0]?.focus();
}

/** @param {Event} event @param {readonly Item[]} items @param {string} name */
export function dropMenu(event, items, name) {
  const r = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
  openMenu(items, r.left, r.bottom + 4, name);
}

export function closeMenu() {
  const menu = part("menu");
  if (menu.hidden) return false;
  menu.hidden = true;
  if (opener instanceof HTMLElement || opener instanceof SVGElement) if (opener.isConnected) opener.focus();
  return true;
}

/** @returns {HTMLButtonElement[]} */
const entries = () => [...part("menu").querySelectorAll("button")].filter((b) => !b.disabled);

export function listenForMenus() {
  const menu = part("menu");
  menu.addEventListener("keydown", (event) => {
    const all = entries();
    const at = all.findIndex((b) => b === document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) all[(at + step + all.length) % all.length]?.focus();
    else if (event.key === "Home") all[0]?.focus();
    else if (event.key === "End") all.at(-1)?.focus();
    else if (event.key === "Escape" || event.key === "Tab") closeMenu();
    else if (event.key.length === 1 && /\S/.test(event.key)) {
      const rest = [...all.slice(at + 1), ...all.slice(0, at + 1)];
      rest.find((b) => b.textContent?.trim().toLowerCase().startsWith(event.key.toLowerCase()))?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  addEventListener("pointerdown", (event) => {
    if (!menu.hidden && event.target instanceof Node && !menu.contains(event.target)) closeMenu();
  }, true);
}

/** @param {string} of @param {string} to @returns {Item[]} */
export function relationMenu(of, to) {
  const now = doc();
  const { features } = get();
  const [a, b] = [D.boxOf(now, of), D.boxOf(now, to)];
  if (!a) return [];
  const other = b ? D.title(b) : "the canvas";
  /** @type {Item[]} */
  const items = [];
  for (const [heading, names] of b ? BETWEEN : TO_CANVAS) {
    const known = names.filter((name) => features.relations.has(name) && (b || THIRDS.has(name) || features.groups || !heading.startsWith("Line")));
    if (known.length) items.push({ text: heading, heading: true });
    for (const is of known) items.push({ text: `${said(is)} ${other}`, act: () => edit((d) => D.related(d, of, is, to)) });
  }
  return [{ text: `${D.title(a)} is …`, heading: true }, ...items];
}
const THIRDS = new Set(["top", "middle", "bottom"]);

/** For the boxes that are selected. @returns {Item[]} */
export function boxMenu() {
  const { selected } = get();
  const ids = [...selected];
  const none = !ids.length;
  const locked = ids.every((id) => D.boxOf(doc(), id)?.locked);
  return [
    { text: locked && !none ? "Unlock" : "Lock", icon: "lock", key: "Ctrl Shift L", act: toggleLock, off: none },
    { text: "Duplicate", icon: "copy", key: "Ctrl D", act: duplicate, off: none },
    { text: "Copy", key: "Ctrl C", act: copy, off: none },
    { text: "Paste", key: "Ctrl V", act: () => paste(false) },
    { text: "Relate…", icon: "relate", key: "L", act: relateSelected, off: none },
    { text: "Select all", key: "Ctrl A", act: selectAll },
    { text: "Delete", icon: "bin", key: "Del", act: remove, off: none },
  ];
}

/** Two boxes to each other; one box to the canvas. */
export function relateSelected() {
  const [of, to] = [...get().selected];
  if (!of) return;
  const at = document.querySelector(`[data-box="${of}"]`)?.getBoundingClientRect();
  openMenu(relationMenu(of, to ?? "canvas"), (at?.left ?? 100) + 20, (at?.top ?? 100) + 20, "Relation");
}
