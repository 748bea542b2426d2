// SPDX-License-Identifier: MIT
// Package: rate-limiter-flexible 11.4.0
// Is: rate limits for Node.js
// Held: Each request counts, and the count has a lease, also if one crashes.
// Link: https://github.com/animir/node-rate-limiter-flexible
// Expected: serializable, 0
// Options: --crashes 1
// Install: npm:rate-limiter-flexible@11.4.0 npm:ioredis@5.8.2
const Redis = require('ioredis');
const { RateLimiterRedis } = require('rate-limiter-flexible');

const storeClient = new Redis(process.env.REDIS_URL);

async function main() {
  const limiter = new RateLimiterRedis({ storeClient, points: 1, duration: 60 });
  const allowed = await limiter.consume('ada').then(() => true, () => false);

  console.log(allowed ? 'welcome' : 'too many requests');
  storeClient.disconnect();
}

main();
