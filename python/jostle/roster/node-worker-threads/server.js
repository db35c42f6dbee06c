'use strict';

// The main thread speaks HTTP and never computes for long; a fixed pool of worker threads takes
// the computations, one each, in the order in which they were asked for.

const { isMainThread, parentPort, Worker } = require('node:worker_threads');

const THREADS = Number(process.env.THREADS);

class Pool {
  #idle = [];
  #queue = [];

  constructor(size) {
    for (let i = 0; i < size; i++) {
      const worker = new Worker(__filename);
      worker.on('message', (result) => {
        worker.job.resolve(result);
        this.#idle.push(worker);
        this.#dispatch();
      });
      worker.on('error', (error) => { throw error; }); // a pool that shrinks unseen would be measured wrongly
      this.#idle.push(worker);
    }
  }

  run(name, n) {
    return new Promise((resolve) => {
      this.#queue.push({ name, n, resolve });
      this.#dispatch();
    });
  }

  #dispatch() {
    while (this.#idle.length > 0 && this.#queue.length > 0) {
      const worker = this.#idle.pop();
      worker.job = this.#queue.shift();
      worker.postMessage([worker.job.name, worker.job.n]);
    }
  }
}

if (isMainThread) {
  const pool = new Pool(THREADS);
  require('./serve')({ name: 'node-worker-threads', workers: THREADS }, (name, n) => pool.run(name, n));
} else {
  const { inline } = require('./work');
  parentPort.on('message', ([name, n]) => parentPort.postMessage(inline(name, n)));
}
