/** Is a wish met? From the report of the layout that is seen. */
import { idAt } from "./request.js";

/** @typedef {import("./store.js").State} State */
/** @typedef {{kind: "met" | "missed" | "unknown", text: string, missed?: import("./types.js").Missed}} Verdict */

/**
 * The report that speaks of what is on the screen: of the variant that is shown, else of the one
 * that was taken, as long as nothing was changed since.
 * @param {State} state
 */
export function reportNow(state) {
  const { variants, hover } = state;
  if (variants && hover >= 0) {
    const report = variants.results[hover]?.report;
    return report ? { report, asked: variants.asked } : null;
  }
  const { report } = state;
  return report && !state.draft && report.doc === state.history.present ? report : null;
}

/** @param {State} state @param {string} id  of a relation, a group or a box @returns {Verdict} */
export function verdictOf(state, id) {
  const now = reportNow(state);
  const index = now?.asked.index;
  if (!now || !index || ![...index.relations, ...index.groups, ...index.elements, ...index.order].includes(id)) {
    return { kind: "unknown", text: "not tried yet" };
  }
  const missed = now.report.missed.find((m) => idAt(m.path, index) === id);
  return missed ? { kind: "missed", text: "missed", missed } : { kind: "met", text: "met" };
}
