/** Open, save, export, share. */
import * as api from "./api.js";
import { command, pythonCode, requestJson } from "./code.js";
import { openText, pickLayout } from "./dialogs.js";
import { blank } from "./doc.js";
import { download, layoutDoc, open } from "./files.js";
import { recordOf } from "./request.js";
import { commit, doc, get, model, say, set } from "./store.js";
import { underWay } from "./under_way.js";
import { fit } from "./zoom.js";

export const FORMATS = [
  { to: "svg", name: "SVG drawing" }, { to: "png", name: "PNG picture" }, { to: "html", name: "HTML page" },
  { to: "pptx", name: "PowerPoint slide" }, { to: "json", name: "JSON layout" }, { to: "coco", name: "COCO annotations" },
];

/** @param {import("./types.js").Doc} next */
export function begin(next) {
  commit(next, { selected: [] });
  set({ variants: null, report: null, hover: -1 });
  fit();
}

export function fresh() {
  const { canvas, model: name } = doc();
  begin(blank(name, canvas));
}

/** @param {Iterable<File>} files */
export async function openFiles(files) {
  underWay("open", true);
  for (const file of files) {
    try {
      const found = await open(file, doc());
      if (found.kind === "picture") commit({ ...doc(), picture: { href: found.href, opacity: 0.5 } });
      else if (found.kind === "layouts") {
        const record = found.layouts.length > 1 ? await pickLayout(found.layouts) : found.layouts[0];
        if (record) begin(layoutDoc(record, doc().model));
      } else {
        begin({ ...found.doc, model: known(found.doc.model) });
        if (found.kind === "project") set({ seed: found.seed });
        else if (found.lost.length) throw new Error(`${file.name}: wishes for ${found.lost.join(", ")} were left out; no element has that name.`);
      }
      say(`${file.name} opened.`);
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "bad");
    }
  }
  underWay("open", false);
}

/** @param {string} name  a model that this server may not have */
export function known(name) {
  const { models } = get();
  return models.some((m) => m.name === name) ? name : (models.find((m) => m.default) ?? models[0])?.name ?? name;
}

export function chooseFiles(accept = "") {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.accept = accept;
  input.onchange = () => void openFiles(input.files ?? []);
  input.click();
}

export function save() {
  const text = JSON.stringify({ studio: 1, seed: get().seed, doc: doc() }, null, 1);
  download(new Blob([text], { type: "application/json" }), "layout.studio.json");
}

/** @param {string} to */
export async function exportAs(to) {
  if (!doc().boxes.length) return say("There is nothing to export yet.", "bad");
  try {
    const record = recordOf(doc());
    const blob = to === "json" ? new Blob([JSON.stringify(record, null, 1)], { type: "application/json" }) : await api.convert(record, to);
    download(blob, `layout.${to === "coco" ? "coco.json" : to}`);
  } catch (error) {
    say(error instanceof Error ? error.message : String(error), "bad");
  }
}

/** @param {"json" | "command" | "python"} kind */
export function showCode(kind) {
  const text = { json: requestJson, command, python: pythonCode }[kind]();
  const title = { json: "The request as JSON", command: "The request as a command", python: "The request in Python" }[kind];
  openText(title, text);
}

/** @param {string} text @param {string} what */
export async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
    say(`${what} copied.`);
  } catch {
    openText(what, text);
  }
}

export const copyLink = () => copyText(location.href, "Link");

/** @param {string} name */
export function changeModel(name) {
  commit({ ...doc(), model: name });
  set({ variants: null, report: null });
  const unknown = doc().boxes.filter((box) => !model()?.labels.some((l) => l.name === box.label));
  if (unknown.length) say(`${unknown.length} of the labels are not known to ${name}; they are marked.`, "bad");
}
