/** Files in: projects, layouts of many formats, requests and pictures. */
import { added, blank, named } from "./doc.js";
import { coco, csv, labelStudio, voc } from "./formats.js";
import { checked } from "./link.js";
import { requestDoc } from "./opened.js";
import { rectOf } from "./request.js";

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").LayoutRecord} LayoutRecord */
/**
 * @typedef {{kind: "project", doc: Doc, seed: number} | {kind: "layouts", layouts: LayoutRecord[]} |
 *   {kind: "request", doc: Doc, lost: string[]} | {kind: "picture", href: string}} Opened
 */

const OPENS = "Open a project, layouts (JSON, JSONL, COCO, Label Studio, VOC, CSV), a request, or an image.";
const REQUEST = ["elements", "more", "number_of_elements", "relations", "groups", "reading_order", "canvas", "unit", "margins"];
const LARGEST = 1600; // pixels of a picture's longer side; it only lies under the boxes

/** @param {File} file @param {Doc} now @returns {Promise<Opened>} */
export async function open(file, now) {
  if (file.type.startsWith("image/")) return { kind: "picture", href: await smaller(file) };
  const plain = file.name.endsWith(".gz") ? new Response(file.stream().pipeThrough(/** @type {any} */ (new DecompressionStream("gzip")))) : file;
  const text = await plain.text();
  const table = text.trimStart().startsWith("<") ? voc(text) : /^[\[{]/.test(text.trimStart()) ? null : csv(text);
  if (table?.length && table.every(isRecord)) return { kind: "layouts", layouts: table };
  const lines = () => text.split("\n").filter((line) => line.trim()).map((line) => JSON.parse(line));
  /** @type {any} */
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    try {
      data = lines();
    } catch {
      throw new Error(`${file.name}: neither JSON nor a picture. ${OPENS}`);
    }
  }
  return recognised(data, file.name, now);
}

/** @param {any} data @param {string} name @param {Doc} now @returns {Opened} */
function recognised(data, name, now) {
  if (data?.studio) {
    const saved = checked(data);
    if (saved) return { kind: "project", ...saved };
  }
  const foreign = coco(data) ?? labelStudio(data);
  if (foreign?.length) {
    const whole = foreign.filter(isRecord);
    if (whole.length < foreign.length) throw new Error(`${name}: a box or the size of an image is missing or not a number.`);
    return { kind: "layouts", layouts: whole };
  }
  const records = Array.isArray(data) ? data : Array.isArray(data?.layouts) ? data.layouts : Array.isArray(data?.results) ? data.results : [data];
  if (records.length && records.every(isRecord)) return { kind: "layouts", layouts: records };
  if (data && !Array.isArray(data) && REQUEST.some((key) => key in data)) return { kind: "request", ...requestDoc(data, now) };
  throw new Error(`${name}: no layout was found in it. ${OPENS}`);
}

/** @param {any} r */
export const isRecord = (r) =>
  Array.isArray(r?.labels) && r.labels.every((/** @type {any} */ label) => typeof label === "string") && Array.isArray(r?.boxes) && r.labels.length === r.boxes.length &&
  r.boxes.every((/** @type {any} */ b) => Array.isArray(b) && b.length === 4 && b.every(Number.isFinite));

/** @param {LayoutRecord} record @param {string} model @returns {Doc} */
export function layoutDoc(record, model) {
  // Shares without a pixel size get one that can be worked on.
  const scale = Math.max(record.width, record.height) < 16 ? 800 / Math.max(record.width, record.height) : 1;
  const size = (/** @type {number} */ side, /** @type {number} */ usual) => (side * scale > 0 && Number.isFinite(side * scale) ? side * scale : usual);
  let doc = blank(model, { width: size(record.width, 390), height: size(record.height, 844) });
  record.boxes.forEach((b, i) => {
    const [next, id] = added(doc, rectOf(b, doc.canvas), record.labels[i]);
    const name = record.metadata?.names?.[i];
    doc = name ? named(next, id, String(name)) : next;
  });
  return doc;
}

/** A picture on white paper, not larger than needed. @param {File} file @returns {Promise<string>} */
async function smaller(file) {
  const image = new Image(); // unlike createImageBitmap, it reads drawings, too
  image.src = URL.createObjectURL(file);
  try {
    await image.decode();
  } catch {
    throw new Error(`${file.name}: this picture cannot be read.`);
  } finally {
    URL.revokeObjectURL(image.src);
  }
  const [width, height] = [image.naturalWidth || LARGEST, image.naturalHeight || LARGEST];
  const scale = Math.min(1, LARGEST / Math.max(width, height));
  const canvas = document.createElement("canvas");
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const paper = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  paper.fillStyle = "white";
  paper.fillRect(0, 0, canvas.width, canvas.height);
  paper.drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/jpeg", 0.85);
}

/** @param {Blob} blob @param {string} name */
export function download(blob, name) {
  const a = document.createElement("a");
  a.href = URL.createObjectURL(blob);
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}
