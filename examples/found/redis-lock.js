// SPDX-License-Identifier: MIT
// Package: redis-lock 1.0.0
// Is: a lock for Node.js
// Lost: Whoever ends when the lease has just run out releases the lock of the next one: two are in
//   the critical section.
// Fixed: not yet
// Link: https://github.com/errorception/redis-lock/issues/29
// Expected: not serializable, 1
// Options: --expiries 1
// Clients: late second third
// Install: npm:redis-lock@1.0.0 npm:redis@4.7.1
const { createClient } = require('redis');

async function main() {
  const db = createClient({ url: process.env.REDIS_URL });

  await db.connect();
  const done = await require('redis-lock')(db)('account');

  if (process.argv[2] !== 'late') {
    await db.echo('redrace:enter');
    await db.echo('redrace:leave');
  }
  await done();
  await db.quit();
}

main();
