// A search takes 4 ms, but one in fifty computes for 120 ms on the only thread, and all others wait.
const http = require("node:http");

const count = { searches: 0, large: 0 };
let seed = 112926;

function drawn() {
  seed = (seed * 48271) % 2147483647; // MINSTD
  return seed / 2147483647;
}

async function search() {
  count.searches += 1;
  if (drawn() < 0.02) {
    count.large += 1;
    const end = performance.now() + 120;
    while (performance.now() < end);
  } else {
    await new Promise((resolve) => setTimeout(resolve, 4));
  }
  return "tea\n";
}

const routes = { "/hello": () => "hello\n", "/search": search, "/stats": () => JSON.stringify(count) };

http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
