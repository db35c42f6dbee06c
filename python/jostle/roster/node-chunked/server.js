'use strict';

// One thread, but no computation keeps it for long: each is cut into chunks by hand, and between two chunks the
// event loop turns and serves whoever waits.

const { setImmediate: turn } = require('node:timers/promises');

const CHUNK = Number(process.env.CHUNK);

const computations = {
  async count(n) {
    let x = 0;
    while (x < n) {
      const end = Math.min(n, x + CHUNK);
      while (x < end) x++;
      if (x < n) await turn();
    }
    return x;
  },

  // The naive recursion with a stack of its own: a call of a function cannot be left in the middle and taken up again.
  async fib(n) {
    const pending = [n];
    let sum = 0;
    while (pending.length > 0) {
      for (let left = CHUNK; left > 0 && pending.length > 0; left--) {
        let m = pending.pop();
        for (; m >= 2; m--) pending.push(m - 2);
        sum += m;
      }
      if (pending.length > 0) await turn();
    }
    return sum;
  },
};

require('./serve')({ name: 'node-chunked', workers: 1 }, (name, n) => computations[name](n));
