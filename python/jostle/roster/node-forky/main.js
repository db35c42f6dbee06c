'use strict';

const forky = require('forky');

forky({ path: `${__dirname}/server.js`, workers: Number(process.env.WORKERS) });
