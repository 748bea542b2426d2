// SPDX-License-Identifier: MIT
// Right: SETNX takes the seat only if it is free.
const redis = require('redis').createClient(process.env.REDIS_URL);

redis.setnx('seat:12A', process.env.REDRACE_CLIENT, (error, taken) => {
  if (error) throw error;
  if (!taken) {
    console.log('taken');
    process.exitCode = 1;
  }
  redis.quit();
});
