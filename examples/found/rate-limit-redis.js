// SPDX-License-Identifier: MIT
// Package: rate-limit-redis 6.0.1
// Is: the Redis store of express-rate-limit
// Held: Each request counts, and the count has a lease: it is one script.
// Link: https://github.com/express-rate-limit/rate-limit-redis
// Expected: serializable, 0
// Install: npm:rate-limit-redis@6.0.1 npm:express-rate-limit@8.7.4 npm:ioredis@5.8.2
const Redis = require('ioredis');
const { RedisStore } = require('rate-limit-redis');

const db = new Redis(process.env.REDIS_URL);

async function main() {
  const store = new RedisStore({ sendCommand: (...words) => db.call(...words) });

  store.init({ windowMs: 60000 });
  const { totalHits } = await store.increment('10.0.0.7');

  console.log(totalHits > 1 ? 'too many requests' : 'welcome');
  db.disconnect();
}

main();
