// SPDX-License-Identifier: MIT
// One request that is limited by npm's ratelimiter: version 1.0.2 counts two requests
// at once as one and may forget all of them, 1.0.3 does not.
//
//	npm install redis@2 limiter-1.0.2@npm:ratelimiter@1.0.2 limiter-1.0.3@npm:ratelimiter@1.0.3
//	redrace check --clients 3 -- node examples/check/ratelimiter.js limiter-1.0.2
const redis = require('redis');
const Limiter = require(process.argv[2]);

const db = redis.createClient(process.env.REDIS_URL);

new Limiter({ id: 'ada', db, max: 5, duration: 60000 }).get((error) => {
  if (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
  db.quit();
});
