// SPDX-License-Identifier: MIT
// Package: ratelimiter 1.0.3
// Is: rate limits for Node.js
// Held: Each request counts: a client that was overtaken reads the count again (WATCH).
// Link: https://github.com/tj/node-ratelimiter/issues/6
// Expected: serializable, 0
// Install: npm:ratelimiter@1.0.3 npm:redis@2.8.0
const redis = require('redis');
const Limiter = require('ratelimiter');

const db = redis.createClient(process.env.REDIS_URL);

new Limiter({ id: 'ada', db, max: 5, duration: 60000 }).get((error) => {
  if (error) throw error;
  db.quit();
});
