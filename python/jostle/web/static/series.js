// What the charts show of the columns of a trial: seconds, then the values of each line.

import uPlot from "./uplot.js";

/** Outcomes that are neither right nor wrong: the end of the load cut these off. */
const CUT_OFF = ["never_sent", "unfinished"];

const seconds = ({ start, end }) => (end - start) / 1e6;

const ok = ({ outcomes }) => outcomes.ok ?? 0;

const middles = (columns) => columns.map(({ start, end }) => (start + end) / 2e6);

function failed({ outcomes }) {
  const failures = Object.entries(outcomes).filter(([kind]) => kind !== "ok" && !CUT_OFF.includes(kind));
  return failures.reduce((sum, [, count]) => sum + count, 0);
}

/** Offered, sent and answered per second; what is offered is known in an open loop. */
export function rates(columns, open) {
  const per = (count) => columns.map((column) => count(column) / seconds(column));
  return [middles(columns), open ? per(({ due }) => due) : columns.map(() => null), per(({ sent }) => sent), per(ok)];
}

/** Failures and right responses per second. */
export function outcomes(columns) {
  const per = (count) => columns.map((column) => count(column) / seconds(column));
  return [middles(columns), per(failed), per(ok)];
}

/** Due and not answered, and those of them that were sent. */
export function waiting(columns) {
  return [middles(columns), columns.map((column) => column.unanswered), columns.map((column) => column.in_flight)];
}

/** The p99 of the generator's lateness. */
export function lateness(columns) {
  return [middles(columns), columns.map((column) => column.late_s)];
}

/** Cores in use by the server, its database, the machine, and the generator's busiest thread. */
export function cores(columns, usage) {
  const watched = ["server", "database", "machine"].map((name) => usage[name] ?? [[], []]);
  return uPlot.join([...watched, [middles(columns), columns.map((column) => column.generator)]]);
}
