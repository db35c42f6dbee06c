// At random, every 1.2 s on average, the collector stops the only thread for 40 to 80 ms.
const http = require("node:http");

const began = [];
let seed = 20261129;

function drawn() {
  seed = (seed * 48271) % 2147483647; // MINSTD
  return seed / 2147483647;
}

function later() {
  setTimeout(() => {
    began.push(Date.now() / 1000);
    const end = performance.now() + 40 + 40 * drawn();
    while (performance.now() < end);
    later();
  }, -1200 * Math.log(drawn()));
}

const routes = { "/hello": () => "hello\n", "/stats": () => JSON.stringify({ began }) };

later();
http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
