// A cart needs one of six connections to the session store, for 50 ms.
const http = require("node:http");

let [free, now, most] = [6, 0, 0];
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

async function cart() {
  await connection();
  await new Promise((resolve) => setTimeout(resolve, 50));
  release();
  return "tea, more tea\n";
}

const routes = { "/hello": () => "hello\n", "/cart": cart, "/stats": () => JSON.stringify({ most }) };

http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
