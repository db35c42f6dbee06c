// Every 10 s the only thread makes a backup, for 400 ms.
const http = require("node:http");

const began = [];

setInterval(() => {
  began.push(Date.now() / 1000);
  const end = performance.now() + 400;
  while (performance.now() < end);
}, 10_000);

const routes = { "/hello": () => "hello\n", "/stats": () => JSON.stringify({ began }) };

http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
