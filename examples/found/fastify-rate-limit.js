// SPDX-License-Identifier: MIT
// Package: fastify-rate-limit 5.8.0
// Is: rate limits for Fastify
// Lost: A server that crashes between INCR and PEXPIRE leaves a count without TTL, which stays
//   until the same user returns.
// Kind: leftover
// Fixed: 8.1.0 of @fastify/rate-limit
// Link: https://github.com/fastify/fastify-rate-limit/issues/152
// Expected: not serializable, 1
// Options: --clients 1 --crashes 1
// Install: npm:fastify-rate-limit@5.8.0 npm:fastify@3.29.5 npm:ioredis@4.28.5
const Redis = require('ioredis');
const fastify = require('fastify')();

const redis = new Redis(process.env.REDIS_URL);

fastify.register(require('fastify-rate-limit'), { redis, max: 5, timeWindow: 60000 });
fastify.get('/', (request, reply) => reply.send('welcome'));
fastify.inject('/').then((response) => {
  console.log(response.statusCode);
  redis.disconnect();
});
