// SPDX-License-Identifier: MIT
// Package: connect-redis 10.0.0
// Is: sessions of Express in Redis
// Lost: A user logs out, and a concurrent request writes the destroyed session again: the cookie
//   is logged in again.
// Kind: access
// Fixed: not yet
// Link: https://github.com/tj/connect-redis/issues/328
// Expected: not serializable, 1
// Clients: visit logout
// Options: --init examples/found/connect-redis.redis
// Install: npm:connect-redis@10.0.0 npm:redis@5.10.0 npm:express-session@1.18.2
const { createClient } = require('redis');
const { RedisStore } = require('connect-redis');

async function main() {
  const client = await createClient({ url: process.env.REDIS_URL }).connect();
  const store = new RedisStore({ client });

  if (process.argv[2] === 'logout') {
    await store.destroy('42');
  } else {
    const session = await store.get('42');

    if (session) await store.set('42', { ...session, visits: session.visits + 1 });
    else console.log('please log in');
  }
  client.destroy();
}

main();
