// SPDX-License-Identifier: MIT
// Package: response-cache-redis 4.2.4
// Is: the response cache of GraphQL Yoga and Envelop in Redis (@envelop/response-cache-redis)
// Lost: A response is stored while another of the same user is invalidated: it is listed nowhere,
//   and no later change of the user removes it. By default it has no TTL.
// Kind: data
// Fixed: not yet
// Link: new
// Expected: not serializable, 1
// Clients: read change
// Options: --init examples/found/response-cache-redis.redis
// Install: npm:@envelop/response-cache-redis@4.2.4 npm:ioredis@5.11.1
const Redis = require('ioredis');
const { createRedisCache } = require('@envelop/response-cache-redis');

const redis = new Redis(process.env.REDIS_URL);
const cache = createRedisCache({ redis });
const user = { typename: 'User', id: '1' };

async function main() {
  if (process.argv[2] === 'read')
    await cache.set('profile', { data: { user: { name: 'Ann' } } }, [user], Infinity);
  else
    await cache.invalidate([user]);
  redis.disconnect();
}

main();
