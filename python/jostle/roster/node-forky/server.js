'use strict';

// A server that knows nothing of forky: main.js starts it in several processes, each an event loop of its own.
require('./serve')({ name: 'node-forky', workers: Number(process.env.WORKERS) });
