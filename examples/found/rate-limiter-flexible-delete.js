// SPDX-License-Identifier: MIT
// Package: rate-limiter-flexible 11.4.0
// Is: rate limits for Node.js
// Lost: An administrator resets a user who has tried too often (delete), and the user stays
//   blocked for an hour.
// Kind: limit
// Fixed: not yet
// Link: new
// Expected: not serializable, 1
// Clients: login reset
// Install: npm:rate-limiter-flexible@11.4.0 npm:ioredis@5.8.2
// Options: --init examples/found/rate-limiter-flexible-delete.redis
const Redis = require('ioredis');
const { RateLimiterRedis } = require('rate-limiter-flexible');

const storeClient = new Redis(process.env.REDIS_URL);
const options = { storeClient, keyPrefix: 'login', points: 5, duration: 60, blockDuration: 3600 };

async function main() {
  const limiter = new RateLimiterRedis(options);

  if (process.argv[2] === 'reset') await limiter.delete('ada');
  else await limiter.consume('ada').catch(() => console.log('too many requests'));
  storeClient.disconnect();
}

main();
