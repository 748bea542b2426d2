// SPDX-License-Identifier: MIT
// Package: cache-manager 7.2.9
// Is: caches for Node.js, here in Redis with @keyv/redis 5.1.6
// Lost: A price is changed and removed from the cache while a reader has the old one: the reader
//   stores it again, and all clients see the old price.
// Kind: data
// Fixed: not yet
// Link: new
// Expected: not serializable, 1
// Clients: read change
// Options: --init examples/found/cache-manager.redis --data-only
// Install: npm:cache-manager@7.2.9 npm:@keyv/redis@5.1.6 npm:keyv@5.6.0
const { createCache } = require('cache-manager');
const { Keyv } = require('keyv');
const { default: KeyvRedis } = require('@keyv/redis');

async function main() {
  const store = new KeyvRedis(process.env.REDIS_URL);
  const db = await store.getClient();
  const cache = createCache({ stores: [new Keyv({ store })] });

  if (process.argv[2] === 'read') {
    await cache.wrap('price', () => db.get('price-of-tea'));
  } else {
    await db.set('price-of-tea', '5');
    await cache.del('price');
  }
  await cache.disconnect();
}

main();
