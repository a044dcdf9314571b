/**
 * The values that travel between the studio's modules. All of them are plain data and never
 * change in place, so that undo is a list of them.
 *
 * @typedef {"free" | "about" | "fixed"} Wish  how a field of a box is asked for
 * @typedef {"x" | "y" | "w" | "h"} Side
 * @typedef {{x: number, y: number, w: number, h: number}} Rect  left, top, size; canvas pixels
 * @typedef {{x: number, y: number}} Point
 * @typedef {{width: number, height: number}} Size
 *
 * @typedef {object} Box
 * @property {string} id
 * @property {string} name  given by the user; "" when there is none
 * @property {string} label
 * @property {number} x
 * @property {number} y
 * @property {number} w
 * @property {number} h
 * @property {Record<Side | "label", Wish>} wish
 * @property {boolean} locked
 * @property {boolean} made  drawn by the model and not touched since
 * @property {readonly string[]} [choices]  labels to choose from; none or one: only `label`
 * @property {number | null} [area]  wished width times height, in shares
 * @property {number | null} [aspect]  wished height by width, in shares
 * @property {Record<string, any>} [said]  places and sizes as an opened request said them, in
 *   shares; what a hand touches is said anew
 * @property {Record<string, any>} [kept]  what else the opened request said
 *
 * @typedef {{id: string, of: string, is: string, to: string, gap?: number, kept?: Record<string, any>}}
 *   Relation  `to` may be "canvas"; the gap is in pixels
 * @typedef {{id: string, kind: "column" | "row" | "grid", of: readonly string[], columns: number,
 *   gap: string, align: string, same: string, cells?: readonly (readonly (string | null)[])[],
 *   kept?: Record<string, any>}} Group  the gap is "", "equal" or pixels; cells: of an opened grid
 * @typedef {{href: string, opacity: number}} Picture  an image to trace over
 *
 * @typedef {object} Doc
 * @property {string} model
 * @property {Size} canvas
 * @property {readonly Box[]} boxes
 * @property {readonly Relation[]} relations
 * @property {readonly Group[]} groups
 * @property {boolean} more  may the model add elements?
 * @property {number | null} least
 * @property {number | null} most
 * @property {number} within  how far from the draft, as a share of the canvas
 * @property {number} margin  pixels that elements stay from the canvas's edges; 0: none
 * @property {any} margins  those of an opened request, in shares, or null
 * @property {readonly string[]} order  boxes in the order in which they are to be read
 * @property {"share" | "px"} unit  of the numbers of the request
 * @property {Record<string, any>} kept  what else an opened request said
 * @property {Picture | null} picture
 *
 * @typedef {{name: string, count: number | null, aliases: string[]}} Label
 * @typedef {{name: string, labels: Label[], max_elements: number, canvas: [number, number],
 *   tasks?: Record<string, string | null>, default?: boolean}} ModelInfo
 * @typedef {{path: string, message: string}} Problem
 * @typedef {{path: string, kind: string, wanted: string, met: boolean, miss: number}} Missed
 * @typedef {{met: boolean, score: number, wishes: number, missed: Missed[]}} Report
 * @typedef {{level: number, labels: (string | null)[], boxes: (number | null)[][]}} Frame
 * @typedef {{id: string, width: number, height: number, labels: string[], boxes: number[][],
 *   metadata?: Record<string, any>, report?: Report, trace?: Frame[]}} LayoutRecord
 *
 * @typedef {{elements: string[], relations: string[], groups: string[], order: string[]}} Index  ids by place
 * @typedef {{spec: Record<string, any>, index: Index}} Asked
 * @typedef {"generate" | "rest" | "complete" | "refine"} Mode
 * @typedef {{mode: Mode, seed: number, base: Doc, asked: Asked, results: LayoutRecord[],
 *   seconds: number, taken: number}} Variants
 * @typedef {{axis: "x" | "y", at: number, from: number, to: number, gap?: boolean}} Guide
 * @typedef {{zoom: number, x: number, y: number}} View  screen = canvas * zoom + (x, y)
 */
export {};
