// Nothing is wrong here: nginx in front of it lets 20 requests a second pass, after 10 at once.
const http = require("node:http");

const count = { passed: 0 };

function hello() {
  count.passed += 1;
  return "hello\n";
}

const routes = { "/hello": hello, "/stats": () => JSON.stringify(count) };

http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
