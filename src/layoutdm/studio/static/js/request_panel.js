/** The request as a whole: model, canvas, how many elements, the traced image. */
import { resized } from "./doc.js";
import { h } from "./dom.js";
import { alsoSaid, button, choice, line, number, slider, tick } from "./fields.js";
import { PRESETS } from "./presets.js";
import { changeModel } from "./project.js";
import { edit, model } from "./store.js";
import { fit } from "./zoom.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {import("./types.js").Doc} Doc */

/** @param {State} state @param {Doc} now */
export function requestPanel(state, now) {
  return h("section", { key: "request", class: "properties" },
    h("h2", {}, "Request"),
    line("Model", choice("Model", now.model, state.models.map((m) => [m.name, m.name]), changeModel, { id: "model" })),
    canvasFields(now),
    tick("The model may add elements", now.more, (more) => edit((d) => ({ ...d, more }))),
    h("div", { class: "pair" }, count(now, "least"), count(now, "most")),
    state.features.margins && line("Margin", number("Margin to the canvas in pixels", now.margins === null ? now.margin : "",
      (text) => edit((d) => ({ ...d, margin: Math.max(0, Number(text) || 0), margins: null })), { min: 0, placeholder: "as in the request" })),
    state.features.unit && line("Unit", choice("Numbers of the request", now.unit, [["share", "shares of the canvas"], ["px", "pixels"]],
      (unit) => edit((d) => ({ ...d, unit: unit === "px" ? "px" : "share" })))),
    alsoSaid(now.kept, () => edit((d) => ({ ...d, kept: {} }))),
    pictureFields(now));
}

/** @param {Doc} now */
function canvasFields(now) {
  const { width, height } = now.canvas;
  const own = model()?.canvas;
  const change = (/** @type {import("./types.js").Size} */ size) => {
    edit((d) => resized(d, size));
    fit();
  };
  /** @type {[string, string][]} */
  const names = PRESETS.map((p) => [p.name, `${p.name} ${p.width} × ${p.height}`]);
  if (own) names.push(["own", `The model's ${own[0]} × ${own[1]}`]);
  const preset = PRESETS.find((p) => p.width === width && p.height === height)?.name;
  const chosen = preset ?? (own?.[0] === width && own[1] === height ? "own" : "custom");
  const side = (/** @type {"width" | "height"} */ key) => h("label", {}, h("span", {}, key === "width" ? "W" : "H"),
    number(`Canvas ${key} in pixels`, now.canvas[key], (text) => {
      if (Number(text) >= 1 && Number(text) <= 1e5) change({ ...now.canvas, [key]: Number(text) });
    }, { min: 1, max: 1e5 }));
  return [
    line("Canvas", choice("Canvas", chosen, [...names, ["custom", "Own size"]], (name) => {
      const found = PRESETS.find((p) => p.name === name);
      if (name === "own" && own) change({ width: own[0], height: own[1] });
      else if (found) change({ width: found.width, height: found.height });
    }, { id: "preset" })),
    h("div", { class: "pair" }, side("width"), side("height")),
    shapeNote(now, own),
  ];
}

/** @param {Doc} now @param {[number, number] | undefined} own */
function shapeNote(now, own) {
  if (!own) return null;
  const [ours, theirs] = [now.canvas.width / now.canvas.height, own[0] / own[1]];
  if (Math.max(ours / theirs, theirs / ours) < 1.5) return null;
  return h("p", { class: "hint" }, `${now.model} learned from canvases of ${own[0]} × ${own[1]}; another shape works, in shares of it.`);
}

/** @param {Doc} now @param {"least" | "most"} key */
function count(now, key) {
  const most = model()?.max_elements ?? 25;
  const put = (/** @type {string} */ text) =>
    edit((d) => ({ ...d, [key]: text ? Math.min(most, Math.max(1, Math.round(Number(text)))) : null }), { tag: key });
  const more = { min: 1, max: most, placeholder: "any", disabled: !now.more };
  return h("label", {}, h("span", {}, key === "least" ? "Min" : "Max"),
    number(key === "least" ? "Fewest elements" : "Most elements", now[key] ?? "", put, more));
}

/** @param {Doc} now */
function pictureFields(now) {
  if (!now.picture) return null;
  return h("div", { class: "line" }, h("span", {}, "Image"),
    slider("How strong the traced image is", now.picture.opacity, [0, 1, 0.05],
      (opacity) => edit((d) => ({ ...d, picture: d.picture && { ...d.picture, opacity } }), { tag: "picture" })),
    button("bin", "Remove the image", () => edit((d) => ({ ...d, picture: null }))));
}
