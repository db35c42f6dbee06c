// Every session keeps 64 kB for ever.
const http = require("node:http");

const sessions = [];

function session() {
  sessions.push(Buffer.alloc(64 * 1024, sessions.length));
  return "welcome\n";
}

const routes = {
  "/hello": () => "hello\n",
  "/session": session,
  "/stats": () => JSON.stringify({ sessions: sessions.length }),
};

http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
