// SPDX-License-Identifier: MIT
// Package: node-idempotency 1.0.11
// Is: idempotency keys for Node.js, here in Redis with @node-idempotency/storage-adapter-redis 1.0.2
// Held: A payment that is sent twice with one key is carried out once.
// Link: https://github.com/mahendraHegde/node-idempotency
// Expected: serializable, 0
// Install: npm:@node-idempotency/core@1.0.11 npm:@node-idempotency/storage-adapter-redis@1.0.2
//   npm:ioredis@5.11.1
const Redis = require('ioredis');
const { Idempotency } = require('@node-idempotency/core');
const { RedisStorageAdapter } = require('@node-idempotency/storage-adapter-redis');

const request = { method: 'POST', path: '/pay', headers: { 'idempotency-key': 'order-1' }, body: {} };

async function main() {
  const storage = new RedisStorageAdapter({ url: process.env.REDIS_URL });
  const db = new Redis(process.env.REDIS_URL);
  const idempotency = new Idempotency(storage);

  await storage.connect();
  if (!await idempotency.onRequest(request)) {
    const paid = await db.incrby('paid', 100);
    await idempotency.onResponse(request, { body: { paid } });
  }
  process.exit();
}

main();
