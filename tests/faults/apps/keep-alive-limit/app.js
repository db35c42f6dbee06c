// Nothing is wrong here: nginx in front of it closes each connection after 1,000 requests.
const http = require("node:http");

const routes = { "/hello": () => "hello\n", "/stats": () => "{}" };

http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
