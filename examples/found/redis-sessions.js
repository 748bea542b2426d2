// SPDX-License-Identifier: MIT
// Package: redis-sessions 4.0.0
// Is: sessions in Redis for Node.js
// Lost: Two concurrent requests set different parts of a session: one part is lost, although the
//   manual says that keys that are not set stay untouched.
// Kind: data
// Fixed: not yet
// Link: new
// Expected: not serializable, 1
// Options: --init examples/found/redis-sessions.redis
// Install: npm:redis-sessions@4.0.0
const { default: RedisSessions } = require('redis-sessions');

const token = 'a'.repeat(64);

async function main() {
  const sessions = new RedisSessions({ options: { url: process.env.REDIS_URL }, wipe: 0 });

  await sessions.set({ app: 'shop', token, d: { [process.env.REDRACE_CLIENT]: true } });
  await sessions.quit();
}

main();
