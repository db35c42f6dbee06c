// Quantiles of added histograms, as `jostle.analysis.stats.quantile_ci` estimates them, with the same notes.

export const LEVELS = { p50: 0.5, p90: 0.9, p95: 0.95, p99: 0.99, "p99.9": 0.999 };

const SLOTS = 23 << 10, HALF = 1 << 10;
const CONFIDENCE = 0.95, AT_RISK = 20, STANDS_FOR = 1.5;
const DEVIATIONS = 40;

/** The highest time (µs) of a slot of a histogram. */
export function highest(place) {
  const bucket = Math.floor(place / HALF) - 1;
  if (bucket < 0) return place;
  return ((place % HALF) + HALF + 1) * 2 ** bucket - 1;
}

/** The lowest time (µs) of a slot. */
export function lowest(place) {
  const bucket = Math.floor(place / HALF) - 1;
  return bucket < 0 ? place : ((place % HALF) + HALF) * 2 ** bucket;
}

/** Calls `each(place, count)` for every slot of a recorded histogram: steps and counts in turn. */
export function eachSlot(pairs, each) {
  let place = -1;
  for (let i = 0; i < pairs.length; i += 2) each((place += pairs[i]), pairs[i + 1]);
}

/** A sample of times that ended, of times that were given up, and of requests that have none. */
export function sample(responses, givenUp, never, overloaded) {
  const events = new Float64Array(SLOTS), censored = new Float64Array(SLOTS);
  for (const pairs of responses) eachSlot(pairs, (place, count) => (events[place] += count));
  for (const pairs of givenUp) eachSlot(pairs, (place, count) => (censored[place] += count));
  if (overloaded) never += cutOff(censored);
  const found = { values: [], events: [], censored: [], never, answered: 0, n: never };
  for (let place = 0; place < SLOTS; place++) {
    const here = events[place] + censored[place];
    if (!here) continue;
    found.values.push(highest(place) / 1e6);
    found.events.push(events[place]);
    found.censored.push(censored[place]);
    found.answered += events[place];
    found.n += here;
  }
  return found;
}

// Of an overload that the stop cut off, the requests given up are the slowest: only the longest wait says more.
function cutOff(censored) {
  const longest = censored.findLastIndex((count) => count > 0);
  if (longest < 0) return 0;
  const others = censored.reduce((sum, count) => sum + count, 0) - 1;
  censored.fill(0)[longest] = 1;
  return others;
}

/** The figures of `LEVELS` and "max": { value, bound, note } each, in seconds. */
export function estimates(found) {
  const curve = found.values.length ? knownPart(found) : null;
  const named = Object.entries(LEVELS).map(([name, p]) => [name, estimate(found, curve, p)]);
  return { ...Object.fromEntries(named), max: largest(found) };
}

const missing = (note) => ({ value: null, bound: "", note });

const nothing = (found) => missing(found.n ? "nothing was answered as expected" : "nothing was measured");

const needed = (p, tail) => Math.ceil(Math.log(tail) / Math.log(p));

function estimate(found, curve, p) {
  if (!curve) return nothing(found);
  if (!curve.cdf.length) return missing("too few were answered, among those that were given up");
  if (p > 0.5 && found.n < needed(p, 1 - CONFIDENCE)) {
    return missing(`needs at least ${needed(p, 1 - CONFIDENCE).toLocaleString("en-US")} requests`);
  }
  const n = Math.trunc(Math.round(effectiveN(curve, p, found.n) * 1e6) / 1e6);
  const [low, high] = interval(curve, p, n);
  const value = halfway(curve, p, found.n);
  if (value === null) {
    return { value: curve.values.at(-1), bound: "≥", note: "so many failed, or were given up" };
  }
  if (low !== null && high === null) {
    return { value: low, bound: "≥", note: `an upper bound needs at least ${needed(p, (1 - CONFIDENCE) / 2)} requests` };
  }
  return { value, bound: "", note: "" };
}

function largest(found) {
  if (!found.values.length) return nothing(found);
  const open = found.never > 0 || (found.censored.at(-1) > 0 && found.events.at(-1) === 0);
  return { value: found.values.at(-1), bound: open ? "≥" : "", note: "" };
}

// Kaplan-Meier, up to where a handful of requests stands for too many others.
function knownPart({ values, events, censored, n, answered }) {
  const cdf = [], variance = [];
  const anyGivenUp = censored.some((count) => count > 0);
  let gone = 0, survival = 1, sum = 0;
  for (let i = 0; i < values.length; i++) {
    const atRisk = n - gone;
    const before = i ? cdf[i - 1] : 0;
    if (anyGivenUp && atRisk < AT_RISK && ((1 - before) * n) / atRisk > STANDS_FOR) break;
    gone += events[i] + censored[i];
    survival *= 1 - events[i] / atRisk;
    cdf.push(answered === n ? gone / n : 1 - survival);
    const left = atRisk - events[i];
    sum += left > 0 ? events[i] / (atRisk * left) : 0;
    variance.push(sum);
  }
  return { values, cdf, variance };
}

function firstAtLeast(sorted, wanted) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

function quantile({ values, cdf }, p) {
  const index = firstAtLeast(cdf, p - 1e-12);
  return index < cdf.length ? values[index] : null;
}

// Halfway between ranks np and np + 1 (Hazen).
function halfway(curve, p, n) {
  const position = n * p + 0.5;
  const rank = Math.floor(position + 1e-9);
  const below = quantile(curve, Math.max(rank, 1) / n), above = quantile(curve, Math.min(rank + 1, n) / n);
  const part = Math.max(0, position - rank);
  if (below === null || (above === null && part > 1e-9)) return null;
  return above === null ? below : below + (above - below) * part;
}

function effectiveN({ cdf, variance }, p, n) {
  const index = Math.min(firstAtLeast(cdf, p - 1e-12), cdf.length - 1);
  const at = cdf[index], spread = variance[index];
  return at > 0 && at < 1 && spread > 0 ? Math.min(n, at / ((1 - at) * spread)) : n;
}

function interval(curve, p, n) {
  if (n < 1) return [null, null];
  const tail = (1 - CONFIDENCE) / 2;
  const ranks = binomialQuantiles([tail, 1 - tail], n, p);
  const low = ranks[0], high = ranks[1] + 1;
  return [low >= 1 ? quantile(curve, low / n) : null, high <= n ? quantile(curve, high / n) : null];
}

// The smallest k with P(Bin(n, p) ≤ k) ≥ q, for each q.
function binomialQuantiles(qs, n, p) {
  const mode = Math.min(n, Math.floor((n + 1) * p));
  const reach = Math.ceil(DEVIATIONS * Math.sqrt(n * p * (1 - p))) + DEVIATIONS;
  const first = Math.max(0, mode - reach), last = Math.min(n, mode + reach);
  const logs = [0];
  for (let k = first; k < last; k++) {
    logs.push(logs.at(-1) + Math.log(n - k) - Math.log(k + 1) + Math.log(p) - Math.log1p(-p));
  }
  const most = logs.reduce((a, b) => Math.max(a, b));
  let sum = 0;
  const sums = logs.map((log) => (sum += Math.exp(log - most)));
  return qs.map((q) => Math.min(n, first + firstAtLeast(sums, q * sum)));
}
