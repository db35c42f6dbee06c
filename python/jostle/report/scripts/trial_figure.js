// The figure of one trial: its heat map, a range of it that can be chosen, and the figures of that range beside
// those of the whole trial.

import { drawn, figuresOf } from "./columns.js";
import { HeatMap } from "./heat_map.js";
import { marksAsText } from "./marks.js";
import { LEVELS } from "./quantiles.js";
import { MISSING, count, duration, rate, share } from "./units.js";

const TIMES = { ...Object.fromEntries(Object.keys(LEVELS).map((name) => [name, name])), max: "longest" };

export class TrialFigure {
  /** `root`: an element that is filled. `onChoose`: called with the range whenever one is chosen, or none. */
  constructor(root, onChoose = () => {}) {
    this.onChoose = onChoose;
    this.range = null;
    this.canvas = element("canvas", { role: "img" });
    this.said = element("p", { role: "status", className: "said" });
    this.marked = element("p", { className: "facts" });
    this.ends = [0, 1].map((i) => this.slider(i));
    this.whole = element("button", { type: "button", onclick: () => this.choose(null) }, "Whole run (Esc)");
    this.table = element("tbody");
    this.heads = ["", "in this range", "whole run"].map((text) => element("th", { scope: "col" }, text));
    root.append(
      this.canvas,
      this.marked,
      element("div", { className: "range" }, ...this.ends.map(({ label }) => label), this.whole),
      this.said,
      element("div", { className: "scroll", tabIndex: 0, role: "region", ariaLabel: "Figures of the range" },
        element("table", {}, element("caption", {}, "Figures of the range and of the whole run"),
          element("thead", {}, element("tr", {}, ...this.heads)), this.table)),
    );
    this.map = new HeatMap(this.canvas, (first, last) => this.choose([first, last]));
    root.addEventListener("keydown", (event) => event.key === "Escape" && this.choose(null));
  }

  /** `trial`: its columns as recorded, `end` of the axis in µs, what was `offered`, `overloaded`, its `limits` and `marks`,
   * names of outcomes in `labels`; `whole`: times of the whole trial, if they are known better than from its columns;
   * `alone`: whether it is one request of several, of which nobody knows what is due.
   * A range that was chosen stays where it is. */
  show(trial) {
    this.trial = trial;
    this.map.show(trial.columns.map(drawn), trial.end, trial.limits.filter((one) => one.metric in TIMES).map(
      ({ limit, text }) => ({ seconds: limit, text: text.split(" ")[0] }),
    ), trial.marks);
    this.marked.textContent = marksAsText(trial.marks, duration);
    this.marked.hidden = !trial.marks.length;
    for (const { input } of this.ends) input.max = trial.columns.length - 1;
    this.choose(this.range);
  }

  /** The first and the last column of a range; null for the whole trial. */
  choose(range) {
    const { columns, overloaded, whole } = this.trial, last = columns.length - 1;
    if (range && (range[1] > last || (range[0] === 0 && range[1] === last))) range = null;
    this.range = range;
    this.map.select(range);
    const [from, to] = range ?? [0, last];
    this.ends.forEach(({ input, output }, i) => {
      const column = columns[i ? to : from];
      input.value = i ? to : from;
      input.ariaValueText = output.textContent = duration((i ? column.end : column.start) / 1e6);
    });
    this.whole.disabled = !range;
    const all = figuresOf(columns, overloaded);
    all.times = whole ?? all.times;
    const chosen = range ? figuresOf(columns.slice(from, to + 1), overloaded) : all;
    this.canvas.ariaLabel = this.said.textContent = this.sentence(chosen, range);
    this.heads[1].textContent = range ? "in this range" : "whole run";
    this.table.replaceChildren(...this.rows(chosen, all).map(([name, here, whole]) =>
      element("tr", {}, element("th", { scope: "row" }, name),
        element("td", { className: "figure" }, here), element("td", { className: "figure" }, range ? whole : here))));
    this.table.closest("table").classList.toggle("whole", !range);
    this.onChoose(range);
  }

  sentence(found, range) {
    const where = range ? `From ${duration(found.from)} to ${duration(found.to)}` : "In the whole run";
    const times = ["p50", "p99", "max"].filter((name) => found.times[name].value !== null);
    const said = times.map((name) => `${TIMES[name]} ${text(found.times[name])}`);
    const ok = found.outcomes.ok ?? 0;
    const waiting = found.unanswered && !this.trial.alone ? `; at most ${count(found.unanswered)} due and not answered` : "";
    return `${where}, ${count(ok)} requests were answered${said.length ? `: ${said.join(", ")}` : ""}; `
      + `${share(found.failed)} failed${waiting}.`;
  }

  rows(here, whole) {
    const row = (name, figure) => [name, figure(here), figure(whole)];
    const { alone, labels, offered, limits } = this.trial;
    return [
      ...(offered ? [row("offered", (found) => rate(found.offered))] : []),
      row("answered", (found) => rate(found.answered)),
      ...Object.entries(TIMES).map(([name, title]) => row(title, (found) => text(found.times[name]))),
      row("failed", (found) => share(found.failed)),
      ...Object.keys(whole.outcomes).map((kind) =>
        row(labels[kind] ?? kind, (found) => count(found.outcomes[kind] ?? 0))),
      ...(alone ? [] : [row("due, not answered (most)", (found) => count(found.unanswered))]),
      ...(whole.late === null ? [] : [row("generator late (p99)", (found) => found.late === null ? MISSING : duration(found.late))]),
      ...limits.map((limit) => row(limit.text, (found) => judged(limit, found))),
    ];
  }

  // A native slider for an end of the range: for the keyboard, for thumbs, for screen readers.
  slider(i) {
    const output = element("output");
    const input = element("input", { type: "range", min: 0 });
    input.addEventListener("input", () => {
      const at = Number(input.value), other = Number(this.ends[1 - i].input.value);
      this.choose(i ? [Math.min(other, at), at] : [at, Math.max(other, at)]);
    });
    return { input, output, label: element("label", {}, i ? "to" : "from", input, output) };
  }
}

function text({ value, bound }) {
  return value === null ? MISSING : `${bound ? `${bound} ` : ""}${duration(value)}`;
}

// Whether the value itself keeps a limit; of the whole run, the report judges by the interval.
function judged({ metric, limit, below, touching }, found) {
  const time = found.times[metric];
  const value = time ? time.value : metric === "errors" ? found.failed : found.answered;
  if (value === null) return MISSING;
  const kept = (touching && value === limit) || (below ? value < limit && time?.bound !== "≥" : value > limit);
  return kept ? "✓ holds" : "✗ does not hold";
}

/** An element with properties and children. */
export function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}
