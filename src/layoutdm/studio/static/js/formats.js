/** Other programs' files as layouts: COCO, Label Studio, Pascal VOC, CSV. */

/** @typedef {import("./types.js").LayoutRecord} LayoutRecord */

/**
 * From left, top, width and height in some unit.
 * @param {number[]} r
 * @param {number} width
 * @param {number} height
 */
const centred = ([x, y, w, h], width, height) => [(x + w / 2) / width, (y + h / 2) / height, w / width, h / height];

/** @param {any} data @returns {LayoutRecord[] | null} */
export function coco(data) {
  if (!Array.isArray(data?.images) || !Array.isArray(data?.annotations)) return null;
  const labels = new Map((data.categories ?? []).map((/** @type {any} */ c) => [c.id, String(c.name)]));
  return data.images.map((/** @type {any} */ image) => {
    const mine = data.annotations.filter((/** @type {any} */ a) => a.image_id === image.id && Array.isArray(a.bbox));
    return {
      id: String(image.file_name ?? image.id), width: image.width, height: image.height,
      labels: mine.map((/** @type {any} */ a) => labels.get(a.category_id) ?? "?"),
      boxes: mine.map((/** @type {any} */ a) => centred(a.bbox, image.width, image.height)),
    };
  });
}

/** @param {any} data @returns {LayoutRecord[] | null} */
export function labelStudio(data) {
  if (!Array.isArray(data) || !data.length || !data.every((task) => Array.isArray(task?.annotations ?? task?.predictions))) return null;
  return data.flatMap((task) => {
    const made = task.annotations?.length ? task.annotations : (task.predictions ?? []);
    return made.map((/** @type {any} */ annotation) => {
      const all = (annotation.result ?? []).filter((/** @type {any} */ r) => r.value?.rectanglelabels?.length);
      const { original_width: width = 100, original_height: height = 100 } = all[0] ?? {};
      return {
        id: String(task.data?.layout_id ?? task.id ?? ""), width, height,
        labels: all.map((/** @type {any} */ r) => String(r.value.rectanglelabels[0])),
        boxes: all.map((/** @type {any} */ r) => centred([r.value.x, r.value.y, r.value.width, r.value.height], 100, 100)),
      };
    });
  });
}

/** @param {string} text @returns {LayoutRecord[] | null} */
export function voc(text) {
  const page = new DOMParser().parseFromString(text, "application/xml");
  if (page.documentElement.nodeName !== "annotation") return null;
  const number = (/** @type {ParentNode} */ at, /** @type {string} */ name) => Number(at.querySelector(name)?.textContent);
  const [width, height] = [number(page, "size width"), number(page, "size height")];
  const objects = [...page.querySelectorAll("object")];
  return [{
    id: page.querySelector("filename")?.textContent ?? "", width, height,
    labels: objects.map((o) => o.querySelector("name")?.textContent ?? "?"),
    boxes: objects.map((o) => {
      const [l, t, r, b] = ["xmin", "ymin", "xmax", "ymax"].map((name) => number(o, name));
      return centred([l, t, r - l, b - t], width, height);
    }),
  }];
}

/**
 * Our own table, or that of detection tools with corners in pixels.
 * @param {string} text
 * @returns {LayoutRecord[] | null}
 */
export function csv(text) {
  const [first, ...lines] = text.split(/\r?\n/).filter((line) => line.trim());
  const mark = [",", ";", "\t"].find((sign) => first?.includes(sign)) ?? ",";
  const columns = cells(first ?? "", mark).map((name) => ({ filename: "id", class: "label" })[name.trim()] ?? name.trim());
  const corners = columns.includes("xmin");
  if (!columns.includes("label") || !(corners || columns.includes("x"))) return null;
  /** @type {Map<string, LayoutRecord>} */
  const found = new Map();
  for (const line of lines) {
    const values = cells(line, mark);
    const row = Object.fromEntries(columns.map((name, i) => [name, values[i] ?? ""]));
    const key = row.layout ?? row.id ?? "";
    const layout = found.get(key) ?? { id: row.id ?? key, width: Number(row.width) || 1, height: Number(row.height) || 1, labels: [], boxes: [] };
    found.set(key, layout);
    if (!row.label) continue;
    const n = (/** @type {string} */ name) => Number(row[name]);
    layout.labels.push(row.label);
    const [l, t, r, b] = ["xmin", "ymin", "xmax", "ymax"].map(n);
    layout.boxes.push(corners ? centred([l, t, r - l, b - t], layout.width, layout.height) : ["x", "y", "w", "h"].map(n));
  }
  return [...found.values()];
}

/** The cells of a line, some of them in quotes. @param {string} line @param {string} mark */
function cells(line, mark) {
  const parts = line.match(new RegExp(`("([^"]|"")*"|[^${mark}]*)(${mark}|$)`, "g")) ?? [];
  const bare = parts.slice(0, -1).map((part) => (part.endsWith(mark) ? part.slice(0, -1) : part));
  return bare.map((cell) => (cell.startsWith('"') ? cell.slice(1, -1).replaceAll('""', '"') : cell));
}
