'use strict';

// Express on one event loop: middleware and routes in the order in which they are declared.

const http = require('node:http');
const { setTimeout: sleep } = require('node:timers/promises');
const express = require('express');
const { Pool } = require('pg');

const HELLO = 'x'.repeat(1023) + '\n';
const KILOBYTE = Buffer.from(HELLO);
const keepAlive = new http.Agent({ keepAlive: true });
const database = process.env.DATABASE_URL
  && new Pool({ connectionString: process.env.DATABASE_URL, max: Number(process.env.POOL) });
if (database) database.on('error', console.error); // of a connection that nobody uses at the moment

const app = express();
app.disable('x-powered-by');
app.disable('etag'); // a hash of every body, for caches that are not there
app.enable('strict routing'); // /hello/ is not /hello
app.set('query parser', 'simple');

function problem(status, message) {
  return Object.assign(new Error(message), { status, expose: true });
}

app.use((req, res, next) => {
  if (req.method === 'GET' || req.method === 'HEAD') return next();
  res.set('Allow', 'GET, HEAD');
  throw problem(405, 'only GET and HEAD');
});

// Middleware that turns the path's parameters into Numbers, and refuses what is none.
function whole(most, ...names) {
  return (req, res, next) => {
    req.numbers = {};
    for (const name of names) {
      const text = req.params[name];
      if (!/^\d+$/.test(text) || Number(text) > most) {
        throw problem(400, `a whole number from 0 to ${most} is needed here`);
      }
      req.numbers[name] = Number(text);
    }
    next();
  };
}

function decimal(text, name, most) {
  if (/^\d*\.?\d+$/.test(text) && Number(text) <= most) return Number(text);
  throw problem(400, `${name} must be a number from 0 to ${most}`);
}

function oneOf(text, name, ...choices) {
  if (choices.includes(text)) return text;
  throw problem(400, `${name} must be one of: ${choices.join(', ')}`);
}

function count(n) {
  let x = 0;
  while (x < n) x++;
  return x;
}

function fib(n) {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

function text(res, body) {
  res.set('Content-Type', 'text/plain').send(Buffer.from(body));
}

app.get('/', (req, res) => {
  res.json({ name: 'node-express', version: process.versions.node, runtime: 'Node.js', workers: 1 });
});

app.get('/hello', (req, res) => text(res, HELLO));

app.get('/sleep', async (req, res) => {
  const ms = decimal(req.query.ms ?? '100', 'ms', 60_000);
  const jitter = decimal(req.query.jitter ?? '0', 'jitter', 1);
  await sleep(ms * (1 + jitter * (2 * Math.random() - 1)));
  text(res, HELLO);
});

app.get('/count/:n', whole(1e10, 'n'), (req, res) => text(res, `Hello, World ${count(req.numbers.n)}\n`));
app.get('/fast/:n', whole(1e6, 'n'), (req, res) => text(res, String(req.numbers.n ** 2)));
app.get('/slow/:n', whole(60, 'n'), (req, res) => text(res, String(fib(req.numbers.n))));
app.get('/fibs/:n', whole(60, 'n'), (req, res) => res.json({ fibResult: fib(req.numbers.n) }));

function askPeer(peer, n) {
  return new Promise((resolve, reject) => {
    const failed = (error) => reject(problem(502, `the peer did not answer: ${error.message}`));
    http.get(`${peer}/fibs/${n}`, { agent: keepAlive }, async (res) => {
      try {
        let body = '';
        for await (const chunk of res.setEncoding('utf8')) body += chunk;
        resolve(JSON.parse(body).fibResult);
      } catch (error) {
        failed(error);
      }
    }).on('error', failed);
  });
}

app.get('/pair/:a/:b', whole(60, 'a', 'b'), async (req, res) => {
  const { where = 'local', peer = '', async: concurrent = '0' } = req.query;
  const remote = oneOf(where, 'where', 'local', 'remote') === 'remote';
  if (remote && !(typeof peer === 'string' && peer.startsWith('http://') && URL.canParse(peer))) {
    throw problem(400, 'where=remote needs peer=http://…');
  }
  const find = async (n) => (remote ? askPeer(peer, n) : fib(n));
  const { a, b } = req.numbers;
  if (oneOf(concurrent, 'async', '0', '1') === '1') {
    const [x, y] = await Promise.all([find(a), find(b)]);
    res.json({ a: x, b: y });
  } else {
    res.json({ a: await find(a), b: await find(b) });
  }
});

app.get('/alloc/buffers', (req, res) => {
  const buffers = [];
  for (let i = 0; i < 50; i++) buffers.push(Buffer.alloc(1024, 'x'));
  text(res, buffers.length === 50 ? HELLO : '');
});

app.get('/alloc/strings', (req, res) => {
  const strings = [];
  for (let i = 0; i < 50; i++) strings.push(KILOBYTE.toString());
  text(res, strings[49]);
});

// Holds n async functions, all waiting for one promise, then lets them end.
app.get('/spawn/:n', whole(1e6, 'n'), async (req, res) => {
  oneOf(req.query.kind ?? 'async', 'kind', 'async');
  let open;
  const gate = new Promise((resolve) => { open = resolve; });
  const held = Array.from({ length: req.numbers.n }, async () => { await gate; });
  open();
  await Promise.all(held);
  text(res, String(held.length));
});

function escape(text) {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

async function find(sql, ...values) {
  return (await database.query(sql, values)).rows;
}

// A promise that a handler returns and that fails goes to the error handler, as Express 5 does it.
app.get('/orders', async (req, res) => {
  if (!database) throw problem(503, 'started without a database');
  const [{ min }] = await find('SELECT min(id) FROM customers');
  const [{ max }] = await find('SELECT max(id) FROM customers');
  const id = min + Math.floor(Math.random() * (max - min + 1));
  const [customer] = await find('SELECT id, name FROM customers WHERE id = $1', id);
  if (!customer) throw problem(404, `there is no customer ${id}`);
  const list = await find('SELECT * FROM orders WHERE customer_id = $1 ORDER BY ordered_on', customer.id);
  const items = list.map((order) => `<li>${order.ordered_on}: ${escape(order.item)}</li>\n`).join('');
  res.send(`<!DOCTYPE html>\n<title>Orders</title>\n<h1>${escape(customer.name)}</h1>\n<ol>\n${items}</ol>\n`);
});

app.use(() => { throw problem(404, 'no such route'); });

// eslint-disable-next-line no-unused-vars -- Express knows an error handler by its four parameters
app.use((error, req, res, next) => {
  if (!error.status) console.error(error);
  text(res.status(error.status ?? 500), error.status ? error.message : 'internal error');
});

// 0 means no limit: a client may hold its connection and say nothing for as long as it likes.
http.createServer({ keepAliveTimeout: 0, headersTimeout: 0, requestTimeout: 0 }, app)
  .listen({ port: Number(process.env.PORT), host: process.env.HOST, backlog: 4096 });
