/**
 * A tiny way to say what a part of the page should look like: `h` describes an element, `render`
 * changes the page until it looks so. Elements that stay keep their focus and their caret.
 */

/** @typedef {{tag: string, key: string | null, props: Record<string, any>, children: Child[]}} VNode */
/** @typedef {VNode | string} Child */
/** @typedef {Child | number | null | undefined | false | Loose[]} Loose */

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "indeterminate", "hidden"]);

/** @type {WeakMap<Node, VNode>} */
const shown = new WeakMap();

/**
 * @param {string} tag
 * @param {Record<string, any>} [props]  `key`, `style` (an object), `onclick`, attributes
 * @param {...Loose} children
 * @returns {VNode}
 */
export function h(tag, props = {}, ...children) {
  const { key = null, ...rest } = props;
  return { tag, key, props: rest, children: flat(children) };
}

/** @param {Loose[]} children @returns {Child[]} */
function flat(children) {
  /** @type {Child[]} */
  const out = [];
  for (const child of children) {
    if (Array.isArray(child)) out.push(...flat(child));
    else if (typeof child === "number") out.push(String(child));
    else if (child !== null && child !== undefined && child !== false) out.push(child);
  }
  return out;
}

/** @param {Element} parent @param {Loose[]} children */
export function show(parent, ...children) {
  const focus = document.activeElement;
  render(parent, flat(children));
  // Moving an element in the page takes its focus away; give it back.
  if (focus instanceof HTMLElement || focus instanceof SVGElement) {
    if (focus.isConnected && document.activeElement !== focus) focus.focus({ preventScroll: true });
  }
}

/** @param {Element} parent @param {Child[]} children */
function render(parent, children) {
  /** @type {Map<string, ChildNode>} */
  const keyed = new Map();
  /** @type {ChildNode[]} */
  const loose = [];
  for (const node of parent.childNodes) {
    const key = shown.get(node)?.key;
    if (key) keyed.set(key, node);
    else loose.push(node);
  }
  /** @type {ChildNode | null} */
  let cursor = parent.firstChild;
  const kept = new Set();
  for (const child of children) {
    const key = typeof child === "string" ? null : child.key;
    const old = key === null ? loose.shift() : keyed.get(key);
    const node = patched(old, child, parent);
    kept.add(node);
    if (node === cursor) cursor = node.nextSibling;
    else parent.insertBefore(node, cursor);
  }
  for (const node of [...parent.childNodes]) if (!kept.has(node)) node.remove();
}

/**
 * @param {ChildNode | undefined} old
 * @param {Child} child
 * @param {Element} parent
 * @returns {ChildNode}
 */
function patched(old, child, parent) {
  if (typeof child === "string") {
    if (old instanceof Text) {
      if (old.data !== child) old.data = child;
      return old;
    }
    return document.createTextNode(child);
  }
  const before = old && shown.get(old);
  const inSvg = child.tag === "svg" || (parent.namespaceURI === SVG && parent.tagName !== "foreignObject");
  /** @type {any} */
  const element =
    before && before.tag === child.tag && before.key === child.key
      ? old
      : inSvg
        ? document.createElementNS(SVG, child.tag)
        : document.createElement(child.tag);
  const last = element === old && before ? before.props : {};
  // The children come first: a select takes its value only when its options are there.
  if (!("innerHTML" in child.props)) render(element, child.children);
  for (const name of Object.keys(last)) if (!(name in child.props)) put(element, name, null, last[name]);
  for (const [name, value] of Object.entries(child.props)) put(element, name, value, last[name]);
  shown.set(element, child);
  return element;
}

/** @param {any} element @param {string} name @param {any} value @param {any} last */
function put(element, name, value, last) {
  if (name.startsWith("on")) element[name] = value ?? null;
  else if (name === "style") {
    for (const key of Object.keys(last ?? {})) if (!(key in (value ?? {}))) element.style.removeProperty(key);
    for (const [key, v] of Object.entries(value ?? {})) if (last?.[key] !== v) element.style.setProperty(key, String(v));
  } else if (PROPERTIES.has(name) && name in element) {
    // Someone who types keeps what they typed until the value itself changes; a space at the end,
    // which is not part of a value, is theirs, too.
    const typing = name === "value" && document.activeElement === element;
    if (!typing || (value !== last && element.value.trim() !== value)) {
      if (element[name] !== value) element[name] = value ?? (name === "value" ? "" : false);
    }
  } else if (value === null || value === undefined || value === false) element.removeAttribute(name);
  else if (value !== last) element.setAttribute(name, value === true ? "" : String(value));
}

/** @param {string} id @returns {HTMLElement} */
export function part(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no part ${id}`);
  return found;
}
