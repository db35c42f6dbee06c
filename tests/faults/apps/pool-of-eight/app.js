// A search needs one of eight connections to the index, for 25 ms.
const express = require("express");

const app = express();
let [free, now, most] = [8, 0, 0];
const waiting = [];

async function connection() {
  if (free > 0) free -= 1;
  else await new Promise((resolve) => waiting.push(resolve));
  most = Math.max(most, (now += 1));
}

function release() {
  now -= 1;
  const next = waiting.shift();
  if (next) next();
  else free += 1;
}

app.get("/hello", (_request, response) => response.send("hello\n"));

app.get("/search", async (_request, response) => {
  await connection();
  await new Promise((resolve) => setTimeout(resolve, 25));
  release();
  response.json({ found: ["tea"] });
});

app.get("/stats", (_request, response) => response.json({ most }));

app.listen(Number(process.env.PORT), process.env.HOST);
