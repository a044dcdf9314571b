/** What the page is still doing, told on its root element; whoever drives it waits until nothing is left. */

/** @typedef {"start" | "draw" | "keep" | "check" | "live" | "open" | "run"} Work */

/** @type {Set<Work>} */
const under = new Set(["start"]);

/** @param {Work} what @param {boolean} on */
export function underWay(what, on) {
  if (on) under.add(what);
  else under.delete(what);
  document.documentElement.dataset.underWay = [...under].join(" ");
}
