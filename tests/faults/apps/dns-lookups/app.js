// Each rate of a partner looks up his name, uncached; 4 % of the questions are lost, and asked again after 2 s.
const dgram = require("node:dgram");
const dns = require("node:dns/promises");
const http = require("node:http");

const count = { lookups: 0, lost: 0 };
let seed = 4711815;

function drawn() {
  seed = (seed * 48271) % 2147483647; // MINSTD
  return seed / 2147483647;
}

const names = dgram.createSocket("udp4"); // answers every question with 192.0.2.1
names.on("message", (question, from) => {
  if (drawn() < 0.04) return void (count.lost += 1);
  const head = Buffer.from([...question.subarray(0, 2), 0x81, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
  const asked = question.subarray(12, question.indexOf(0, 12) + 5);
  const found = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 192, 0, 2, 1]);
  setTimeout(() => names.send(Buffer.concat([head, asked, found]), from.port, from.address), 3);
});

let server;

async function rate() {
  count.lookups += 1;
  // One that has learned asks again sooner. Node looks once a second for what has timed out, so after 2 s.
  const resolver = new dns.Resolver({ timeout: 1500, tries: 4 });
  resolver.setServers([server]);
  await resolver.resolve4("partner.example");
  return "1.08\n";
}

const routes = { "/hello": () => "hello\n", "/rate": rate, "/stats": () => JSON.stringify(count) };

names.bind(0, "127.0.0.1", () => {
  server = `127.0.0.1:${names.address().port}`;
  http
    .createServer(async (request, response) => {
      const route = routes[request.url.split("?")[0]];
      if (!route) return response.writeHead(404).end();
      response.end(await route());
    })
    .listen(Number(process.env.PORT), process.env.HOST);
});
