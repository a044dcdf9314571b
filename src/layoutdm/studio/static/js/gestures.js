/** Pointers on the canvas: which gesture begins, and clicks, pan and pinch. */
import { boxesAt, drawing, marking, moving, onCanvas, resizing, wiring } from "./drags.js";
import { boxMenu, openMenu } from "./menus.js";
import { get, select, set } from "./store.js";
import { zoomAt } from "./zoom.js";

/** @typedef {import("./types.js").Point} Point */
/** @typedef {import("./types.js").Box} Box */
/** @typedef {import("./drags.js").Gesture} Gesture */

const THRESHOLD = 5; // screen pixels before a press becomes a drag
const LONG_PRESS = 550;

/** @type {Gesture | null} */
let gesture = null;
/** @type {Map<number, Point>} */
const pointers = new Map();
let lastClick = { x: -1e9, y: -1e9 };
/** A press that was let go where it began; the browser says next whether it was one click of two. @type {((double: boolean) => void) | null} */
let click = null;
let space = false;

/** @param {{clientX: number, clientY: number}} event @returns {Point} */
function screen(event) {
  const r = /** @type {HTMLElement} */ (document.getElementById("stage")).getBoundingClientRect();
  return { x: event.clientX - r.left, y: event.clientY - r.top };
}

/** @param {SVGSVGElement} stage */
export function listenTo(stage) {
  stage.addEventListener("pointerdown", down);
  stage.addEventListener("pointermove", move);
  stage.addEventListener("pointerup", up);
  stage.addEventListener("pointercancel", (e) => { pointers.delete(e.pointerId); giveUp(); });
  stage.addEventListener("lostpointercapture", (e) => { if (pointers.delete(e.pointerId)) giveUp(); });
  stage.addEventListener("wheel", wheel, { passive: false });
  stage.addEventListener("click", (e) => {
    click?.(e.detail > 1);
    click = null;
  });
  stage.addEventListener("dblclick", (e) => { if (boxesAt(onCanvas(screen(e))).length) document.getElementById("field-name")?.focus(); });
  stage.addEventListener("contextmenu", (e) => {
    e.preventDefault();
    const box = boxesAt(onCanvas(screen(e)))[0];
    if (box && !get().selected.has(box.id)) select([box.id]);
    openMenu(boxMenu(), e.clientX, e.clientY);
  });
  // Safari tells of pinches in its own events, which would zoom the whole page.
  for (const name of ["gesturestart", "gesturechange"]) stage.addEventListener(name, (e) => e.preventDefault());
  addEventListener("keydown", (e) => {
    if (e.key !== " " || typing(e)) return;
    space = true;
    if (e.target === document.body || e.target === stage) e.preventDefault();
  });
  addEventListener("keyup", (e) => { if (e.key === " ") space = false; });
  addEventListener("blur", giveUp);
}

/** @param {Event} e */
export const typing = (e) => e.target instanceof HTMLElement && e.target.matches("input:not([type=checkbox], [type=range]), textarea, select");

/** Leave a gesture as if it had not begun. @returns {boolean} whether there was one */
export function giveUp() {
  const was = gesture !== null;
  gesture?.cancel?.();
  gesture = null;
  if (was) set({ draft: null, guides: [], marquee: null, wire: null });
  return was;
}

/** @param {PointerEvent} event */
function down(event) {
  click = null;
  const target = /** @type {Element} */ (event.target);
  if (target.closest("[data-ui]") || event.button === 2) return;
  const stage = /** @type {SVGSVGElement} */ (event.currentTarget);
  const at = screen(event);
  pointers.set(event.pointerId, at);
  stage.setPointerCapture(event.pointerId);
  if (pointers.size === 2) {
    giveUp();
    gesture = pinch();
    return;
  }
  if (gesture) return;
  stage.focus({ preventScroll: true }); // a field that was typed in is left
  const state = get();
  if (state.hover >= 0 || state.film) set({ hover: -1, film: null });
  const handle = target.closest("[data-handle]")?.getAttribute("data-handle");
  const link = target.closest("[data-link]")?.getAttribute("data-link");
  if (event.button === 1 || space || state.tool === "pan") gesture = panning(at);
  else if (link) gesture = wiring(link);
  else if (handle) gesture = resizing(handle, onCanvas(at));
  else if (state.tool === "draw") gesture = drawing(onCanvas(at));
  else if (state.tool === "relate") gesture = wiring(boxesAt(onCanvas(at))[0]?.id ?? "");
  else gesture = pressing(at, event);
}

/** @param {PointerEvent} event */
function move(event) {
  if (pointers.has(event.pointerId)) pointers.set(event.pointerId, screen(event));
  gesture?.move(screen(event), event);
}

/** @param {PointerEvent} event */
function up(event) {
  if (!pointers.delete(event.pointerId)) return;
  const ended = gesture;
  gesture = null;
  ended?.end(screen(event), event);
}

/** @param {WheelEvent} event */
function wheel(event) {
  event.preventDefault();
  const { view } = get();
  if (event.ctrlKey || event.metaKey) zoomAt(screen(event), Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0022)));
  else {
    const by = event.shiftKey ? { x: event.deltaY, y: 0 } : { x: event.deltaX, y: event.deltaY };
    set({ fitted: false, view: { ...view, x: view.x - by.x, y: view.y - by.y } });
  }
}

/** @param {Point} start @returns {Gesture} */
function panning(start) {
  const { view } = get();
  return {
    move: (at) => set({ fitted: false, view: { ...view, x: view.x + at.x - start.x, y: view.y + at.y - start.y } }),
    end: () => {},
  };
}

/** Two fingers zoom and pan. @returns {Gesture} */
function pinch() {
  const fingers = () => [...pointers.values()];
  const spread = () => { const [a, b] = fingers(); return a && b ? Math.hypot(a.x - b.x, a.y - b.y) : 1; };
  const middle = () => { const [a, b] = fingers(); return a && b ? { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 } : { x: 0, y: 0 }; };
  let [size, place] = [spread(), middle()];
  return {
    move: () => {
      const [next, at] = [spread(), middle()];
      const { view } = get();
      set({ fitted: false, view: { ...view, x: view.x + at.x - place.x, y: view.y + at.y - place.y } });
      zoomAt(at, next / Math.max(size, 1));
      [size, place] = [next, at];
    },
    end: () => {},
  };
}

/**
 * A press that may become a click, a move or a marquee.
 * @param {Point} start
 * @param {PointerEvent} event
 * @returns {Gesture}
 */
function pressing(start, event) {
  const at = onCanvas(start);
  const stack = boxesAt(at);
  const { selected } = get();
  const held = stack.find((box) => selected.has(box.id));
  const adds = event.shiftKey;
  const hit = held ?? stack[0];
  // A box is selected at the press, so that one movement selects and drags.
  if (!adds && hit && !held) select([hit.id]);
  /** @type {Gesture | null} */
  let drag = null;
  const timer = setTimeout(() => {
    if (drag || event.pointerType !== "touch" || !hit) return;
    long = true;
    toggle(hit.id, selected);
  }, LONG_PRESS);
  let long = false; // a finger that stays adds to what was selected, as Shift does
  return {
    move: (to, e) => {
      if (!drag && Math.hypot(to.x - start.x, to.y - start.y) < THRESHOLD) return;
      clearTimeout(timer);
      const moves = hit && !hit.locked;
      if (!drag && moves && adds && !held) select([...selected, hit.id]);
      drag ??= moves ? moving(at, hit, e.altKey) : marking(at, adds);
      drag.move(to, e);
    },
    end: (to, e) => {
      clearTimeout(timer);
      if (drag) drag.end(to, e);
      else if (!long) click = (double) => clicked(start, stack, held, adds, double);
    },
    cancel: () => { clearTimeout(timer); drag?.cancel?.(); },
  };
}

/** @param {string} id @param {ReadonlySet<string>} [among] */
function toggle(id, among = get().selected) {
  const next = new Set(among);
  if (!next.delete(id)) next.add(id);
  select(next);
}

/**
 * @param {Point} start  screen
 * @param {Box[]} stack
 * @param {Box | undefined} held
 * @param {boolean} adds
 * @param {boolean} double  the second of two quick clicks, which speak of one box
 */
function clicked(start, stack, held, adds, double) {
  const again = Math.hypot(start.x - lastClick.x, start.y - lastClick.y) < 4;
  lastClick = start;
  if (adds) {
    if (stack[0]) toggle(stack[0].id);
  } else if (!stack.length) select([]);
  // The same place once more: the next larger box under the pointer.
  else if (held && again && !double) select([stack[(stack.indexOf(held) + 1) % stack.length].id]);
  else if (held && !again) select([stack[0].id]);
}
