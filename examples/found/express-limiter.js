// SPDX-License-Identifier: MIT
// Package: express-limiter 1.6.1
// Is: rate limits for Express
// Lost: Two concurrent requests count as one: more than the limit are allowed.
// Kind: limit
// Fixed: not yet
// Link: https://github.com/ded/express-limiter
// Expected: not serializable, 1
// Install: npm:express-limiter@1.6.1 npm:redis@2.8.0
const db = require('redis').createClient(process.env.REDIS_URL);
const limiter = require('express-limiter')({}, db);

const limit = limiter({ lookup: 'ip', total: 5, expire: 60000 });
const response = { set() {}, status: () => response, send: (text) => { console.log(text); db.quit(); } };

limit({ method: 'GET', path: '/', ip: '10.0.0.7' }, response, () => db.quit());
