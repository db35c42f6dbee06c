'use strict';

// A primary process accepts every connection and deals them out in turn; each worker process is
// an event loop of its own, and a connection stays with the worker that was given it.

const cluster = require('node:cluster');
const { once } = require('node:events');

const WORKERS = Number(process.env.WORKERS);

async function work() {
  await once(process, 'message'); // all workers exist: from here on none of them is favoured
  require('./serve')({ name: 'node-cluster', workers: WORKERS });
}

async function supervise() {
  const workers = Array.from({ length: WORKERS }, () => cluster.fork());
  let stopping = false;
  let alive = WORKERS;
  const stop = () => {
    stopping = true;
    // A worker that computes would notice a message only afterwards; the signal ends it at once.
    for (const worker of workers) worker.process.kill('SIGTERM');
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  cluster.on('exit', (worker, code, signal) => {
    if (!stopping) {
      console.error(`worker ${worker.process.pid} ended (${signal ?? code})`);
      process.exitCode = 1;
      stop();
    }
    alive -= 1;
    if (alive === 0) process.exit();
  });
  await Promise.all(workers.map((worker) => once(worker, 'online')));
  for (const worker of workers) worker.send('listen');
}

if (cluster.isPrimary) supervise();
else work();
