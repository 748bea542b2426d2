// SPDX-License-Identifier: MIT
// Package: express-idempotency 1.0.6
// Is: idempotency keys for Express, here in Redis with express-idempotency-redis-adapter 1.0.8
// Lost: A payment is sent twice with one key, as by a client that did not wait: both are carried
//   out, which the key is to prevent.
// Kind: twice
// Fixed: not yet
// Link: new
// Expected: not serializable, 1
// Install: npm:express-idempotency@1.0.6 npm:express-idempotency-redis-adapter@1.0.8
//   npm:express@4.21.2 npm:light-my-request@5.14.0 npm:ioredis@5.8.2
const app = require('express')();
const { getSharedIdempotencyService, idempotency } = require('express-idempotency');
const { default: RedisAdapter } = require('express-idempotency-redis-adapter');
const Redis = require('ioredis');
const inject = require('light-my-request');

async function main() {
  const db = new Redis(process.env.REDIS_URL);
  const dataAdapter = new RedisAdapter({ connectionConfig: { url: process.env.REDIS_URL } });

  await dataAdapter.connect();
  app.post('/pay', idempotency({ dataAdapter }), async (request, response) => {
    if (!getSharedIdempotencyService().isHit(request)) response.send(String(await db.incr('paid')));
  });
  await inject(app, { method: 'POST', url: '/pay', headers: { 'idempotency-key': '42' } });
  await dataAdapter.disconnect();
  db.disconnect();
}

main();
