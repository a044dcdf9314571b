/** How large the canvas is seen, and where. */
import { clamp } from "./geometry.js";
import { doc, get, set } from "./store.js";

/** @param {import("./types.js").Point} at  screen point that stays where it is @param {number} by */
export function zoomAt(at, by) {
  const { view } = get();
  const zoom = clamp(view.zoom * by, 0.02, 16);
  const k = zoom / view.zoom;
  set({ fitted: false, view: { zoom, x: at.x - (at.x - view.x) * k, y: at.y - (at.y - view.y) * k } });
}

/** The whole canvas in the window. */
export function fit() {
  const { stage } = get();
  const { canvas } = doc();
  const edge = stage.width < 500 ? 20 : 44;
  const zoom = clamp(Math.min((stage.width - 2 * edge) / canvas.width, (stage.height - 2 * edge) / canvas.height), 0.02, 4);
  set({ fitted: true, view: { zoom, x: (stage.width - canvas.width * zoom) / 2, y: (stage.height - canvas.height * zoom) / 2 } });
}

const middle = () => ({ x: get().stage.width / 2, y: get().stage.height / 2 });
export const closer = () => zoomAt(middle(), 1.25);
export const further = () => zoomAt(middle(), 0.8);
export const actual = () => zoomAt(middle(), 1 / get().view.zoom);
