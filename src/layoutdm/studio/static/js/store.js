/** The page's state: one value, and those who want to know when it changes. */
import * as past from "./history.js";
import { blank } from "./doc.js";
import { PLAIN } from "./request.js";

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {import("./types.js").Mode} Mode */
/** @typedef {"select" | "draw" | "relate" | "pan"} Tool */

/**
 * @typedef {object} State
 * @property {import("./history.js").History} history
 * @property {Doc | null} draft  the document while a gesture is under way
 * @property {ReadonlySet<string>} selected
 * @property {Tool} tool
 * @property {import("./types.js").View} view
 * @property {boolean} fitted  the view follows the window
 * @property {import("./types.js").Size} stage
 * @property {string} label  what is drawn next
 * @property {string} search
 * @property {readonly import("./types.js").Guide[]} guides
 * @property {import("./types.js").Rect | null} marquee
 * @property {{from: string, at: import("./types.js").Point} | null} wire  a relation being dragged
 * @property {import("./types.js").Variants | null} variants
 * @property {number} hover  the variant that is shown in place, or -1
 * @property {{frames: import("./types.js").Frame[], at: number} | null} film
 * @property {{report: import("./types.js").Report, asked: import("./types.js").Asked, doc: Doc} | null} report
 * @property {readonly {id: string, field: string, message: string}[]} problems
 * @property {Mode | "tidy" | "film" | ""} busy
 * @property {boolean} away  the server does not answer
 * @property {{text: string, kind: "good" | "bad"} | null} note
 * @property {number} seed
 * @property {boolean} live
 * @property {readonly import("./types.js").ModelInfo[]} models
 * @property {import("./request.js").Features} features
 * @property {"light" | "dark" | "auto"} theme
 * @property {"" | "left" | "right"} sheet  the side panel that a narrow window shows
 */

/** @type {State} */
let state = {
  history: past.begin(blank("", { width: 390, height: 844 })),
  draft: null, selected: new Set(), tool: "select", view: { zoom: 1, x: 0, y: 0 }, fitted: true,
  stage: { width: 1, height: 1 }, label: "", search: "", guides: [], marquee: null, wire: null,
  variants: null, hover: -1, film: null, report: null, problems: [], busy: "", away: false,
  note: null, seed: 0, live: false, models: [], theme: "auto", sheet: "",
  features: PLAIN,
};

/** @type {((state: State, before: State) => void)[]} */
const listeners = [];

export const get = () => state;
/** The document as it is now, without a gesture that may still be given up. */
export const doc = () => state.history.present;

/** @param {Partial<State>} change */
export function set(change) {
  const before = state;
  state = { ...state, ...change };
  for (const tell of listeners) tell(state, before);
}

/** @param {(state: State, before: State) => void} listener */
export const listen = (listener) => void listeners.push(listener);

/** A step that can be undone. @param {Doc} next @param {{tag?: string, selected?: Iterable<string>}} [how] */
export function commit(next, { tag = "", selected } = {}) {
  const there = new Set(next.boxes.map((box) => box.id));
  const chosen = [...(selected ?? state.selected)].filter((id) => there.has(id));
  const note = state.note?.kind === "bad" ? null : state.note;
  set({ history: past.commit(state.history, next, tag), draft: null, guides: [], marquee: null, selected: new Set(chosen), note });
}

/** @param {(doc: Doc) => Doc} change @param {{tag?: string, selected?: Iterable<string>}} [how] */
export const edit = (change, how) => commit(change(doc()), how);

/** @param {Doc} next */
export const amend = (next) => set({ history: past.amend(state.history, next) });

export const undo = () => step(past.undo(state.history));
export const redo = () => step(past.redo(state.history));

/** @param {import("./history.js").History} history */
function step(history) {
  const there = new Set(history.present.boxes.map((box) => box.id));
  set({ history, draft: null, hover: -1, film: null, selected: new Set([...state.selected].filter((id) => there.has(id))) });
}

/** @param {Iterable<string>} ids */
export const select = (ids) => set({ selected: new Set(ids) });

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/**
 * A short message at the foot of the page. A bad one stays until it is clicked away or something changes: nobody
 * should have to read quickly what went wrong.
 * @param {string} text @param {"good" | "bad"} [kind]
 */
export function say(text, kind = "good") {
  clearTimeout(timer);
  set({ note: { text, kind } });
  if (kind === "good") timer = setTimeout(() => set({ note: null }), 4000);
}

/** What is drawn next: the label that was chosen, if this model knows it. */
export function nextLabel() {
  const labels = model()?.labels ?? [];
  return labels.some((label) => label.name === state.label) ? state.label : (labels[0]?.name ?? "");
}

/** @returns {import("./types.js").ModelInfo | undefined} */
export const model = () => state.models.find((m) => m.name === doc().model);
