/** Line icons on a grid of 16, drawn for the studio. */
import { h } from "./dom.js";

/** @type {Record<string, string>} */
const PATHS = {
  select: "M4 2.5l8.5 6-4 .7-2 3.6z", draw: "M2.5 4.5v-2h2M11.5 2.5h2v2M13.5 11.5v2h-2M4.5 13.5h-2v-2M8 5.5v5M5.5 8h5",
  relate: "M3 5.5a2 2 0 1 0 4 0 2 2 0 1 0-4 0M9 10.5a2 2 0 1 0 4 0 2 2 0 1 0-4 0M6.6 6.8l2.8 2.4",
  pan: "M8 2v12M2 8h12M8 2L6.5 3.5M8 2l1.5 1.5M8 14l-1.5-1.5M8 14l1.5-1.5M2 8l1.5-1.5M2 8l1.5 1.5M14 8l-1.5-1.5M14 8l-1.5 1.5",
  undo: "M5 3L2.5 5.5 5 8M3 5.5h6.5a3.5 3.5 0 0 1 0 7H6", redo: "M11 3l2.5 2.5L11 8M13 5.5H6.500a3.500 3.500 0 0 0 0 7H10",
  lock: "M4 7.500h8v6H4zM5.500 7.500V5a2.500 2.500 0 0 1 5 0v2.500", unlock: "M4 7.500h8v6H4zM5.500 7.500V5a2.500 2.500 0 0 1 4.800-1",
  bin: "M3 4.500h10M6 4.500v-2h4v2M4.500 4.500l.5 9h6l.5-9M7 7v4M9 7v4", copy: "M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3",
  more: "M8 3v10M3 8h10", less: "M3 8h10", fit: "M2.500 6v-3.500H6M10 2.500h3.500V6M13.500 10v3.500H10M6 13.500H2.500V10",
  spark: "M8 2l1.300 4.200L13.500 8 9.300 9.500 8 14 6.700 9.500 2.500 8l4.200-1.800z", tidy: "M2.500 3.500h7M2.500 8h11M2.500 12.500h5M12 2v3M10.500 3.500h3",
  dice: "M3 3h10v10H3zM6 6h.01M10 10h.01M10 6h.01M6 10h.01", film: "M5 3.500v9l7.500-4.500z", link: "M6.500 9.500l3-3M7 4.500l1.500-1.500a2.800 2.800 0 0 1 4 4L11 8.500M9 11.500L7.500 13a2.800 2.800 0 0 1-4-4L5 7.500",
  sun: "M8 5.200a2.800 2.800 0 1 0 0 5.600 2.800 2.800 0 0 0 0-5.600M8 1.500v1.500M8 13v1.500M1.500 8H3M13 8h1.500M3.400 3.400l1 1M11.600 11.600l1 1M12.600 3.400l-1 1M4.400 11.600l-1 1",
  moon: "M13 9.500A5.500 5.500 0 1 1 6.500 3a4.500 4.500 0 0 0 6.500 6.500z", help: "M6 6a2 2 0 1 1 2.800 1.900c-.6.300-.8.600-.8 1.300M8 11.500h.01M8 1.800a6.200 6.200 0 1 0 0 12.400A6.200 6.200 0 0 0 8 1.800",
  left: "M3 2v12M5.500 4.500h8v2.500h-8zM5.500 9.500h5V12h-5z", centre: "M8 2v12M4 4.500h8v2.500H4zM5.500 9.500h5V12h-5z", right: "M13 2v12M2.500 4.500h8v2.500h-8zM5.500 9.500h5V12h-5z",
  top: "M2 3h12M4.500 5.500H7v8H4.500zM9.500 5.500H12v5H9.500z", middle: "M2 8h12M4.500 4H7v8H4.500zM9.500 5.500H12v5H9.500z", bottom: "M2 13h12M4.500 2.500H7v8H4.500zM9.500 5.500H12v5H9.500z",
  "space-x": "M2.500 2v12M13.500 2v12M6.500 5h3v6h-3z", "space-y": "M2 2.500h12M2 13.500h12M5 6.500h6v3H5z",
  column: "M3.500 2.500h9v3h-9zM3.500 6.800h9v3h-9zM3.500 11h9v3h-9z", row: "M2.500 3.500h3v9h-3zM6.500 3.500h3v9h-3zM10.500 3.500h3v9h-3z", grid: "M3 3h4v4H3zM9 3h4v4H9zM3 9h4v4H3zM9 9h4v4H9z",
  open: "M2.500 12.500v-9h4l1.500 2h5.500v7z", save: "M8 2.500v7M5 7l3 3 3-3M3 13.500h10", close: "M4 4l8 8M12 4l-8 8", menu: "M2.500 4.500h11M2.500 8h11M2.500 11.500h11",
  up: "M4.5 9.5L8 6l3.5 3.5",
  check: "M3.500 8.500l3 3 6-7", miss: "M4.500 4.500l7 7M11.500 4.500l-7 7", down: "M4.500 6.500L8 10l3.500-3.500", panel: "M2.500 3h11v10h-11zM10 3v10", labels: "M2.500 3h11v10h-11zM6 3v10", picture: "M2.500 3h11v10h-11zM2.500 11l3.500-4 3 3 2-2 2.500 2.500",
};

/** @param {string} name @param {Record<string, any>} [props] */
export const icon = (name, props = {}) =>
  h("svg", { viewBox: "0 0 16 16", width: 16, height: 16, class: "icon", "aria-hidden": "true", ...props }, h("path", { d: PATHS[name] ?? "" }));

/**
 * The same as a part of a drawing.
 * @param {string} name
 * @param {number} x
 * @param {number} y
 * @param {number} [size]
 */
export const mark = (name, x, y, size = 12) =>
  h("path", { d: PATHS[name] ?? "", class: "icon", transform: `translate(${x} ${y}) scale(${size / 16})` });
