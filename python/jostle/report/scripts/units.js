// Figures as `jostle.units` writes them, with three digits; ties are rounded to even, as Python does.

export const MISSING = "–";

const STEPS = [["ns", 1e-9, 1e-9], ["µs", 1e-6, 1e-6], ["ms", 1e-3, 1e-3], ["s", 1, 1], ["min", 60, 100], ["h", 3600, 3600]];

function toDigits(value, digits) {
  const [mantissa, exponent] = value.toExponential(60).split("e");
  const all = mantissa.replace(".", "");
  const even = "02468".includes(all[digits - 1]) && /^50*$/.test(all.slice(digits));
  if (!even) return Number(value.toPrecision(digits));
  return Number(`${all[0]}.${all.slice(1, digits)}e${exponent}`);
}

const threeDigits = (value) => (value ? toDigits(value, 3) : 0);

function whole(value) {
  const below = Math.floor(value), more = value - below;
  const up = more > 0.5 || (more === 0.5 && below % 2 === 1);
  return (below + (up ? 1 : 0)).toLocaleString("en-US");
}

function plain(value) {
  const text = String(value);
  return text.includes("e") ? value.toFixed(20).replace(/0+$/, "") : text;
}

function three(value) {
  const rounded = threeDigits(value);
  if (rounded < 1) return rounded ? plain(rounded) : "0";
  const digits = Math.max(0, 3 - String(Math.trunc(rounded)).length);
  return rounded.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** "812 µs", "4.51 ms", "1.20 s"; microseconds have no fraction. */
export function duration(seconds) {
  if (seconds === 0) return "0 s";
  const rounded = threeDigits(seconds);
  const [name, size] = STEPS.filter(([unit, , begins]) => unit === "ns" || rounded >= begins).at(-1);
  return `${(name === "µs" ? whole : three)(seconds / size)} ${name}`;
}

/** "12,346/s", "57.2/s" */
export const rate = (perSecond) => `${perSecond >= 100 ? whole(perSecond) : three(perSecond)}/s`;

/** "10,000" */
export const count = (number) => whole(number);

/** "0.58 %", "26 %"; never rounded to nothing or to the whole. */
export function share(part) {
  if (part > 0 && part < 0.0001) return "< 0.01 %";
  if (part >= 0.9995 && part < 1) return "> 99.9 %";
  const percent = part / 0.01;
  if (percent === 0) return "0 %";
  const rounded = toDigits(percent, percent < 1 ? 2 : 3);
  return `${Number(rounded.toFixed(6))} %`;
}
