/** The server's API. */

/** @typedef {import("./types.js").LayoutRecord} LayoutRecord */
/** @typedef {import("./types.js").Problem} Problem */
/** @typedef {import("./types.js").ModelInfo} ModelInfo */

/** A refusal, in the server's words. */
export class Refused extends Error {
  /** @param {string} message @param {Problem[]} problems @param {number} status */
  constructor(message, problems, status) {
    super(message);
    this.problems = problems;
    this.status = status;
  }
}

/** The server cannot be reached. */
export class Away extends Error {}

/** The token of `layoutdm serve --token`, which the opening link carries as ?token=... */
const token = new URLSearchParams(location.search).get("token") ?? sessionStorage.getItem("token") ?? "";
if (token) sessionStorage.setItem("token", token);

const PATIENCE = 300_000; // milliseconds; a server answers within its own limit, unless it hangs

/**
 * @param {string} path
 * @param {unknown} [body]
 * @param {AbortSignal} [signal]
 * @param {number} [tries]
 * @returns {Promise<Response>}
 */
async function call(path, body, signal, tries = 5) {
  /** @type {Record<string, string>} */
  const headers = { Accept: "application/json" };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (token) headers.Authorization = `Bearer ${token}`;
  const limits = [AbortSignal.timeout(PATIENCE), ...(signal ? [signal] : [])];
  /** @type {Response} */
  let response;
  try {
    response = await fetch(`v1/${path}`, {
      method: body === undefined ? "GET" : "POST",
      headers, signal: AbortSignal.any(limits),
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Away("The server does not answer.");
  }
  if (response.status === 429 && tries > 1 && !signal?.aborted) {
    const seconds = Number(response.headers.get("Retry-After")) || 1;
    await new Promise((done) => setTimeout(done, Math.min(seconds, 10) * 1000));
    return call(path, body, signal, tries - 1);
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

/** @param {Response} response */
async function refusal(response) {
  const data = await response.json().catch(() => null);
  const error = data?.error ?? {};
  const message = error.message ?? data?.detail ?? `The server answered ${response.status}.`;
  return new Refused(String(message), error.problems ?? [], response.status);
}

/** @param {string} path @param {unknown} [body] @param {AbortSignal} [signal] @returns {Promise<any>} */
const json = async (path, body, signal) => (await call(path, body, signal)).json();

/** @returns {Promise<ModelInfo[]>} */
export const models = async () => (await json("models")).models;
export const schema = () => json("schema");
export const health = () => json("health");

/**
 * @param {{spec: object, count: number, seed: number, model: string, trace?: boolean, tidy?: boolean}} request
 * @param {AbortSignal} [signal]
 * @returns {Promise<{results: LayoutRecord[], seconds: number}>}
 */
export const generate = (request, signal) => json("generate", request, signal);

/** @param {object} spec @param {string} model @param {AbortSignal} [signal] @returns {Promise<Problem[]>} */
export const check = async (spec, model, signal) => (await json("check", { spec, model }, signal)).problems;

/** @param {LayoutRecord} layout @returns {Promise<LayoutRecord>} */
export const tidy = async (layout) => (await json("tidy", { layouts: [layout] })).layouts[0];

/** @param {LayoutRecord} layout @param {string} to @returns {Promise<Blob>} */
export const convert = async (layout, to) => (await call("convert", { layouts: [layout], to })).blob();
