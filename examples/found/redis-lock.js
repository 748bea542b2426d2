// SPDX-License-Identifier: MIT
// Package: redis-lock 1.0.0
// Is: a lock for Node.js
// Lost: A client that pauses for longer than its lease between its work and the release, releases
//   the lock of the next one: two are in the critical section, within the leases of both.
// Kind: twice
// Fixed: not yet
// Link: https://github.com/errorception/redis-lock/issues/29
// Expected: two clients are in their critical sections, 1
// Options: --pauses 1 --ttl-ms 6000 --ignore lock.account
// Clients: late second third
// Install: npm:redis-lock@1.0.0 npm:redis@4.7.1
const { createClient } = require('redis');

async function main() {
  const db = createClient({ url: process.env.REDIS_URL });

  await db.connect();
  const isLate = process.argv[2] === 'late'; // its lease ends in a pause of 6 s, no other one does
  const done = await require('redis-lock')(db)('account', isLate ? 5000 : 60000);

  if (!isLate) {
    await db.echo('redrace:enter');
    await db.echo('redrace:leave');
  }
  await done();
  await db.quit();
}

main();
