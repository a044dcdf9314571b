/** What asks the server: generate, complete, refine, tidy, check, and the film of one layout. */
import * as api from "./api.js";
import { asked, fieldAt, idAt, recordOf } from "./request.js";
import { amend, commit, doc, get, say, set } from "./store.js";
import { tidied } from "./tidied.js";
import { underWay } from "./under_way.js";
import { followed, taken } from "./variant.js";

/** @typedef {import("./types.js").Mode} Mode */
/** @typedef {import("./types.js").Variants} Variants */

export const COUNT = 8;
const WAIT_LIVE = 200;
const WAIT_CHECK = 250;

/** @type {AbortController | null} */
let running = null;
/** @type {(() => void) | null} */
let again = null; // what to do when the server is back

/** One regeneration: the first variant is taken, the others wait in the strip. @param {Mode} mode */
export async function run(mode) {
  const base = doc();
  const state = get();
  if (mode === "refine" && !base.boxes.length) return say("Draw or generate something first; then more like it can be made.", "bad");
  const ask = asked(base, mode, state.features, state.selected);
  const answer = await request(mode, ask, state.seed);
  if (!answer) return;
  const first = best(answer.results);
  set({ variants: { mode, seed: state.seed, base, asked: ask, results: answer.results, seconds: answer.seconds, taken: -1 }, hover: -1 });
  // Who went on drawing meanwhile keeps what was drawn.
  if (doc() === base && !get().draft) take(first);
  else say("You went on meanwhile: click a variant to take it.");
}

/** The first variant that meets most wishes. @param {import("./types.js").LayoutRecord[]} results */
function best(results) {
  const scores = results.map((r) => r.report?.score ?? 0);
  return scores.indexOf(Math.max(...scores));
}

/** @param {Mode} mode @param {import("./types.js").Asked} ask @param {number} seed */
async function request(mode, ask, seed) {
  running?.abort();
  const mine = (running = new AbortController());
  set({ busy: mode });
  try {
    return await api.generate({ spec: ask.spec, count: COUNT, seed, model: doc().model }, mine.signal);
  } catch (error) {
    if (!mine.signal.aborted) failed(error, ask, () => run(mode));
    return null;
  } finally {
    if (running === mine) set({ busy: "" });
  }
}

/** @param {unknown} error @param {import("./types.js").Asked | null} ask @param {() => void} retry */
function failed(error, ask, retry) {
  if (error instanceof api.Away) {
    again = retry;
    lost();
  } else if (error instanceof api.Refused) {
    if (ask && error.problems.length) set({ problems: error.problems.map((p) => located(p, ask)) });
    say(error.problems[0]?.message ?? error.message, "bad");
  } else throw error;
}

/** @param {import("./types.js").Problem} p @param {import("./types.js").Asked} ask */
const located = (p, ask) => ({ id: idAt(p.path, ask.index), field: fieldAt(p.path), message: p.message });

/** @type {import("./types.js").Doc | null} */
let put = null; // the last document that is a variant as it was made

/** Put a variant on the canvas; one step. @param {number} i */
export function take(i) {
  const before = put;
  const { variants } = get();
  const result = variants?.results[i];
  if (!variants || !result) return;
  const now = doc();
  const next = (put = taken(variants.base, result, variants.asked.index, now.boxes));
  if (now !== variants.base && now !== before) say("What you changed since then is replaced; Ctrl Z brings it back.");
  commit(next);
  const report = result.report ? { report: result.report, asked: variants.asked, doc: next } : null;
  set({ hover: -1, film: null, variants: { ...variants, taken: i }, report });
}

/** @param {number} i */
export function preview(i) {
  if (get().hover !== i) set({ hover: i, film: null });
}

/** Edges that nearly line up do, afterwards; locked boxes and fixed values stay. */
export async function tidy() {
  const base = doc();
  if (!base.boxes.length) return say("There is nothing to tidy yet.", "bad");
  set({ busy: "tidy" });
  try {
    const neat = await api.tidy(recordOf(base));
    if (doc() === base) commit(tidied(base, neat));
  } catch (error) {
    failed(error, null, tidy);
  } finally {
    set({ busy: "" });
  }
}

/** How one variant came to be, from noise to layout. @param {number} i */
export async function film(i) {
  const { variants } = get();
  if (!variants) return;
  set({ busy: "film" });
  try {
    // The i-th of a seed is the same however many are asked for.
    const request = { spec: variants.asked.spec, count: i + 1, seed: variants.seed, model: variants.base.model, trace: true };
    const answer = await api.generate(request);
    const frames = answer.results[i]?.trace ?? [];
    if (!frames.length) return say("This model has no steps to show.", "bad");
    set({ busy: "", film: { frames, at: 0 }, hover: i });
    play();
  } catch (error) {
    failed(error, null, () => film(i));
  } finally {
    if (get().busy === "film") set({ busy: "" });
  }
}

const FRAME = 110; // milliseconds

function play() {
  const { film } = get();
  if (!film) return;
  if (film.at + 1 >= film.frames.length) {
    setTimeout(() => { if (get().film === film) set({ film: null, hover: -1 }); }, 900);
    return;
  }
  setTimeout(() => {
    if (get().film !== film) return;
    set({ film: { ...film, at: film.at + 1 } });
    play();
  }, FRAME);
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let liveTimer;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let checkTimer;
/** @type {AbortController | null} */
let checking = null;
/** @type {import("./types.js").Doc | null} */
let made = null; // the last document that came from a regeneration

/** The document changed: check it, and regenerate if that is wished. */
export function changedDoc() {
  clearTimeout(checkTimer);
  checkTimer = setTimeout(check, WAIT_CHECK);
  underWay("check", true);
  clearTimeout(liveTimer);
  const state = get();
  const follows = state.live && !state.draft && doc() !== made && state.report?.doc !== doc();
  underWay("live", follows);
  if (follows) liveTimer = setTimeout(live, WAIT_LIVE);
}

async function check() {
  const { models, features } = get();
  if (!models.length) return underWay("check", false);
  checking?.abort();
  const mine = (checking = new AbortController());
  const ask = asked(doc(), "generate", features);
  try {
    const problems = await api.check(ask.spec, doc().model, mine.signal);
    if (!mine.signal.aborted) set({ problems: problems.map((p) => located(p, ask)) });
  } catch (error) {
    if (mine.signal.aborted) return;
    if (error instanceof api.Away) {
      again ??= check;
      lost();
    } else if (error instanceof api.Refused) set({ problems: error.problems.map((p) => located(p, ask)) });
    else throw error;
  } finally {
    if (checking === mine) underWay("check", false);
  }
}

/** The rest follows the hand; drafts stay where they were put, and undo takes both back at once. */
async function live() {
  underWay("live", false); // what follows is told as any run
  const base = doc();
  if (get().report?.doc === base) return;
  const { features, selected, seed } = get();
  const ask = asked(base, "generate", features, selected);
  const answer = await request("generate", ask, seed);
  if (!answer || doc() !== base) return;
  const first = best(answer.results);
  made = put = followed(base, answer.results[first], ask.index);
  amend(made);
  const report = answer.results[first].report;
  set({
    variants: { mode: "generate", seed, base, asked: ask, results: answer.results, seconds: answer.seconds, taken: first },
    report: report ? { report, asked: ask, doc: made } : null,
  });
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let knocking;

/** The server is away: say so, and knock until it is back. */
function lost() {
  set({ away: true, busy: "" });
  clearTimeout(knocking);
  knocking = setTimeout(knock, 1000);
}

async function knock() {
  try {
    await api.health();
    set({ away: false });
    const waiting = again;
    again = null;
    waiting?.();
  } catch {
    knocking = setTimeout(knock, 1500);
  }
}

/** What waits for the server at the start. @param {() => void} retry */
export function waitFor(retry) {
  again = retry;
  lost();
}
