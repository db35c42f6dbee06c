// A price is asked of another service for 5 ms; one in twelve is lost, and given up after 400 ms.
const http = require("node:http");

const count = { prices: 0, lost: 0 };
let seed = 290311;

function drawn() {
  seed = (seed * 48271) % 2147483647; // MINSTD
  return seed / 2147483647;
}

function asked() {
  count.prices += 1;
  return new Promise((resolve) => {
    if (drawn() < 1 / 12) count.lost += 1;
    else setTimeout(() => resolve("12.50\n"), 5);
  });
}

function price() {
  const usual = new Promise((resolve) => setTimeout(() => resolve("about 12\n"), 400));
  return Promise.race([asked(), usual]);
}

const routes = { "/hello": () => "hello\n", "/price": price, "/stats": () => JSON.stringify(count) };

http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
