/** The request as text to take along: JSON, a command, a Python snippet. */
import { asked } from "./request.js";
import { doc, get } from "./store.js";

/** @param {any} value @param {number} depth @returns {string} */
function python(value, depth = 0) {
  const pad = "    ".repeat(depth + 1);
  const end = "    ".repeat(depth);
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const short = inline(value);
  if (short.length < 90 - pad.length) return short;
  const items = Array.isArray(value)
    ? value.map((v) => `${pad}${python(v, depth + 1)},`)
    : Object.entries(value).map(([k, v]) => `${pad}${JSON.stringify(k)}: ${python(v, depth + 1)},`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return `${open}\n${items.join("\n")}\n${end}${close}`;
}

/** @param {any} value @returns {string} */
function inline(value) {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(inline).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([k, v]) => `${JSON.stringify(k)}: ${inline(v)}`).join(", ")}}`;
  return JSON.stringify(value);
}

export function requestJson() {
  return JSON.stringify(asked(doc(), "generate", get().features).spec, null, 2);
}

export function command() {
  const { seed, features } = get();
  const spec = JSON.stringify(asked(doc(), "generate", features).spec);
  // The quoted word keeps the shell from reading anything into names.
  return `layoutdm generate --model ${doc().model} --count 8 --seed ${seed} --out layouts --spec - <<'END'\n${spec}\nEND\n`;
}

export function pythonCode() {
  const { seed, features } = get();
  const { spec } = asked(doc(), "generate", features);
  return [
    "import layoutdm", "", `model = layoutdm.load(${JSON.stringify(doc().model)})`, `request = ${python(spec)}`,
    `for result in model.generate(request, count=8, seed=${seed}):`, "    print(result.layout.labels, result.met)", "",
  ].join("\n");
}
