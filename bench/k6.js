// What k6 is told: a closed loop of VUS clients, or RATE requests per second over at most VUS of them.
import http from "k6/http";

const vus = Number(__ENV.VUS), rate = Number(__ENV.RATE), duration = `${__ENV.SECONDS}s`;
const closed = { executor: "constant-vus", vus, duration };
const open = { executor: "constant-arrival-rate", rate, timeUnit: "1s", duration, preAllocatedVUs: vus, maxVUs: vus };

export const options = { scenarios: { load: rate ? open : closed }, discardResponseBodies: true,
  summaryTrendStats: ["med", "p(99)", "max"] };

export function handleSummary(data) {
  return { stdout: JSON.stringify({ ...data.metrics.http_req_duration.values, rate: data.metrics.http_reqs.values.rate }) };
}

export default function () {
  http.get(__ENV.URL);
}
