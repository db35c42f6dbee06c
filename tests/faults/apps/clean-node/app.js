// Nothing is wrong: a search waits for another service, for as long as it takes, and holds up nobody.
const http = require("node:http");

let [now, most] = [0, 0];

async function search() {
  most = Math.max(most, (now += 1));
  await new Promise((resolve) => setTimeout(resolve, 20));
  now -= 1;
  return "tea\n";
}

const routes = { "/hello": () => "hello\n", "/search": search, "/stats": () => JSON.stringify({ most }) };

http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
