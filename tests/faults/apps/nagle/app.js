// Head and body are written apart without TCP_NODELAY: the body waits for the acknowledgement of the head.
const http = require("node:http");

function price(response) {
  response.writeHead(200, { "Content-Length": 6 });
  response.flushHeaders();
  setImmediate(() => response.end("12.50\n"));
}

const routes = { "/price": price, "/stats": (response) => response.end("{}") };

http
  .createServer({ noDelay: false }, (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    route(response);
  })
  .listen(Number(process.env.PORT), process.env.HOST);
