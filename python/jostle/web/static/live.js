// The page of a run that goes on, or that is over: both are drawn from the same stream.

import { Chart } from "./charts.js";
import { checksOf } from "./checks.js";
import { showFigures, showState, showTrials, showVerdict } from "./figures.js";
import { controlOf } from "./control.js";
import { showJudged, showTables } from "./parts.js";
import { cores, lateness, outcomes, rates, waiting } from "./series.js";
import { showJournal } from "./journal.js";
import { follow } from "./stream.js";
import "./token.js";
import { TrialFigure, element } from "./trial_figure.js";
import { count, duration, rate } from "./units.js";

const run = `/runs/${encodeURIComponent(document.getElementById("where").dataset.run)}`;

const live = { run: null, trial: null, columns: [], range: null, watched: null, request: null, alone: null, awaited: true };

const map = new TrialFigure(document.getElementById("map"), (chosen) => choose(chosen));
map.said.removeAttribute("role"); // it changes twice a second
const alone = element("p", { id: "alone", hidden: true }, element("span"), element("button", { type: "button", onclick: () => only(null) }, "All requests"));
map.canvas.before(alone);
document.querySelector(".side").append(map.table.closest(".scroll"));

// The line under the pointer goes through all pictures.
const at = element("div", { className: "at", hidden: true });
const around = element("div", { className: "map" });
map.canvas.replaceWith(around);
around.append(map.canvas, at);
map.canvas.addEventListener("pointermove", ({ offsetX }) => {
  const { left, width } = map.map.plot();
  const part = (offsetX - left) / width;
  point(part >= 0 && part <= 1 ? (part * map.map.shown.end) / 1e6 : null);
});
map.canvas.addEventListener("pointerleave", () => point(null));

function point(seconds) {
  for (const { chart } of charts) chart.point(seconds);
  pointed(seconds);
}

function pointed(seconds) {
  const { left, width } = map.map.plot();
  at.hidden = seconds === null;
  if (seconds !== null) at.style.left = `${left + (width * seconds * 1e6) / map.map.shown.end}px`;
}

const checks = checksOf(run);
const control = controlOf(run);

const CHARTS = {
  rates: {
    title: "Requests per second",
    lines: [{ name: "offered", hue: "muted", dash: [6, 4] }, { name: "sent", hue: "hue2" }, { name: "answered", hue: "hue1" }],
    write: rate,
    data: (columns, trial) => rates(columns, trial.rates.offered !== null),
    sentence: ({ so_far, rates }) => so_far.offered
      ? `Offered ${so_far.offered}, answered ${so_far.answered} so far; in the last interval ${rates.offered} and ${rates.answered}.`
      : `Answered ${so_far.answered} so far, and ${rates.answered} in the last interval.`,
  },
  outcomes: {
    title: "How requests end, per second",
    lines: [{ name: "failed", hue: "bad" }, { name: "ok", hue: "hue3" }],
    write: rate,
    stacked: true,
    data: outcomes,
    sentence: ({ outcomes }) => `So far ${outcomes.map(({ label, count }) => `${count} ${label}`).join(", ")}.`,
  },
  waiting: {
    title: "Due and not answered",
    lines: [{ name: "not answered", hue: "bad" }, { name: "in flight", hue: "hue1", dash: [6, 4] }],
    write: count,
    data: waiting,
    sentence: ({ in_flight, not_sent }) => `${in_flight} in flight${not_sent ? `, and ${not_sent} that could not be sent yet` : ""}.`,
  },
  cores: {
    title: "Cores in use",
    lines: [
      { name: "server", hue: "hue1" },
      { name: "database", hue: "hue3" },
      { name: "machine", hue: "muted", dash: [2, 3] },
      { name: "generator", hue: "hue2", dash: [6, 4] },
    ],
    write: (value) => value.toFixed(2),
    data: (columns, trial) => cores(columns, trial.usage),
    sentence: ({ cpu }) => `${cpu.map(({ name, cores }) => `${name} ${cores}`).join(", ")}; of the generator, its busiest thread.`,
  },
  lateness: {
    title: "Lateness of the generator (p99)",
    lines: [{ name: "late", hue: "hue2" }],
    write: duration,
    log: true,
    data: lateness,
    sentence: ({ late }) => late ? `99 % of the requests were sent within ${late} of when they were due.` : "This load is not paced: nothing can be late.",
  },
};

const charts = Object.entries(CHARTS).map(([name, of]) => {
  const figure = element("figure", { id: `chart-${name}` });
  document.getElementById("charts").append(figure);
  return { name, of, figure, chart: new Chart(figure, of, { onRange: chooseSeconds, onPoint: pointed }) };
});

// On a narrow screen one chart is seen at a time.
const tabs = charts.map(({ name, of, figure }) => {
  const tab = element("button", { type: "button", onclick: () => reveal(name) }, of.title);
  document.getElementById("tabs").append(tab);
  return { name, tab, figure };
});

function reveal(chosen) {
  for (const { name, tab, figure } of tabs) {
    tab.ariaPressed = name === chosen;
    figure.classList.toggle("chosen", name === chosen);
  }
}
reveal("rates");

document.addEventListener("keydown", (event) => event.key === "Escape" && live.trial && map.choose(null));

function choose(range) {
  const { columns } = live;
  live.range = range && [columns[range[0]].start / 1e6, columns[range[1]].end / 1e6];
  for (const { chart } of charts) chart.select(live.range);
  checks.choose(live.trial, live.range);
}

// The columns of which at least a part lies within these seconds.
function chooseSeconds(range) {
  if (!range) return map.choose(null);
  const { columns } = live, [from, to] = range.map((at) => at * 1e6);
  const first = columns.findIndex(({ end }) => end > from), last = columns.findLastIndex(({ start }) => start < to);
  return map.choose(first < 0 || last < first ? null : [first, last]);
}

function told(message) {
  if (message.run) {
    live.run = message.run;
    showTrials(message.run, live.trial?.number, watch);
    showJournal(message.run.journal);
    showTables(document.getElementById("cells"), message.run.tables);
    showJudged(message.run);
  }
  if (message.trial) {
    const before = live.trial?.number;
    live.trial = message.trial;
    live.awaited = false;
    if (before !== message.trial.number) {
      live.range = map.range = null;
      showTrials(live.run, message.trial.number, watch);
    }
    const { begin, columns, alone } = message.columns;
    live.columns = [...live.columns.slice(0, begin), ...columns];
    live.alone = alone && [...(live.alone ?? []).slice(0, begin), ...alone];
    show();
  }
  showState(live);
  control(live);
  if (isOver()) end();
}

function show() {
  const { trial, columns, range } = live;
  document.getElementById("live").hidden = false;
  const end = Math.max(trial.planned_s ?? 0, trial.over_s);
  map.range = range && inColumns(range);
  const shown = { end: end * 1e6, marks: trial.marks, overloaded: trial.overloaded, labels: trial.labels };
  if (live.alone) map.show({ ...shown, columns: live.alone, limits: [], alone: true });
  else map.show({ ...shown, columns, limits: trial.limits, offered: trial.rates.offered !== null, whole: trial.whole });
  alone.hidden = !live.alone;
  alone.firstChild.textContent = `Only ${nameOf(live.request)}. `;
  for (const { chart, of } of charts) chart.show(of.data(columns, trial), end, of.sentence(trial), trial.marks);
  showVerdict(trial);
  showFigures(trial);
  showTables(document.getElementById("parts"), trial.parts, { chosen: live.alone && live.request, choose: only });
}

function nameOf(request) {
  const tables = live.trial.parts.filter(({ keys }) => keys?.includes(request));
  return tables.map(({ keys, rows }) => rows[keys.indexOf(request)][0]).join();
}

// The heat map of one request, by its key; null for that of all. The same one again: of all.
function only(request) {
  live.request = request === live.request ? null : request;
  subscribe();
}

// A range stays where it is in time when columns are merged.
function inColumns([from, to]) {
  const { columns } = live;
  const first = columns.findIndex(({ end }) => end / 1e6 > from + 1e-9), last = columns.findLastIndex(({ start }) => start / 1e6 < to - 1e-9);
  return first < 0 || last < first ? null : [first, last];
}

let end = () => {};

function watch(number) {
  Object.assign(live, { trial: null, columns: [], range: null, watched: number, request: null, alone: null });
  subscribe();
}

function subscribe() {
  end();
  live.awaited = true;
  const wanted = Object.entries({ trial: live.watched, request: live.request }).filter(([, value]) => value !== null);
  end = follow(`${run}/events?${new URLSearchParams(wanted)}`, told, (what) => showState(live, what));
}

// Whether nothing more will come, so that the connection is given back.
function isOver() {
  if (!live.run || live.run.status === "running" || !live.run.final) return false;
  return live.awaited ? live.run.newest === null : !live.trial.reading;
}

watch(new URLSearchParams(location.search).get("trial"));
