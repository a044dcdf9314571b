/** Canvas sizes that people start from, in pixels. */

/** @type {readonly {name: string, width: number, height: number}[]} */
export const PRESETS = [
  { name: "Phone", width: 390, height: 844 },
  { name: "Small phone", width: 360, height: 640 },
  { name: "Large phone", width: 430, height: 932 },
  { name: "Tablet", width: 820, height: 1180 },
  { name: "Desktop", width: 1440, height: 900 },
  { name: "A4 page", width: 595, height: 842 },
  { name: "Slide 16:9", width: 1280, height: 720 },
];
