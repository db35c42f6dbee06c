// An export computes for 60 ms on the only thread, and then waits for 40 ms, while others go on.
const http = require("node:http");

const count = { exports: 0 };

function compute(ms) {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

async function exported() {
  count.exports += 1;
  compute(60);
  await new Promise((resolve) => setTimeout(resolve, 40));
  return "all of it\n";
}

const routes = { "/hello": () => "hello\n", "/export": exported, "/stats": () => JSON.stringify(count) };

http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
