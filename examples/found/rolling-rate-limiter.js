// SPDX-License-Identifier: MIT
// Package: rolling-rate-limiter 0.4.2
// Is: rate limits for Node.js, in a window that moves
// Held: Each request counts, and one of the limit of one is let through.
// Link: https://github.com/peterkhayes/rolling-rate-limiter
// Expected: serializable, 0
// Install: npm:rolling-rate-limiter@0.4.2 npm:ioredis@5.8.2
const Redis = require('ioredis');
const { RedisRateLimiter } = require('rolling-rate-limiter');

const client = new Redis(process.env.REDIS_URL);
const limiter = new RedisRateLimiter({ client, namespace: 'limit:', interval: 60000, maxInInterval: 1 });

limiter.limit('ada').then((refused) => {
  console.log(refused ? 'too many requests' : 'welcome');
  client.disconnect();
});
