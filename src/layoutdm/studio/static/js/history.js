/** Undo and redo as a list of whole documents. */

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {{past: readonly Doc[], present: Doc, future: readonly Doc[], tag: string, at: number}} History */

const MOST = 200;
const TOGETHER = 1000; // milliseconds in which changes of one kind are one step

/** @param {Doc} present @returns {History} */
export const begin = (present) => ({ past: [], present, future: [], tag: "", at: 0 });

/**
 * A new document; changes with the same tag that follow each other quickly are one step.
 * @param {History} history @param {Doc} doc @param {string} [tag] @param {number} [now]
 * @returns {History}
 */
export function commit(history, doc, tag = "", now = Date.now()) {
  if (doc === history.present) return history;
  const together = tag !== "" && tag === history.tag && now - history.at < TOGETHER;
  const past = together ? history.past : [...history.past, history.present].slice(-MOST);
  return { past, present: doc, future: [], tag, at: now };
}

/** The present document replaced without a step of its own. @param {History} history @param {Doc} doc */
export const amend = (history, doc) => ({ ...history, present: doc });

/** @param {History} history @returns {History} */
export function undo(history) {
  const present = history.past.at(-1);
  if (!present) return history;
  return { past: history.past.slice(0, -1), present, future: [history.present, ...history.future], tag: "", at: 0 };
}

/** @param {History} history @returns {History} */
export function redo(history) {
  const [present, ...future] = history.future;
  if (!present) return history;
  return { past: [...history.past, history.present], present, future, tag: "", at: 0 };
}
