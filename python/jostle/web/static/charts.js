// Charts over the time of a trial. All share one cursor and one selected range.

import uPlot from "./uplot.js";
import { paintMarks } from "./marks.js";
import { element } from "./trial_figure.js";
import { MISSING, duration } from "./units.js";

const HEIGHT = 190;
const ROWS = 40;

const together = uPlot.sync("time");

/** A chart is a figure: a sentence with its figures, the picture, and the same as a table. */
export class Chart {
  /**
   * `lines`: { name, hue, dash } each, in the order of their data; `write`: a value as text; `log`: the axis;
   * `stacked`: areas, the last line at the bottom; `onRange([from, to])`: seconds that were chosen, null for none; `onPoint(at)`: those under the pointer.
   */
  constructor(root, { title, lines, write, log = false, stacked = false }, { onRange, onPoint }) {
    Object.assign(this, { lines, write, log, stacked, onRange, onPoint, data: [[], ...lines.map(() => [])], end: 1, range: null, marks: [] });
    this.figure = root;
    this.sentence = element("p");
    this.box = element("div", { className: "chart" });
    this.rows = element("tbody");
    const heads = ["from the start", ...lines.map(({ name }) => name)];
    this.table = element("details", {}, element("summary", {}, "As a table"),
      element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: `${title}, as a table` },
        element("table", {}, element("caption", {}, title),
          element("thead", {}, element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)))), this.rows)));
    this.table.addEventListener("toggle", () => this.tabulate());
    root.append(element("figcaption", {}, element("h3", {}, title), this.sentence), this.box, this.table);
    new ResizeObserver(() => this.fit()).observe(this.box);
    for (const query of ["(prefers-color-scheme: dark)", "(forced-colors: active)"]) {
      matchMedia(query).addEventListener("change", () => this.draw());
    }
  }

  /** `data`: seconds, then the values of each line; null where there is none. `end`: of the axis, in seconds. `marks`:
   * as in marks.js. */
  show(data, end, sentence, marks) {
    const there = JSON.stringify(data.slice(1).map(isThere));
    Object.assign(this, { data, end, marks });
    this.figure.hidden = !data.slice(1).some(isThere);
    this.sentence.textContent = sentence;
    if (!this.plot || there !== this.there) this.draw();
    else this.plot.setData(this.drawn());
    this.there = there;
    this.select(this.range);
    this.tabulate();
  }

  /** The range that is chosen, in seconds; null for the whole. */
  select(range) {
    this.range = range;
    if (!this.plot) return;
    const [from, to] = (range ?? [0, 0]).map((at) => this.plot.valToPos(at, "x"));
    this.plot.setSelect({ left: from, width: to - from, top: 0, height: range ? this.plot.over.clientHeight : 0 }, false);
  }

  // What is drawn: nothing has no logarithm, and an area stands on those below it.
  drawn() {
    const [times, ...lines] = this.data;
    if (this.log) return [times, ...lines.map((values) => values.map((value) => value || null))];
    if (this.stacked) return [times, ...lines.map((_, first) => times.map((_, i) => sum(lines.slice(first), i)))];
    return this.data;
  }

  fit() {
    if (!this.box.clientWidth) return;
    if (!this.plot) this.draw();
    else this.plot.setSize({ width: this.box.clientWidth, height: HEIGHT });
    this.select(this.range);
  }

  draw() {
    if (!this.box.clientWidth || !this.data[0].length) return;
    this.plot?.destroy();
    const style = getComputedStyle(this.box), of = (name) => style.getPropertyValue(`--${name}`).trim();
    const axis = { stroke: of("muted"), grid: { stroke: of("grid"), width: 1 }, ticks: { stroke: of("grid"), width: 1 } };
    const font = `12px ${style.fontFamily}`;
    this.plot = new uPlot({
      width: this.box.clientWidth,
      height: HEIGHT,
      cursor: { y: false, sync: { key: together.key, setSeries: false }, drag: { x: true, y: false, setScale: false }, points: { size: 7 } },
      scales: {
        x: { time: false, range: () => [0, this.end] },
        y: this.log ? { distr: 3 } : { range: (_, low, high) => [Math.min(0, low), (high || 1) * 1.08] },
      },
      axes: [
        { ...axis, font, values: (_, at) => at.map((s) => (s ? short(duration(s)) : "0 s")), space: 70 },
        { ...axis, font, values: (_, at) => at.map((value) => (value === null ? "" : short(this.write(value)))), size: 74 },
      ],
      series: [
        { label: "time", value: (_, at) => (at === null || at === undefined ? "latest" : duration(at)) },
        ...this.lines.map(({ name, hue, dash }, line) => ({
          label: name,
          show: isThere(this.data[line + 1]),
          stroke: of(hue),
          fill: this.stacked ? of(hue) : undefined,
          width: this.stacked ? 1 : 2,
          dash,
          points: { show: false },
          value: (_, _value, _line, i) => this.text(i === null ? latest(this.data[line + 1]) : this.data[line + 1][i]),
        })),
      ],
      hooks: { setSelect: [() => this.chosen()], setCursor: [() => this.pointed()], drawClear: [(plot) => this.mark(plot)] },
    }, this.drawn(), this.box);
    together.sub(this.plot);
    this.select(this.range);
  }

  // Behind the lines; uPlot draws in pixels of the screen.
  mark(plot) {
    const style = getComputedStyle(this.box), { ctx, bbox } = plot;
    const theme = Object.fromEntries(["ink", "muted", "bad"].map((name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    paintMarks(ctx, theme, this.marks, (at) => plot.valToPos(at, "x", true), bbox.top, bbox.top + bbox.height);
  }

  /** Put the cursor where the pointer is elsewhere, in seconds; null for nowhere. */
  point(at) {
    this.plot?.setCursor({ left: at === null ? -10 : this.plot.valToPos(at, "x"), top: at === null ? -10 : 0 }, false);
  }

  pointed() {
    const { left } = this.plot.cursor;
    if (this.plot.cursor.event) this.onPoint(left < 0 ? null : this.plot.posToVal(left, "x"));
  }

  chosen() {
    const { left, width } = this.plot.select;
    if (width < 3) this.onRange(null);
    else this.onRange([this.plot.posToVal(left, "x"), this.plot.posToVal(left + width, "x")]);
  }

  text(value) {
    return value === null || value === undefined ? MISSING : this.write(value);
  }

  tabulate() {
    if (!this.table.open) return;
    const [times] = this.data, step = Math.max(1, Math.ceil(times.length / ROWS));
    const kept = times.map((_, i) => i).filter((i) => i % step === step - 1 || i === times.length - 1);
    this.rows.replaceChildren(...kept.map((i) =>
      element("tr", {}, element("th", { scope: "row" }, duration(times[i])),
        ...this.data.slice(1).map((values) => element("td", { className: "figure" }, this.text(values[i]))))));
  }
}

const sum = (lines, i) => lines.reduce((total, values) => total + values[i], 0);

const isThere = (values) => values.some((value) => value !== null && value !== undefined);

const latest = (values) => values.findLast((value) => value !== null && value !== undefined);

const short = (text) => text.replace(/\.0+(?=\D|$)/, "");
