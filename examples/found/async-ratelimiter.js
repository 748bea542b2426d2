// SPDX-License-Identifier: MIT
// Package: async-ratelimiter 1.6.10
// Is: rate limits for Node.js
// Held: Each request counts: it is one script.
// Link: https://github.com/microlinkhq/async-ratelimiter
// Expected: serializable, 0
// Install: npm:async-ratelimiter@1.6.10 npm:ioredis@5.8.2
const Redis = require('ioredis');
const RateLimiter = require('async-ratelimiter');

const db = new Redis(process.env.REDIS_URL);

async function main() {
  const limiter = new RateLimiter({ db, max: 1, duration: 60000 });
  const { remaining } = await limiter.get({ id: 'ada' });

  console.log(remaining > 0 ? 'welcome' : 'too many requests');
  db.disconnect();
}

main();
