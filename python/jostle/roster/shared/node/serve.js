'use strict';

// The contract on Node's own http module: answers by their type.

const { parse } = require('node:querystring');
const { pipeline } = require('node:stream/promises');
const { Events, Html, router } = require('./routes');
const sockets = require('./sockets');
const work = require('./work');

const { HttpError } = work;

function send(res, status, type, body, headers = {}) {
  res.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body), ...headers });
  res.end(body);
}

async function stream(req, res, events) {
  res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
  if (req.method === 'HEAD') res.end();
  else await pipeline(events, res).catch(() => {}); // fails when the client has gone: nobody is left to tell
}

// about: what `GET /` answers; compute(name, n): runs a computation, and gives its result or a promise of it;
// pages(database): what else the server has, as a function of a request that gives undefined for what is not its own.
module.exports = function serve(about, compute = work.inline, pages = () => () => undefined) {
  const database = work.connect();
  const route = router(about, compute, database);
  const page = pages(database);
  sockets(work.listen(async (req, res) => {
    try {
      const own = await page(req);
      if (own) return send(res, own.status ?? 200, 'text/html; charset=utf-8', own.body, own.headers);
      if (req.method !== 'GET' && req.method !== 'HEAD') throw new HttpError(405, 'only GET and HEAD');
      const [path, query] = req.url.split('?', 2);
      const answer = path === '/gc' ? work.collected() : await route(path, parse(query));
      if (typeof answer === 'string') send(res, 200, 'text/plain', answer);
      else if (answer instanceof Events) await stream(req, res, answer.events);
      else if (answer instanceof Html) send(res, 200, 'text/html; charset=utf-8', answer.body);
      else send(res, 200, 'application/json', JSON.stringify(answer));
    } catch (error) {
      if (!(error instanceof HttpError)) console.error(error);
      send(res, error.status ?? 500, 'text/plain', error.status ? error.message : 'internal error',
        error.status === 405 ? { Allow: 'GET, HEAD' } : {});
    }
  }));
};
