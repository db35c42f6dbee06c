// The journey of sections/journeys.py: five steps, three captures, a JSON body. VUS clients for SECONDS.
import http from "k6/http";

export const options = {
  scenarios: { load: { executor: "constant-vus", vus: Number(__ENV.VUS), duration: `${__ENV.SECONDS}s` } },
  summaryTrendStats: ["med", "p(99)"],
};

export function handleSummary(data) {
  return { stdout: JSON.stringify(data.metrics.http_req_duration.values) };
}

const json = { headers: { "Content-Type": "application/json" } };

export default function () {
  const base = __ENV.URL;
  const login = http.post(`${base}login`, JSON.stringify({ user: `user ${__VU}`, password: "secret" }), json);
  const token = login.json("user.token");
  const found = http.get(`${base}search?q=tea`).body.match(/"id": "(\d+)"/)[1];
  const price = http.get(`${base}items/${found}`).json("items.0.price");
  const headers = { "Content-Type": "application/json", Authorization: `Bearer ${token}` };
  http.post(`${base}orders/${found}`, JSON.stringify({ price: price }), { headers: headers });
  http.get(`${base}orders`, { headers: { Authorization: `Bearer ${token}` } });
}
