// A price takes 12 ms, but for one in fifty the service behind it does not answer: it is given up after 1 s.
const http = require("node:http");

const count = { prices: 0, lost: 0 };
let seed = 113026;

function drawn() {
  seed = (seed * 48271) % 2147483647; // MINSTD
  return seed / 2147483647;
}

async function price() {
  count.prices += 1;
  const hangs = drawn() < 0.02;
  if (hangs) count.lost += 1;
  await new Promise((resolve) => setTimeout(resolve, hangs ? 1000 : 12));
  return "42\n";
}

const routes = { "/hello": () => "hello\n", "/price": price, "/stats": () => JSON.stringify(count) };

http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
