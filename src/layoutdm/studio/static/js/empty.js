/** What an empty canvas teaches. */
import { run } from "./actions.js";
import { h } from "./dom.js";
import { EXAMPLES, docOf } from "./examples.js";
import { icon } from "./icons.js";
import { PLAIN, recordOf } from "./request.js";
import { set } from "./store.js";
import { thumbnail } from "./thumbnail.js";
import { startFrom } from "./topbar.js";

/** @param {import("./store.js").State} state */
export function welcome(state) {
  const doc = state.draft ?? state.history.present;
  if (doc.boxes.length || doc.picture || state.hover >= 0 || state.film || state.tool !== "select") return null;
  return h("div", { class: "welcome" },
    h("h2", {}, "Say what you know. Get the rest."),
    h("ol", {},
      h("li", {}, h("b", {}, "Draw"), " a few boxes: choose a label on the left, or press ", h("kbd", {}, "R"), "."),
      h("li", {}, h("b", {}, "Lock"), " what must stay, and drag from box to box to say how they relate."),
      h("li", {}, h("b", {}, "Generate"), " eight complete layouts; point at one to see it, click to take it.")),
    h("div", { class: "row" },
      h("button", { type: "button", class: "primary", onclick: () => set({ tool: "draw" }) }, icon("draw"), "Draw a box"),
      h("button", { type: "button", onclick: () => run("generate"), disabled: state.busy !== "" }, icon("spark"), "Surprise me")),
    h("h3", {}, "Or start from an example"),
    h("div", { class: "examples" }, EXAMPLES.map((example) => {
      const sketch = docOf(example, [example.model], PLAIN);
      const picture = recordOf(sketch);
      return h("button", { type: "button", key: example.title, class: "example", title: example.says, onclick: () => startFrom(example, state) },
        thumbnail(picture, picture, 72), h("span", {}, example.title));
    })));
}
