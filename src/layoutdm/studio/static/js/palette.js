/** One colour per label, the same as in the exported pictures (a test compares the two). */

/** @type {Record<string, string>} */
const KNOWN = {
  text: "#0072b2", title: "#d55e00", list: "#64e9de", table: "#7a004e", figure: "#e69f00",
  image: "#85b16f", icon: "#b11637", "text button": "#7a64de", "list item": "#bca6a6",
  input: "#c8de2c", "background image": "#a6c8ff", card: "#ffbcb1", "web view": "#597a64",
  "radio button": "#7a3790", drawer: "#906f90", checkbox: "#644e00", advertisement: "#16de85",
  modal: "#64596f", "pager indicator": "#4e0b90", slider: "#2190ff", "on/off switch": "#006443",
  "button bar": "#7a90d3", toolbar: "#004364", "number stepper": "#592c21", "multi-tab": "#59bcd3",
  "date picker": "#cc79a7", "map view": "#009e73", video: "#4e43bc", "bottom navigation": "#b19bff",
};

/** @type {Map<string, string>} */
const cache = new Map();

/** @param {string} label @returns {string} */
export function colour(label) {
  const name = label.toLowerCase().replaceAll("_", " ").trim().split(/\s+/).join(" ");
  let found = KNOWN[name] ?? cache.get(name);
  if (!found) cache.set(name, (found = fromLetters(name)));
  return found;
}

/** A medium colour whose hue and lightness follow from a checksum of the name. @param {string} name */
function fromLetters(name) {
  const code = crc32(new TextEncoder().encode(name));
  const angle = (2 * Math.PI * (code % 997)) / 997;
  const lightness = [0.52, 0.62, 0.72][Math.floor(code / 997) % 3];
  return fromOklab(lightness, 0.11 * Math.cos(angle), 0.11 * Math.sin(angle));
}

/** @param {Uint8Array} bytes */
function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ~crc >>> 0;
}

/** @param {number} lightness @param {number} a @param {number} b */
function fromOklab(lightness, a, b) {
  const long = (lightness + 0.3963377774 * a + 0.215803758 * b) ** 3;
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const light = [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
  return `#${light.map(encoded).join("")}`;
}

/** @param {number} value */
function encoded(value) {
  const v = Math.min(Math.max(value, 0), 1);
  const e = v <= 0.0031308 ? v * 12.92 : 1.055 * v ** (1 / 2.4) - 0.055;
  return Math.round(e * 255).toString(16).padStart(2, "0");
}
