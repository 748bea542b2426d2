// SPDX-License-Identifier: MIT
// Package: ratelimiter 2.1.3
// Is: rate limits for Node.js
// Lost: Two concurrent requests in one process share a connection, so one's EXEC ends the other's
//   WATCH: they count as one.
// Kind: limit
// Fixed: 3.0.2
// Link: https://github.com/tj/node-ratelimiter/issues/29
// Expected: not as expected, 1
// Remark: from 3.0.2 on nothing is watched: a request is a member of a sorted set, named by its microsecond.
// Options: --clients 1 --final 'GET limit:ada:count' 3
// Install: npm:ratelimiter@2.1.3 npm:redis@2.8.0
const redis = require('redis');
const Limiter = require('ratelimiter');

const db = redis.createClient(process.env.REDIS_URL);
let pending = 2;

for (let i = 0; i < 2; i++)
  new Limiter({ id: 'ada', db, max: 5, duration: 60000 }).get((error) => {
    if (error) throw error;
    if (--pending === 0) db.quit();
  });
