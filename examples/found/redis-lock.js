// SPDX-License-Identifier: MIT
// Package: redis-lock 1.0.0
// Is: a lock for Node.js
// Lost: Whoever ends when the lease has just run out releases the lock of the next one: two are in
//   the critical section.
// Fixed: not yet
// Link: https://github.com/errorception/redis-lock/issues/29
// Expected: played for real, 70
// Remark: with three clients of which one waits, redrace's search and its replay on a real server do
//   not agree about who is in the critical section: a defect of redrace, which says so itself.
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
