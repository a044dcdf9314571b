/** The studio starts here. */
import { changedDoc, waitFor } from "./actions.js";
import * as api from "./api.js";
import { blank } from "./doc.js";
import { dock } from "./dock.js";
import { part, show } from "./dom.js";
import { welcome } from "./empty.js";
import { listenTo } from "./gestures.js";
import { aim, gliding } from "./glide.js";
import { begin } from "./history.js";
import { inspector } from "./inspector.js";
import { listenForKeys } from "./keys.js";
import { left } from "./left.js";
import { decode, encode, recall, remember, checked } from "./link.js";
import { listenForMenus } from "./menus.js";
import { known, openFiles } from "./project.js";
import { featuresOf } from "./request.js";
import { commit, doc, get, listen, say, set } from "./store.js";
import { topbar } from "./topbar.js";
import { targets } from "./targets.js";
import { underWay } from "./under_way.js";
import { drawCanvas } from "./view.js";
import { fit } from "./zoom.js";

/** @typedef {import("./store.js").State} State */

let due = false;

/** All changes of one moment are drawn together. */
function draw() {
  if (due) return;
  due = true;
  underWay("draw", true);
  requestAnimationFrame(() => {
    due = false;
    const state = get();
    show(part("top"), topbar(state));
    show(part("left"), left(state));
    show(part("right"), inspector(state));
    show(part("dock"), dock(state));
    show(part("over"), welcome(state));
    drawCanvas(state);
    status(state);
    if (gliding()) draw();
    else underWay("draw", due);
  });
}

/** @param {State} state */
function status(state) {
  const root = document.documentElement;
  const dark = state.theme === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : state.theme === "dark";
  root.dataset.theme = dark ? "dark" : "light";
  root.dataset.tool = state.tool;
  root.dataset.sheet = state.sheet;
  underWay("run", state.busy !== "");
  part("banner").hidden = !state.away;
  const note = part("note");
  note.hidden = !state.note;
  note.className = state.note?.kind ?? "";
  if (note.textContent !== (state.note?.text ?? "")) note.textContent = state.note?.text ?? "";
}

listen((state, before) => {
  if (state.history.present !== before.history.present) {
    changedDoc();
    keep();
  }
  if (state.seed !== before.seed || state.theme !== before.theme || state.live !== before.live) keep();
  if (state.live && !before.live) changedDoc();
  const shown = /** @type {const} */ (["history", "draft", "hover", "film", "variants"]);
  if (shown.some((key) => state[key] !== before[key])) aim(targets(state), state.draft !== null || before.draft !== null);
  draw();
});

/** @type {ReturnType<typeof setTimeout> | undefined} */
let keeping;
let ours = "";

/** Into the address and the browser's memory, a moment later. */
function keep() {
  clearTimeout(keeping);
  underWay("keep", true);
  const mine = (keeping = setTimeout(async () => {
    const code = await encode({ doc: doc(), seed: get().seed });
    if (keeping !== mine) return; // a later change is kept instead
    ours = code;
    history.replaceState(null, "", `#r=${ours}`);
    memorise();
    keeping = undefined;
    underWay("keep", false);
  }, 150));
}

/** The code in the page's address. */
const linked = () => /[#&]r=([\w-]+)/.exec(location.hash)?.[1];

function memorise() {
  const { seed, theme, live } = get();
  remember({ theme, live }, { doc: doc(), seed }, linked() ?? "");
}

/** @returns {Promise<import("./link.js").Saved | null>} */
async function fromHash() {
  const code = linked();
  if (!code || code === ours) return null;
  const found = await decode(code);
  if (!found) say("The link is damaged; your last work is shown instead.", "bad");
  return found;
}

async function connect() {
  try {
    const [models, schema] = await Promise.all([api.models(), api.schema()]);
    const usual = models.find((m) => m.default) ?? models[0];
    set({ models, features: featuresOf(schema), away: false });
    const name = known(doc().model) || usual?.name || "";
    if (name !== doc().model) set({ history: begin({ ...doc(), model: name }) });
    changedDoc();
  } catch (error) {
    if (error instanceof api.Away) waitFor(connect);
    else say(error instanceof Error ? error.message : String(error), "bad");
  }
}

async function start() {
  const stored = recall();
  const memory = checked(stored);
  const shared = await fromHash();
  // The address holds no picture; the browser's memory of the same document does.
  const saved = shared && stored?.hash === linked() && memory ? memory : (shared ?? memory);
  if (saved) set({ history: begin(saved.doc), seed: saved.seed });
  else set({ history: begin(blank("", { width: 390, height: 844 })) });
  if (stored?.theme) set({ theme: stored.theme });
  if (stored?.live) set({ live: true });

  const stage = /** @type {SVGSVGElement} */ (/** @type {unknown} */ (part("stage")));
  new ResizeObserver(() => {
    const { width, height } = stage.getBoundingClientRect();
    set({ stage: { width, height } });
    if (get().fitted) fit();
  }).observe(stage);
  listenTo(stage);
  listenForKeys();
  listenForMenus();
  addEventListener("hashchange", async () => {
    const found = await fromHash();
    if (found) {
      commit({ ...found.doc, model: known(found.doc.model) }, { selected: [] });
      set({ seed: found.seed, variants: null });
      fit();
    }
  });
  part("note").addEventListener("click", () => set({ note: null }));
  addEventListener("dragover", (event) => event.preventDefault());
  addEventListener("drop", (event) => { event.preventDefault(); void openFiles(event.dataTransfer?.files ?? []); });
  // What changed in the last moment is kept, too.
  addEventListener("pagehide", () => { if (keeping !== undefined) memorise(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  await connect();
  underWay("start", false);
}

void start();
