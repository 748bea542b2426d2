// SPDX-License-Identifier: MIT
// Package: ratelimiter 1.0.2
// Is: rate limits for Node.js
// Lost: Two concurrent requests count as one, and those before them may be forgotten: more than
//   the limit are allowed.
// Kind: limit
// Fixed: 1.0.3
// Link: https://github.com/tj/node-ratelimiter/issues/6
// Expected: not serializable, 1
// Options: --clients 3
// Install: npm:ratelimiter@1.0.2 npm:redis@2.8.0
const redis = require('redis');
const Limiter = require('ratelimiter');

const db = redis.createClient(process.env.REDIS_URL);

new Limiter({ id: 'ada', db, max: 5, duration: 60000 }).get((error) => {
  if (error) throw error;
  db.quit();
});
