/** Dialogs: the keys, a text to copy, a choice among layouts. */
import { h, part, show } from "./dom.js";
import { button } from "./fields.js";
import { KEYS } from "./keys.js";
import { thumbnail } from "./thumbnail.js";

/** @param {string} title @param {import("./dom.js").Loose[]} content @param {string} [kind] */
function openDialog(title, content, kind = "") {
  const dialog = /** @type {HTMLDialogElement} */ (part("dialog"));
  const head = h("header", {}, h("h2", { id: "dialog-title" }, title), button("close", "Close", () => dialog.close()));
  show(dialog, head, h("div", { class: `content ${kind}` }, content));
  if (!dialog.open) dialog.showModal();
  return dialog;
}

export function openHelp() {
  openDialog("Keys", KEYS.map(([heading, keys]) =>
    h("section", {}, h("h3", {}, heading), h("dl", {}, keys.map(([key, says]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, says)])))), "keys");
}

/** @param {string} title @param {string} text */
export function openText(title, text) {
  const area = h("textarea", { readonly: true, rows: 16, "aria-label": title, value: text, spellcheck: "false" });
  const copy = h("button", {
    type: "button", class: "primary",
    onclick: async (/** @type {Event} */ e) => {
      const field = part("dialog").querySelector("textarea");
      field?.select();
      const copied = await navigator.clipboard?.writeText(text).then(() => true, () => false);
      /** @type {HTMLElement} */ (e.target).textContent = copied ? "Copied" : "Press Ctrl C";
    },
  }, "Copy");
  openDialog(title, [area, h("footer", {}, copy)], "text");
}

/**
 * @param {import("./types.js").LayoutRecord[]} layouts
 * @returns {Promise<import("./types.js").LayoutRecord | null>}
 */
export function pickLayout(layouts) {
  return new Promise((done) => {
    /** @type {import("./types.js").LayoutRecord | null} */
    let chosen = null;
    const some = layouts.slice(0, 60);
    const dialog = openDialog(`Which of ${layouts.length} layouts?`, [h("div", { class: "gallery" }, some.map((layout) =>
      h("button", { type: "button", class: "variant", onclick: () => { chosen = layout; dialog.close(); } },
        thumbnail(layout, layout, 110), h("span", {}, layout.id))))], "pick");
    dialog.addEventListener("close", () => done(chosen), { once: true });
  });
}
