/** Small parts of panels: buttons, fields, choices. */
import { h } from "./dom.js";
import { icon } from "./icons.js";

/** @typedef {import("./dom.js").Loose} Loose */

/** @param {Event} event */
export const valueOf = (event) => /** @type {HTMLInputElement} */ (event.target).value;

/**
 * A button with a picture only; the text is its name.
 * @param {string} name
 * @param {string} text
 * @param {() => void} act
 * @param {Record<string, any>} [more]
 */
export const button = (name, text, act, more = {}) =>
  h("button", { type: "button", class: "quiet", title: text, "aria-label": text, onclick: act, ...more }, icon(name));

/**
 * A button with words.
 * @param {Loose} text
 * @param {(event: Event) => void} act
 * @param {Record<string, any>} [more]
 */
export const press = (text, act, more = {}) => h("button", { type: "button", onclick: act, ...more }, text);

/**
 * @param {string} name
 * @param {string | number} value
 * @param {(value: string) => void} on
 * @param {Record<string, any>} [more]
 */
export const number = (name, value, on, more = {}) =>
  h("input", {
    type: "number", value: String(value), "aria-label": name, onchange: (/** @type {Event} */ e) => on(valueOf(e)), ...more,
  });

/**
 * @param {string} name
 * @param {string} value
 * @param {readonly [string, string][]} options
 * @param {(value: string) => void} on
 * @param {Record<string, any>} [more]
 */
export const choice = (name, value, options, on, more = {}) =>
  h("select", { "aria-label": name, value, onchange: (/** @type {Event} */ e) => on(valueOf(e)), ...more },
    options.map(([v, text]) => h("option", { value: v, key: v }, text)));

/**
 * @param {string} name
 * @param {number} value
 * @param {[number, number, number]} range  least, most, step
 * @param {(value: number) => void} on
 * @param {Record<string, any>} [more]
 */
export const slider = (name, value, [min, max, step], on, more = {}) =>
  h("input", {
    type: "range", min, max, step, value: String(value), "aria-label": name,
    oninput: (/** @type {Event} */ e) => on(Number(valueOf(e))), ...more,
  });

/**
 * @param {string} text
 * @param {boolean} checked
 * @param {(checked: boolean) => void} on
 * @param {Record<string, any>} [more]
 */
export const tick = (text, checked, on, { class: kind = "", title = null, ...more } = {}) =>
  h("label", { class: `check ${kind}`, title },
    h("input", {
      type: "checkbox", checked, onchange: (/** @type {Event} */ e) => on(/** @type {HTMLInputElement} */ (e.target).checked), ...more,
    }), text);

/** What an opened request says and no panel shows. @param {Record<string, any>} kept @param {() => void} leaveOut */
export function alsoSaid(kept, leaveOut) {
  const words = Object.entries(kept).map(([key, v]) => `${key} ${JSON.stringify(v)}`);
  return words.length > 0 && h("div", { class: "notice" },
    h("p", {}, `The opened request also says: ${words.join("; ")}.`), press("Leave it out", leaveOut));
}

/** A field with its word before it. @param {string} text @param {...Loose} field */
export const line = (text, ...field) => h("label", { class: "line" }, h("span", {}, text), field);
