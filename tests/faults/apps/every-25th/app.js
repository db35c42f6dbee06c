// Every 25th entry of the log is written to the disk at once, for 100 ms, while all others wait.
const http = require("node:http");

const count = { entries: 0, flushes: 0 };

async function log() {
  count.entries += 1;
  if (count.entries % 25 === 0) {
    count.flushes += 1;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100); // as a synchronous write
  }
  await new Promise((resolve) => setTimeout(resolve, 3));
  return "written\n";
}

const routes = { "/hello": () => "hello\n", "/log": log, "/stats": () => JSON.stringify(count) };

http
  .createServer(async (request, response) => {
    const route = routes[request.url.split("?")[0]];
    if (!route) return response.writeHead(404).end();
    response.end(await route());
  })
  .listen(Number(process.env.PORT), process.env.HOST);
