/** The document in the address of the page, and in the browser's memory. */
import { wholeDoc } from "./whole.js";

/** @typedef {import("./types.js").Doc} Doc */
/** @typedef {{doc: Doc, seed: number}} Saved */

const KEY = "layoutdm-studio";

/** @param {Blob} blob @param {CompressionStream | DecompressionStream} by */
const through = (blob, by) => new Response(blob.stream().pipeThrough(/** @type {any} */ (by)));

/** @param {Saved} saved @returns {Promise<string>} */
export async function encode({ doc, seed }) {
  const text = JSON.stringify({ v: 1, seed, doc: { ...doc, picture: null } });
  const packed = await through(new Blob([text]), new CompressionStream("deflate-raw")).arrayBuffer();
  const letters = Array.from(new Uint8Array(packed), (byte) => String.fromCharCode(byte)).join("");
  return btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** @param {string} code @returns {Promise<Saved | null>} */
export async function decode(code) {
  try {
    const letters = atob(code.replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const text = await through(new Blob([packed]), new DecompressionStream("deflate-raw")).text();
    return checked(JSON.parse(text));
  } catch {
    return null;
  }
}

/**
 * A saved document, if it is whole.
 * @param {any} data
 * @returns {Saved | null}
 */
export function checked(data) {
  const doc = wholeDoc(data?.doc);
  const seed = Number.isSafeInteger(data?.seed) && data.seed >= 0 ? data.seed : 0;
  return doc && { doc, seed };
}

/** @param {object} extra  settings of the page @param {Saved} saved @param {string} hash */
export function remember(extra, saved, hash) {
  const write = (/** @type {Doc} */ doc) => localStorage.setItem(KEY, JSON.stringify({ ...extra, hash, seed: saved.seed, doc }));
  try {
    write(saved.doc);
  } catch {
    // A large picture may not fit into the browser's memory; the rest does.
    try {
      write({ ...saved.doc, picture: null });
    } catch { /* a browser without memory: the link still holds the request */ }
  }
}

/** @returns {any} */
export function recall() {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "null");
  } catch {
    return null;
  }
}
