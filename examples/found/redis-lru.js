// SPDX-License-Identifier: MIT
// Package: redis-lru 0.6.0
// Is: a cache in Redis that keeps what was used last
// Lost: A value is stored while a client looks for it (peek) and does not find it: it is in no
//   list, is never evicted, and the cache exceeds its limit.
// Kind: leftover
// Fixed: not yet
// Link: new
// Expected: not serializable, 1
// Options: --data-only
// Clients: set peek
// Install: npm:redis-lru@0.6.0 npm:ioredis@5.11.1
const Redis = require('ioredis');

const db = new Redis(process.env.REDIS_URL);
const cache = require('redis-lru')(db, 100);

async function main() {
  if (process.argv[2] === 'set')
    await cache.set('price', 42);
  else
    await cache.peek('price');
  db.disconnect();
}

main();
