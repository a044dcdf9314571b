/** The dock at the foot: what to generate, and the strip of variants. */
import { film, preview, run, take, tidy } from "./actions.js";
import { loosened } from "./doc.js";
import { h } from "./dom.js";
import { button, number, press, slider, tick } from "./fields.js";
import { icon } from "./icons.js";
import { copyLink } from "./project.js";
import { edit, get, model, set } from "./store.js";
import { thumbnail } from "./thumbnail.js";

/** @typedef {import("./store.js").State} State */

/** @param {State} state */
export function dock(state) {
  const none = !state.history.present.boxes.length;
  const no = model()?.tasks ?? {}; // by task: why this model cannot, or null
  const busy = state.busy !== "" && state.busy !== "tidy" && state.busy !== "film";
  return [
    h("div", { class: "controls" },
      press([icon("spark"), busy ? "Generating" : "Generate"], () => run("generate"),
        { id: "generate", class: "primary", title: "Every wish as it stands (G)", "aria-busy": busy ? "true" : null }),
      act("Regenerate the rest", "rest", "Locked and selected boxes stay, all others are drawn anew (Shift G)", () => run("rest"), none),
      act("Complete", "complete", no.completion ?? "Everything stays, elements are added (C)", () => run("complete"), none || Boolean(no.completion)),
      act("More like this", "refine", no.refinement ?? "Everything stays nearly where it is (M)", () => run("refine"), none || Boolean(no.refinement)),
      act("Tidy", "tidy", "Edges, sizes and gaps that are nearly equal become equal (T)", tidy, none),
      h("span", { class: "space" }),
      tick("Live", state.live, (live) => set({ live }), { id: "live", role: "switch", class: "live", title: "Generate again after each change" })),
    h("div", { class: "shelf" }, strip(state), settings(state)),
  ];
}

/**
 * @param {string} text
 * @param {string} name
 * @param {string} says
 * @param {() => void} on
 * @param {boolean} off
 */
const act = (text, name, says, on, off) => press(text, on, { "data-act": name, title: says, disabled: off });

/** @param {number} part */
const percent = (part) => `${(part * 100).toFixed(part < 0.1 ? 1 : 0)} %`;

export function anotherSeed() {
  set({ seed: get().seed + 1 });
  void run(get().variants?.mode ?? "generate");
}

/** @param {State} state */
function settings(state) {
  const { within } = state.history.present;
  const { variants } = state;
  const far = (/** @type {number} */ value) => edit((d) => loosened(d, value), { tag: "within" });
  const seed = (/** @type {string} */ text) => set({ seed: Math.max(0, Math.floor(Number(text) || 0)) });
  return h("div", { key: "settings", class: "settings" },
    h("label", { class: "far", title: "How far a value that is about may be from the draft" },
      h("span", {}, "Distance from draft"), h("output", {}, `±${percent(within)}`),
      slider("Distance from the draft", within, [0.005, 0.3, 0.005], far, { id: "within", "aria-valuetext": `${percent(within)} of the canvas` })),
    h("div", { class: "seed" },
      h("label", {}, h("span", {}, "Seed"), number("Seed", state.seed, seed, { id: "seed", min: 0, step: 1 })),
      button("dice", "Another seed (D)", anotherSeed),
      button("link", "Copy a link with this seed", () => void copyLink())),
    h("p", { class: "took", role: "status" }, variants ? `${variants.results.length} variants in ${(variants.seconds * 1000).toFixed(0)} ms` : ""));
}

/** @param {State} state */
function strip(state) {
  const { variants } = state;
  if (!variants) {
    return h("div", { key: "strip", class: "strip empty" }, state.busy
      ? Array.from({ length: 8 }, (_, i) => h("span", { key: `wait${i}`, class: "waiting", "aria-hidden": "true" }))
      : h("p", {}, "Eight variants appear here. Point at one to see it in place, click to take it."));
  }
  const leave = () => { if (!get().film) preview(-1); };
  return h("div", { key: "strip", class: state.busy ? "strip busy" : "strip", role: "group", "aria-label": "Variants", onmouseleave: leave },
    variants.results.map((result, i) => cell(state, variants, result, i)));
}

/**
 * @param {State} state
 * @param {import("./types.js").Variants} variants
 * @param {import("./types.js").LayoutRecord} result
 * @param {number} i
 */
function cell(state, variants, result, i) {
  const missed = result.report?.missed.length ?? 0;
  const verdict = missed ? `${missed} of ${result.report?.wishes} wishes missed` : "all wishes met";
  // After an edit or undo, what is seen is no longer the variant.
  const taken = variants.taken === i && state.report?.doc === state.history.present;
  const wide = Math.min(Math.max((state.stage.width - 250) / 8 - 16, 44), 170);
  const quiet = () => !get().film;
  return h("div", { key: `variant${i}`, class: taken ? "cell taken" : "cell" },
    h("button", {
      type: "button", class: "variant", "data-variant": i, "aria-pressed": String(taken),
      "aria-label": `Variant ${i + 1}, ${result.labels.length} elements, ${verdict}`,
      onclick: () => take(i),
      onmouseenter: () => { if (quiet()) preview(i); },
      onfocus: (/** @type {Event} */ e) => { if (/** @type {Element} */ (e.target).matches(":focus-visible")) preview(i); },
      onblur: () => { if (quiet()) preview(-1); },
    },
      thumbnail(result, variants.base.canvas, 104, wide),
      h("span", { class: `tag ${missed ? "missed" : "met"}` }, icon(missed ? "miss" : "check", { class: "icon small" }), missed ? String(missed) : null),
      h("span", { class: "which" }, `${variants.seed}·${i + 1}`)),
    button("film", `Show how variant ${i + 1} came to be`, () => void film(i), { class: "quiet play" }));
}
