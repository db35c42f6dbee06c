'use strict';

// Express on one event loop: middleware and routes in the order in which they are declared.

const express = require('express');
const work = require('./work');

const { HttpError, inline } = work;
const database = work.connect();

const app = express();
app.disable('x-powered-by');
app.disable('etag'); // a hash of every body, for caches that are not there
app.enable('strict routing'); // /hello/ is not /hello
app.set('query parser', 'simple');

app.use((req, res, next) => {
  if (req.method === 'GET' || req.method === 'HEAD') return next();
  res.set('Allow', 'GET, HEAD');
  throw new HttpError(405, 'only GET and HEAD');
});

// Middleware that turns the path's parameters into Numbers, and refuses what is none.
function whole(most, ...names) {
  return (req, res, next) => {
    req.numbers = Object.fromEntries(names.map((name) => [name, work.whole(req.params[name], most)]));
    next();
  };
}

function text(res, body) {
  res.set('Content-Type', 'text/plain').send(Buffer.from(body));
}

app.get('/', (req, res) => {
  res.json({ name: 'node-express', version: process.versions.node, runtime: 'Node.js', workers: 1 });
});

app.get('/hello', (req, res) => text(res, work.HELLO));
app.get('/sleep', async (req, res) => text(res, await work.sleep(req.query)));
app.get('/count/:n', whole(1e10, 'n'), (req, res) => text(res, `Hello, World ${inline('count', req.numbers.n)}\n`));
app.get('/fast/:n', whole(1e6, 'n'), (req, res) => text(res, String(req.numbers.n ** 2)));
app.get('/slow/:n', whole(60, 'n'), (req, res) => text(res, String(inline('fib', req.numbers.n))));
app.get('/fibs/:n', whole(60, 'n'), (req, res) => res.json({ fibResult: inline('fib', req.numbers.n) }));
app.get('/pair/:a/:b', whole(60, 'a', 'b'), async (req, res) => {
  res.json(await work.pair(req.numbers.a, req.numbers.b, req.query, inline));
});
app.get('/alloc/buffers', (req, res) => text(res, work.allocateBuffers()));
app.get('/alloc/strings', (req, res) => text(res, work.allocateStrings()));
app.get('/spawn/:n', whole(1e6, 'n'), async (req, res) => text(res, await work.spawn(req.numbers.n, req.query)));

// A promise that a handler returns and that fails goes to the error handler, as Express 5 does it.
app.get('/orders', async (req, res) => res.send(await work.orders(database)));

app.use(() => { throw new HttpError(404, 'no such route'); });

// eslint-disable-next-line no-unused-vars -- Express knows an error handler by its four parameters
app.use((error, req, res, next) => {
  if (!error.status) console.error(error);
  text(res.status(error.status ?? 500), error.status ? error.message : 'internal error');
});

work.listen(app);
