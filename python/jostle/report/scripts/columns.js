// The columns of a heat map, as `jostle.live.column.Column.as_data` gives them, and the figures of a range of them.

import { eachSlot, estimates, highest, lowest, sample } from "./quantiles.js";

export const PER_DECADE = 24, BINS = 192;

const COUNTED = ["ok", "never_sent", "unfinished"];

/** The bin of the axis in which a time (µs) lies. */
export function binOf(us) {
  return Math.min(BINS - 1, Math.floor(PER_DECADE * Math.log10(Math.max(us, 1))));
}

/** What a picture shows of each interval: counts by bin, p50 and p99 (s). */
export function drawn(column) {
  const bins = new Float64Array(BINS);
  eachSlot(column.response, (place, count) => (bins[binOf((lowest(place) + highest(place)) / 2)] += count));
  return { ...column, bins, p50: quantileOf(column.response, 0.5), p99: quantileOf(column.response, 0.99) };
}

/** All that is said of some columns: exact, since histograms add. Times are in seconds. */
export function figuresOf(columns, overloaded) {
  const all = (name) => columns.map((column) => column[name]);
  const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const outcomes = {};
  for (const counts of all("outcomes")) {
    for (const [kind, count] of Object.entries(counts)) outcomes[kind] = (outcomes[kind] ?? 0) + count;
  }
  const failures = sum(Object.entries(outcomes).map(([kind, count]) => (COUNTED.includes(kind) ? 0 : count)));
  const ok = outcomes.ok ?? 0;
  const seconds = columns.length ? (columns.at(-1).end - columns[0].start) / 1e6 : 0;
  return {
    from: columns.length ? columns[0].start / 1e6 : 0,
    to: columns.length ? columns.at(-1).end / 1e6 : 0,
    times: estimates(sample(all("response"), all("given_up"), sum(all("never")), overloaded)),
    answered: ok / (seconds || 1),
    offered: sum(all("due")) / (seconds || 1),
    outcomes,
    failed: failures ? failures / (failures + ok) : 0,
    unanswered: Math.max(0, ...all("unanswered")),
    late: quantileOf(added(all("pacing")), 0.99),
  };
}

function added(histograms) {
  const counts = new Map();
  for (const pairs of histograms) {
    eachSlot(pairs, (place, count) => counts.set(place, (counts.get(place) ?? 0) + count));
  }
  let before = -1;
  return [...counts].sort(([a], [b]) => a - b).flatMap(([place, count]) => {
    const step = place - before;
    before = place;
    return [step, count];
  });
}

// The time that a share of them do not exceed; null for nothing.
function quantileOf(pairs, p) {
  let total = 0, found = null, seen = 0;
  eachSlot(pairs, (_, count) => (total += count));
  eachSlot(pairs, (place, count) => {
    seen += count;
    if (found === null && seen >= p * total - 1e-9) found = highest(place) / 1e6;
  });
  return found;
}
