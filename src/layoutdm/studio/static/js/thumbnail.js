/** A small picture of a layout. */
import { h } from "./dom.js";
import { colour } from "./palette.js";

/**
 * @param {{labels: string[], boxes: number[][]}} layout
 * @param {{width: number, height: number}} canvas
 * @param {number} tall
 * @param {number} [wide]
 */
export function thumbnail(layout, canvas, tall, wide = tall * 1.5) {
  const scale = Math.min(tall / canvas.height, wide / canvas.width);
  const [width, height] = [canvas.width * scale, canvas.height * scale];
  const order = layout.boxes.map((_, i) => i).sort((a, b) => layout.boxes[b][2] * layout.boxes[b][3] - layout.boxes[a][2] * layout.boxes[a][3]);
  return h("svg", { class: "thumb", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    h("rect", { class: "page", width, height, rx: 2 }),
    order.map((i) => {
      const [x, y, w, t] = layout.boxes[i];
      return h("rect", {
        class: "body", style: { "--c": colour(layout.labels[i]) }, rx: 1,
        x: (x - w / 2) * width, y: (y - t / 2) * height, width: Math.max(w * width, 1), height: Math.max(t * height, 1),
      });
    }));
}
