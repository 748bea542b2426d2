// SPDX-License-Identifier: MIT
// Package: express-brute 1.0.1
// Is: a guard of logins for Express
// Lost: Two concurrent tries of a password count as one: an attacker has more tries than allowed.
// Kind: access
// Fixed: not yet
// Link: https://github.com/AdamPflug/express-brute/issues/46
// Expected: not serializable, 1
// Install: npm:express-brute@1.0.1 npm:express-brute-redis@0.0.1 npm:redis@2.8.0
const ExpressBrute = require('express-brute');
const RedisStore = require('express-brute-redis');

const client = require('redis').createClient(process.env.REDIS_URL);
const login = new ExpressBrute(new RedisStore({ client }), { freeRetries: 5 });
const request = { ip: '10.0.0.7', connection: { remoteAddress: '10.0.0.7' } };

login.prevent(request, { status() {}, header() {}, send() {} }, () => client.quit());
