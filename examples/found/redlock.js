// SPDX-License-Identifier: MIT
// Package: redlock 4.2.0
// Is: the Redlock algorithm for Node.js, here with one server
// Held: No other client is in the critical section, and no increment is lost.
// Link: https://github.com/mike-marcacci/node-redlock
// Expected: serializable, 0
// Install: npm:redlock@4.2.0 npm:ioredis@5.8.2
const Redis = require('ioredis');
const Redlock = require('redlock');

const db = new Redis(process.env.REDIS_URL);

async function main() {
  const lock = await new Redlock([db], { retryCount: -1 }).lock('account-lock', 10000);

  await db.echo('redrace:enter');
  await db.set('balance', Number(await db.get('balance')) + 1);
  await db.echo('redrace:leave');
  await lock.unlock();
  db.disconnect();
}

main();
