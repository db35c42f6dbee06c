'use strict';

// One process, one thread, one event at a time: while a request computes, every other one waits.
require('./serve')({ name: 'node', workers: 1 }, undefined, require('./shop'));
