// SPDX-License-Identifier: MIT
// Package: redis-semaphore 5.8.0
// Is: mutexes and semaphores for Node.js
// Held: No other client is in the critical section, and no increment is lost.
// Link: https://github.com/swarthy/redis-semaphore
// Expected: serializable, 0
// Install: npm:redis-semaphore@5.8.0 npm:ioredis@5.8.2
const Redis = require('ioredis');
const { Mutex } = require('redis-semaphore');

const db = new Redis(process.env.REDIS_URL);

async function main() {
  const mutex = new Mutex(db, 'account', { refreshInterval: 0 });

  await mutex.acquire();
  await db.echo('redrace:enter');
  await db.set('balance', Number(await db.get('balance')) + 1);
  await db.echo('redrace:leave');
  await mutex.release();
  db.disconnect();
}

main();
