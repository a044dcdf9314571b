/** From a document to the request that the server understands, and back from its paths. */
import { cut } from "./geometry.js";
import { AXES, SIDES } from "./doc.js";

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").Box} Box */
/** @typedef {import("./types.js").Mode} Mode */
/** @typedef {import("./types.js").Asked} Asked */
/** @typedef {import("./types.js").Index} Index */
/** @typedef {import("./types.js").LayoutRecord} LayoutRecord */
/** @typedef {import("./types.js").Side} Side */
/** @typedef {import("./types.js").Wish} Wish */

/**
 * What this server's requests may hold; read from its schema, so that the page offers no more.
 * @typedef {{canvas: boolean, groups: boolean, margins: boolean, left: boolean, gap: boolean,
 *   order: boolean, unit: boolean, shapes: boolean,   relations: ReadonlySet<string>}} Features
 */

/** @type {Features} */
export const PLAIN = {
  canvas: false, groups: false, margins: false, left: false, gap: false, order: false, unit: false, shapes: false,
  relations: new Set([
    "above", "below", "left_of", "right_of", "overlapping", "smaller", "equal_size", "larger",
    "top", "middle", "bottom",
  ]),
};

/** @param {any} schema  of a request, or of a body that holds one @returns {Features} */
export function featuresOf(schema) {
  const parts = schema?.$defs ?? schema?.definitions ?? {};
  const whole = schema?.properties?.spec ? (parts.Spec?.properties ?? {}) : (schema?.properties ?? {});
  const relation = parts.RelationSpec?.properties ?? {};
  const names = relation.is?.enum ?? relation.is_?.enum;
  return {
    canvas: "canvas" in whole, groups: "groups" in whole, margins: "margins" in whole,
    left: "left" in (parts.ElementSpec?.properties ?? {}), gap: "gap" in relation,
    order: "reading_order" in whole, unit: "unit" in whole, shapes: "area" in (parts.ElementSpec?.properties ?? {}),
    relations: names ? new Set(names) : PLAIN.relations,
  };
}

/** Finer than a hundredth of a pixel on any canvas, and short to read. @param {number} value */
const share = (value) => Math.round(value * 1e6) / 1e6;

/**
 * Centre and size as shares of the canvas.
 * @param {Doc} doc
 * @param {Box} box
 * @returns {Record<Side, number>}
 */
export function shares(doc, box) {
  const r = cut(box, doc.canvas);
  const { width, height } = doc.canvas;
  const [x, y] = [share((r.x + r.w / 2) / width), share((r.y + r.h / 2) / height)];
  // Rounding must not push an edge over the border.
  const w = share(Math.min(r.w / width, 2 * x, 2 * (1 - x)));
  const h = share(Math.min(r.h / height, 2 * y, 2 * (1 - y)));
  return { x, y, w, h };
}

/** @param {number[]} b centre and size in shares @param {{width: number, height: number}} canvas */
export const rectOf = (b, canvas) => ({
  x: (b[0] - b[2] / 2) * canvas.width, y: (b[1] - b[3] / 2) * canvas.height,
  w: b[2] * canvas.width, h: b[3] * canvas.height,
});

/**
 * How a box is asked for in a mode.
 * @param {Box} box
 * @param {Mode} mode
 * @param {ReadonlySet<string>} selected
 * @param {Side | "label"} field
 * @returns {Wish}
 */
function wishIn(box, mode, selected, field) {
  if (box.locked || mode === "complete") return "fixed";
  if (mode === "rest") return selected.has(box.id) ? "fixed" : field === "label" ? box.wish.label : "free";
  if (mode === "refine") return field === "label" || box.wish[field] === "fixed" ? "fixed" : "about";
  return box.wish[field];
}

/**
 * @param {Doc} doc
 * @param {Mode} mode  generate: every wish as it stands; rest: locked and selected boxes stay, all
 *   else is drawn anew; complete: all stay, others are added; refine: all stay nearly
 * @param {Features} features
 * @param {ReadonlySet<string>} [selected]
 * @returns {Asked}
 */
export function asked(doc, mode, features, selected = new Set()) {
  const keepMade = mode === "complete" || mode === "refine" || !doc.more;
  const boxes = doc.boxes.filter((box) => keepMade || !box.made || (mode === "rest" && selected.has(box.id)));
  const there = new Set(boxes.map((box) => box.id));
  const relations = doc.relations.filter((r) => there.has(r.of) && (r.to === "canvas" || there.has(r.to)));
  const groups = features.groups ? doc.groups.filter((g) => g.of.every((id) => there.has(id))) : [];
  const order = features.order ? doc.order.filter((id) => there.has(id)) : [];
  const needed = new Set([...relations.flatMap((r) => [r.of, r.to]), ...groups.flatMap((g) => g.of), ...order]);
  /** @param {string} id */
  const nameOf = (id) => doc.boxes.find((b) => b.id === id)?.name || id;

  /** @type {Record<string, any>} */
  const spec = { ...doc.kept };
  if (boxes.length) {
    spec.elements = boxes.map((box) => {
      const wish = (/** @type {Side | "label"} */ field) => wishIn(box, mode, selected, field);
      const still = box.locked || mode === "complete" || mode === "refine" || (mode === "rest" && selected.has(box.id));
      const values = { ...element(doc, box, wish, features), ...(still ? {} : shapeOf(box)) };
      const said = mode === "generate" && !box.locked ? saidOver(values, box.said ?? {}) : values;
      const name = needed.has(box.id) ? nameOf(box.id) : box.name;
      return { ...(name ? { name } : {}), ...inUnit(said, doc, 1), ...box.kept };
    });
    spec.more = mode === "complete" ? true : mode === "refine" ? false : doc.more;
  }
  if (spec.more !== false) Object.assign(spec, count(doc, mode === "complete" ? boxes.length + 1 : 0));
  if (relations.length) {
    spec.relations = relations.map((r) => {
      const to = r.to === "canvas" ? r.to : nameOf(r.to);
      return { of: nameOf(r.of), is: r.is, to, ...gapOf(r, doc, features), ...r.kept };
    });
  }
  if (groups.length) spec.groups = groups.map((g) => groupSpec(g, nameOf, doc));
  if (order.length > 1) spec.reading_order = order.map(nameOf);
  if (features.canvas) spec.canvas = { ...doc.canvas };
  if (features.unit && doc.unit === "px") spec.unit = "px";
  if (features.margins && (doc.margins !== null || doc.margin)) {
    const [x, y] = [share(doc.margin / doc.canvas.width), share(doc.margin / doc.canvas.height)];
    spec.margins = marginsIn(doc.margins ?? { left: x, top: y, right: x, bottom: y }, doc, 1);
  }
  return {
    spec,
    index: { elements: boxes.map((b) => b.id), relations: relations.map((r) => r.id), groups: groups.map((g) => g.id), order: order.length > 1 ? ["order"] : [] },
  };
}

/** @param {number} value */
const neat = (value) => Math.round(value * 1e6) / 1e6;

/**
 * The values of an element from shares to the unit of the request (way 1), or back (way -1).
 * @param {Record<string, any>} values
 * @param {Doc} doc
 * @param {1 | -1} way
 */
export function inUnit(values, doc, way) {
  if (doc.unit !== "px") return values;
  const { width, height } = doc.canvas;
  /** @type {Record<string, number>} */
  const scale = { area: width * height, aspect_ratio: height / width };
  AXES.forEach((axis, i) => axis.forEach((key) => { scale[key] = i ? height : width; }));
  /** @param {number} v @param {string} key */
  const put = (v, key) => (way === 1 ? neat(v * scale[key]) : v / scale[key]);
  return Object.fromEntries(Object.entries(values).map(([key, v]) => {
    if (!(key in scale)) return [key, v];
    if (typeof v === "number") return [key, put(v, key)];
    if (typeof v?.about !== "number") return [key, v];
    return [key, { ...v, about: put(v.about, key), ...(typeof v.within === "number" ? { within: put(v.within, key) } : {}) }];
  }));
}

/** Margins from shares to the unit of the request, or back. @param {any} margins @param {Doc} doc @param {1 | -1} way */
export function marginsIn(margins, doc, way) {
  if (doc.unit !== "px") return margins;
  const sides = typeof margins === "number" ? { left: margins, top: margins, right: margins, bottom: margins } : margins;
  const out = inUnit(sides, doc, way);
  return way === 1 && Object.keys(out).length === 4 && new Set(Object.values(out)).size === 1 ? out.left : out;
}

/** Wishes for the label, the area and the shape. @param {Box} box */
const shapeOf = (box) => ({
  ...(box.wish.label !== "free" && (box.choices?.length ?? 0) > 1 ? { label: [...(box.choices ?? [])] } : {}),
  ...(box.area ? { area: box.area } : {}), ...(box.aspect ? { aspect_ratio: box.aspect } : {}),
});

/**
 * What an opened request said of an axis stands until a hand touches it, wherever boxes lie now.
 * @param {Record<string, any>} values
 * @param {Record<string, any>} said
 */
function saidOver(values, said) {
  const over = AXES.filter((axis) => axis.some((key) => key in said)).flat();
  return { ...Object.fromEntries(Object.entries(values).filter(([key]) => !over.includes(key))), ...said };
}

const SPEC_FIELD = { x: "x", y: "y", w: "width", h: "height" };

/**
 * @param {Doc} doc
 * @param {Box} box
 * @param {(field: Side | "label") => Wish} wish
 * @param {Features} features
 */
function element(doc, box, wish, features) {
  const at = shares(doc, box);
  /** @type {Record<string, any>} */
  const out = {};
  if (wish("label") !== "free") out.label = box.label;
  for (const side of SIDES) {
    const how = wish(side);
    const size = side === "x" ? "w" : side === "y" ? "h" : null;
    // A fixed place with an open size means the left and the top edge, which is what one sees.
    if (how === "fixed" && size && features.left && wish(size) !== "fixed") {
      out[side === "x" ? "left" : "top"] = share(Math.max(0, at[side] - at[size] / 2));
    } else if (how === "fixed") out[SPEC_FIELD[side]] = at[side];
    else if (how === "about") out[SPEC_FIELD[side]] = { about: at[side], within: share(doc.within) };
  }
  return out;
}

/** @param {import("./types.js").Relation} r @param {Doc} doc @param {Features} features */
function gapOf(r, doc, features) {
  if (!features.gap || r.gap === undefined || !GAPPED.has(r.is)) return {};
  return { gap: doc.unit === "px" ? neat(r.gap) : share(r.gap / (r.is === "above" || r.is === "below" ? doc.canvas.height : doc.canvas.width)) };
}

/** Relations that may say how far. */
export const GAPPED = new Set(["above", "below", "left_of", "right_of"]);

/** @param {import("./types.js").Group} group @param {(id: string) => string} nameOf @param {Doc} doc */
function groupSpec(group, nameOf, doc) {
  const names = group.of.map(nameOf);
  /** @type {Record<string, any>} */
  const out = { ...group.kept };
  if (group.cells) out.grid = group.cells.map((row) => row.map((id) => id && nameOf(id)));
  else if (group.kind === "grid") {
    const n = Math.max(1, group.columns);
    const rows = Math.ceil(names.length / n);
    out.grid = Array.from({ length: rows }, (_, r) => Array.from({ length: n }, (_, c) => names[r * n + c] ?? null));
  } else out[group.kind] = names;
  const whole = group.kind === "row" ? doc.canvas.width : doc.canvas.height;
  if (group.gap === "equal") out.gap = "equal";
  else if (group.gap !== "") out.gap = doc.unit === "px" ? neat(Number(group.gap)) : share(Number(group.gap) / whole);
  if (group.align) out.align = group.align;
  if (group.same) out.same = group.same;
  return out;
}

/** @param {Doc} doc @param {number} least */
function count(doc, least) {
  const min = Math.max(doc.least ?? 0, least);
  const max = doc.most === null ? null : Math.max(doc.most, min);
  if (!min && max === null) return {};
  if (min && min === max) return { number_of_elements: min };
  return { number_of_elements: { ...(min ? { min } : {}), ...(max === null ? {} : { max }) } };
}

/**
 * The box, relation or group that a path of the request speaks of.
 * @param {string} path
 * @param {Index} index
 * @returns {string}
 */
export function idAt(path, index) {
  if (path.startsWith("reading_order")) return "order";
  const found = /^(elements|relations|groups)(?:\[(\d+)\]|\.(\d+))/.exec(path);
  if (!found) return "";
  const list = index[/** @type {keyof Index} */ (found[1])];
  return list[Number(found[2] ?? found[3])] ?? "";
}

/** The field of a box that a path speaks of, or "". @param {string} path */
export function fieldAt(path) {
  const name = /^elements(?:\[\d+\]|\.\d+)\.(\w+)/.exec(path)?.[1] ?? "";
  return { width: "w", height: "h", x: "x", y: "y", left: "x", right: "x", top: "y", bottom: "y", label: "label", name: "name", area: "area", aspect_ratio: "aspect" }[name] ?? "";
}

/**
 * The document as a layout, for export, tidy and the clipboard.
 * @param {Doc} doc
 * @param {readonly Box[]} [boxes]
 * @returns {LayoutRecord}
 */
export function recordOf(doc, boxes = doc.boxes) {
  return {
    id: "studio", width: doc.canvas.width, height: doc.canvas.height,
    labels: boxes.map((box) => box.label),
    boxes: boxes.map((box) => { const at = shares(doc, box); return [at.x, at.y, at.w, at.h]; }),
    metadata: { names: boxes.map((box) => box.name || null) },
  };
}
