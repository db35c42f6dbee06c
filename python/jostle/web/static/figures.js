// What stands in words and figures above the charts and below them.

import { element } from "./trial_figure.js";

const AT_MOST_EVERY_MS = 10_000;

const STATES = {
  running: "The run goes on.",
  ended: "The run has ended.",
  stopped: "The run was stopped.",
  killed: "The run ended without a word: jostle was killed, or could write no more.",
  damaged: "The record of the run cannot be read any further:",
  gone: "The folder of the run is gone. What was read of it stays here until you leave.",
};

const CONNECTION = {
  hidden: "Paused while this tab is hidden.",
  unable: "This run cannot be followed here.",
  lost: "Nobody answers at this address: the page of jostle has ended, or cannot be reached. Trying again …",
};

const byId = (id) => document.getElementById(id);

/** How the run is, and whether anybody tells of it: `what` as `follow` calls it. */
export function showState(live, what = "open") {
  const { run, trial } = live;
  byId("unable").hidden = what !== "unable";
  const why = run?.why ? ` ${run.why}.` : "";
  let text = run ? `${STATES[run.status]}${why}` : "Reading the record …";
  if (what !== "open") text = CONNECTION[what] ?? what;
  else if (run?.status === "running" && !trial) text = "The run goes on; no load is sent at the moment.";
  if (run?.damage) text += ` ${run.damage}.`;
  if (byId("state").textContent !== text) byId("state").textContent = text;
}

/** The verdict in a line, and behind it the first reason. */
export function showVerdict({ verdict: { word, symbol, told }, over: isOver }) {
  const kind = { valid: "good", suspect: "warning", invalid: "bad" }[word];
  byId("verdict").className = `verdict ${kind}`;
  const text = told.length ? `: ${told[0].message}` : ": nothing speaks against the figures";
  byId("verdict").replaceChildren(element("h2", {}, `${symbol} ${word}${isOver ? "" : " so far"}`), element("span", {}, text));
}

let spoken = 0;

/** The figures of the trial: how far it is, what its last interval says, and what is known of it as a whole. */
export function showFigures(trial) {
  const { planned_s, over_s } = trial;
  byId("where").textContent = `${trial.contestant}, ${trial.workload}, round ${trial.round}`;
  const progress = byId("progress");
  if (planned_s) Object.assign(progress, { max: planned_s, value: Math.min(over_s, planned_s) });
  else progress.removeAttribute("value");
  byId("left").textContent = planned_s ? `${trial.past} of ${trial.planned}` : trial.past;
  const time = (name) => trial.times.find((one) => one.name === name) ?? { value: "–", interval: "" };
  const figures = [
    ["offered", trial.rates.offered, trial.so_far.offered],
    ["answered", trial.rates.answered, trial.so_far.answered],
    ["p50", trial.latest.p50, time("p50").value],
    ["p99", trial.latest.p99, time("p99").value],
    ["longest", trial.latest.max, time("max").value],
    ["in flight", trial.in_flight, null],
    ["not sent yet", trial.not_sent, null],
    ["failed", trial.failed, null],
  ].filter(([, now]) => now !== null);
  byId("figures").replaceChildren(...figures.map(([name, now, whole]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, now),
      ...(whole === null ? [] : [element("dd", { className: "whole" }, `${trial.over ? "in all" : "so far"} ${whole}`)]))));
  if (Date.now() - spoken < AT_MOST_EVERY_MS) return;
  spoken = Date.now();
  byId("aloud").textContent =
    `${trial.past} over: ${trial.rates.answered} answered, p99 ${trial.latest.p99}, so far ${time("p99").value}; ${trial.failed} failed.`;
}

/** All trials of the run; `watch(number)` opens one, null the one that began last. */
export function showTrials(run, shown, watch) {
  byId("trials").replaceChildren(...run.trials.map((trial) => {
    const begun = trial.status !== "planned";
    const name = begun
      ? element("button", { type: "button", ariaPressed: trial.number === shown, onclick: () => watch(trial.number) }, `${trial.number}`)
      : `${trial.number}`;
    const ended = trial.verdict ? `${trial.verdict.symbol} ${trial.verdict.word}` : trial.status;
    const cells = [["contestant", trial.contestant], ["workload", trial.workload], ["round", trial.round], ["how it ended", ended]];
    return element("tr", {}, element("th", { scope: "row" }, name), ...cells.map(([label, text]) => {
      const cell = element("td", {}, text);
      cell.dataset.label = label;
      return cell;
    }));
  }));
}
