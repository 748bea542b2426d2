// SPDX-License-Identifier: MIT
// Package: koa2-ratelimit 1.1.3
// Is: rate limits for Koa
// Lost: Two concurrent first requests count as one, and the later one resets the count to 1: more
//   than the limit are allowed.
// Kind: limit
// Fixed: not yet
// Link: https://github.com/ysocorp/koa2-ratelimit/pull/63
// Expected: not serializable, 1
// Install: npm:koa2-ratelimit@1.1.3 npm:redis@4.7.1
const { RateLimit, Stores } = require('koa2-ratelimit');

const store = new Stores.Redis({ url: process.env.REDIS_URL });
const limit = RateLimit.middleware({ store, interval: 60000, max: 5, message: 'too many requests' });
const request = { method: 'GET', url: '/', ip: '10.0.0.7' };

limit({ request, state: {}, set() {} }, () => {}).then(() => store.client.quit());
