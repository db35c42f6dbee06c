// The heat map of a trial: time from left to right, response times upwards on a log axis, colours by how many
// there were. Above it, a bar for each interval: requests that were due and not yet answered.

import { BINS, PER_DECADE, binOf } from "./columns.js";
import { labelMarks, paintMarks } from "./marks.js";
import { duration } from "./units.js";

const LEFT = 68, RIGHT = 46, LABELS = 16, BAND = 30, GAP = 8, BELOW = 22;
const TEXT = 12;

/** From nothing, which is the background, to the most. A warm ramp would turn brown at its dark end. */
const RAMPS = {
  dark: ["#14171a", "#2a0f54", "#65156e", "#9f2a63", "#d44842", "#f57d15", "#fac127", "#fcffa4"],
  light: ["#ffffff", "#fde7a9", "#fdb863", "#f0743e", "#c9405a", "#8b2a72", "#4f1b6b", "#1d0b3f"],
};

const STEPS_S = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400];

/** Room for a label of the axis of time, in pixels. */
const LABEL = 70;

export class HeatMap {
  /** `onRange(first, last)`: the columns that were chosen by the pointer. */
  constructor(canvas, onRange) {
    this.canvas = canvas;
    this.shown = { columns: [], end: 1, limits: [], marks: [] };
    this.range = null;
    this.listen(onRange);
    new ResizeObserver(() => this.paint()).observe(canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
  }

  /** `columns`: as `drawn` makes them; `end`: of the axis, in µs; `limits`: { seconds, text } of lines; `marks`: as
   * in marks.js. All are chosen at first. */
  show(columns, end, limits, marks) {
    this.range = null;
    this.shown = { columns, end, limits, marks };
    this.paint();
  }

  /** Which columns are chosen, the first and the last one; null for all. */
  select(range) {
    this.range = range;
    this.paint();
  }

  /** Where a column and a bin are, in pixels of the page from the corner of the canvas. */
  cell(number, bin) {
    const column = this.shown.columns[number], { low, high } = this.frame();
    const rows = high - low + 1, { top, height } = this.plot();
    const [x, right] = this.across(column), y = (at) => Math.round(top + (height * (rows - at)) / rows);
    return { x, y: y(bin - low + 1), width: right - x, height: y(bin - low) - y(bin - low + 1) };
  }

  /** The colour of a cell with so many responses: by the logarithm, on one scale for the whole map. */
  colour(count) {
    const ramp = RAMPS[this.theme().dark ? "dark" : "light"];
    const most = this.most();
    if (!count || !most) return ramp[0];
    const place = (Math.log1p(count) / Math.log1p(most)) * (ramp.length - 2) + 1;
    const below = Math.min(Math.floor(place), ramp.length - 1), above = Math.min(below + 1, ramp.length - 1);
    return mixed(ramp[below], ramp[above], place - below);
  }

  paint() {
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight, dense = devicePixelRatio || 1;
    if (!width || !height) return;
    Object.assign(this.canvas, { width: Math.round(width * dense), height: Math.round(height * dense) });
    const to = this.canvas.getContext("2d");
    to.scale(dense, dense);
    const theme = this.theme();
    to.font = `${TEXT}px ${getComputedStyle(this.canvas).fontFamily}`;
    to.lineJoin = "round";
    this.paintCells(to);
    this.paintBand(to, theme);
    this.paintLate(to, theme);
    this.paintMarks(to, theme);
    this.paintRange(to, theme);
    this.paintAxes(to, theme);
    this.paintLines(to, theme);
  }

  paintCells(to) {
    const { left, top, width, height } = this.plot();
    const colours = new Map();
    to.fillStyle = this.colour(0);
    to.fillRect(left, top, width, height);
    this.shown.columns.forEach((column, number) => {
      for (let bin = 0; bin < BINS; bin++) {
        const count = column.bins[bin];
        if (!count) continue;
        if (!colours.has(count)) colours.set(count, this.colour(count));
        to.fillStyle = colours.get(count);
        const cell = this.cell(number, bin);
        to.fillRect(cell.x, cell.y, cell.width, cell.height);
      }
    });
  }

  // Lines through the band and the map, their texts above.
  paintMarks(to, theme) {
    const { left, top, width, height } = this.plot(), { marks, end } = this.shown;
    const x = (at) => left + (width * Math.min(at * 1e6, end)) / end;
    paintMarks(to, theme, marks, x, this.band(), top + height);
    labelMarks(to, theme, marks, x, 0, this.canvas.clientWidth);
  }

  paintBand(to, theme) {
    const { left, width } = this.plot(), above = this.band(), bottom = above + BAND;
    const most = Math.max(0, ...this.shown.columns.map((column) => column.unanswered));
    to.fillStyle = theme.bad;
    for (const column of this.shown.columns) {
      const high = most ? Math.ceil((BAND * column.unanswered) / Math.max(most, 8)) : 0;
      const [x, right] = this.across(column);
      to.fillRect(x, bottom - high, right - x, high);
    }
    to.fillStyle = theme.muted;
    to.fillRect(left, bottom, width, 1);
    to.textAlign = "right";
    to.textBaseline = "middle";
    to.fillText("due, not", left - 6, above + BAND / 2 - 6);
    to.fillText("answered", left - 6, above + BAND / 2 + 8);
    if (most) {
      to.textAlign = "left";
      to.textBaseline = "top";
      to.fillText(most.toLocaleString("en-US"), left + width + 5, above);
    }
  }

  // Diagonal lines where the generator was so late that the times are mostly its own.
  paintLate(to, theme) {
    const { top, height } = this.plot();
    to.strokeStyle = theme.muted;
    to.lineWidth = 1;
    for (const column of this.shown.columns.filter((one) => one.late)) {
      const [x, right] = this.across(column);
      to.save();
      to.beginPath();
      to.rect(x, top, right - x, height);
      to.clip();
      to.beginPath();
      for (let at = Math.floor((x - height) / 7) * 7; at < right; at += 7) {
        to.moveTo(at, top + height);
        to.lineTo(at + height, top);
      }
      to.stroke();
      to.restore();
    }
  }

  paintRange(to, theme) {
    if (!this.range) return;
    const { left, top, width, height } = this.plot();
    const [first, last] = this.range.map((number) => this.shown.columns[number]);
    const [x] = this.across(first), [, right] = this.across(last);
    to.globalAlpha = 0.6;
    to.fillStyle = theme.surface;
    const above = this.band(), whole = top + height - above;
    to.fillRect(left, above, x - left, whole);
    to.fillRect(right, above, left + width - right, whole);
    to.globalAlpha = 1;
    to.strokeStyle = theme.ink;
    to.lineWidth = 1.5;
    to.strokeRect(x, above + 0.75, right - x, whole - 1.5);
  }

  paintAxes(to, theme) {
    const { left, top, width, height } = this.plot(), { low, high } = this.frame();
    to.fillStyle = theme.muted;
    to.strokeStyle = theme.muted;
    to.lineWidth = 1;
    to.strokeRect(left - 0.5, top - 0.5, width + 1, height + 1);
    to.textAlign = "right";
    to.textBaseline = "middle";
    for (let bin = Math.ceil(low / PER_DECADE) * PER_DECADE; bin <= high; bin += PER_DECADE) {
      const y = this.height(10 ** (bin / PER_DECADE - 6));
      to.fillRect(left - 4, Math.round(y), 4, 1);
      to.fillText(duration(10 ** (bin / PER_DECADE - 6)).replace(/\.0+ /, " "), left - 6, y);
    }
    to.textBaseline = "top";
    const seconds = this.shown.end / 1e6, fit = Math.max(2, Math.floor(width / LABEL));
    const step = STEPS_S.find((one) => seconds / one <= fit) ?? seconds;
    for (let at = 0; at <= seconds + 1e-9; at += step) {
      const x = left + (width * at) / seconds;
      to.fillRect(Math.round(x), top + height, 1, 4);
      to.textAlign = at === 0 ? "left" : x > left + width - LABEL / 3 ? "right" : "center";
      to.fillText(at ? duration(at).replace(/\.0+ /, " ") : "0 s", x, top + height + 6);
    }
  }

  paintLines(to, theme) {
    const { left, width } = this.plot();
    const labels = [];
    for (const { seconds, text } of this.shown.limits) {
      const y = this.height(seconds);
      stroke(to, theme, [6, 4], [[left, y], [left + width, y]]);
      labels.push([text, y]);
    }
    for (const name of ["p99", "p50"]) {
      const parts = [];
      for (const column of this.shown.columns) {
        const [x, right] = this.across(column);
        if (column[name] === null) parts.push([]);
        else (parts.at(-1)?.length ? parts.at(-1) : (parts.push([]), parts.at(-1))).push([(x + right) / 2, this.height(column[name])]);
      }
      for (const points of parts) stroke(to, theme, name === "p99" ? [] : [2, 3], points);
      const end = parts.filter((points) => points.length).at(-1)?.at(-1);
      if (end) labels.push([name, end[1]]);
    }
    to.textAlign = "left";
    to.textBaseline = "middle";
    to.fillStyle = theme.ink;
    let above = -TEXT;
    for (const [text, y] of labels.sort(([, a], [, b]) => a - b)) {
      above = Math.max(y, above + TEXT + 1);
      to.fillText(text, left + width + 5, above);
    }
  }

  // Where the band begins: below the texts of marks, if there are any.
  band() {
    return this.shown.marks.length ? LABELS : 0;
  }

  plot() {
    const top = this.band() + BAND + GAP;
    return {
      left: LEFT,
      top,
      width: this.canvas.clientWidth - LEFT - RIGHT,
      height: this.canvas.clientHeight - top - BELOW,
    };
  }

  // The bins that are shown: those with responses and limits, and at least a decade.
  frame() {
    const used = this.shown.columns.flatMap(({ bins }) => [bins.findIndex(Boolean), bins.findLastIndex(Boolean)]);
    const limits = this.shown.limits.map(({ seconds }) => binOf(seconds * 1e6));
    const bins = [...used.filter((bin) => bin >= 0), ...limits];
    if (!bins.length) bins.push(3 * PER_DECADE, 4 * PER_DECADE);
    const low = Math.min(...bins) - 1, high = Math.max(...bins) + 1;
    const more = Math.max(0, PER_DECADE - (high - low)) / 2;
    return { low: Math.max(0, low - Math.ceil(more)), high: Math.min(BINS - 1, high + Math.floor(more)) };
  }

  most() {
    return this.shown.columns.reduce((most, { bins }) => bins.reduce((a, b) => Math.max(a, b), most), 0);
  }

  across({ start, end }) {
    const { left, width } = this.plot();
    const x = (at) => Math.round(left + (width * Math.min(at, this.shown.end)) / this.shown.end);
    return [x(start), Math.max(x(end), x(start) + 1)];
  }

  height(seconds) {
    const { top, height } = this.plot(), { low, high } = this.frame();
    const part = (PER_DECADE * Math.log10(seconds * 1e6) - low) / (high - low + 1);
    return Math.min(top + height, Math.max(top, top + height * (1 - part)));
  }

  theme() {
    const style = getComputedStyle(this.canvas), of = (name) => style.getPropertyValue(`--${name}`).trim();
    const dark = matchMedia("(prefers-color-scheme: dark)").matches && !matchMedia("print").matches;
    return { dark, surface: of("surface"), ink: of("ink"), muted: of("muted"), bad: of("bad") };
  }

  // A column under the pointer; beyond an end, the last one there.
  under(event) {
    const { left, width } = this.plot(), { columns, end } = this.shown;
    const at = ((event.clientX - this.canvas.getBoundingClientRect().left - left) / width) * end;
    const found = columns.findIndex((column) => at < column.end);
    return found < 0 ? columns.length - 1 : found;
  }

  listen(onRange) {
    let from = null;
    const choose = (event) => {
      const to = this.under(event);
      onRange(Math.min(from, to), Math.max(from, to));
    };
    this.canvas.addEventListener("pointerdown", (event) => {
      if (event.button || !this.shown.columns.length) return;
      from = this.under(event);
      this.canvas.setPointerCapture(event.pointerId);
      choose(event);
    });
    this.canvas.addEventListener("pointermove", (event) => from !== null && choose(event));
    for (const end of ["pointerup", "pointercancel"]) this.canvas.addEventListener(end, () => (from = null));
  }
}

// A line that is seen on any cell: dark in light, light in dark, with a rim of the other.
function stroke(to, theme, dashes, points) {
  if (!points.length) return;
  for (const [colour, width] of [[theme.surface, 4], [theme.ink, 1.5]]) {
    to.strokeStyle = colour;
    to.lineWidth = width;
    to.setLineDash(dashes);
    to.beginPath();
    points.forEach(([x, y], i) => (i ? to.lineTo(x, y) : to.moveTo(x, y)));
    if (points.length === 1) to.lineTo(points[0][0] + 1, points[0][1]);
    to.stroke();
  }
  to.setLineDash([]);
}

function mixed(one, other, part) {
  const channel = (hex, i) => parseInt(hex.slice(1 + 2 * i, 3 + 2 * i), 16);
  const parts = [0, 1, 2].map((i) => Math.round(channel(one, i) * (1 - part) + channel(other, i) * part));
  return `rgb(${parts.join(", ")})`;
}
