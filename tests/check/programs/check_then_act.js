// SPDX-License-Identifier: MIT
// Wrong: two requests find the seat free, and both are told that they have it.
const redis = require('redis').createClient(process.env.REDIS_URL);

redis.get('seat:12A', (error, owner) => {
  if (error) throw error;
  if (owner) {
    console.log('taken');
    process.exitCode = 1;
    redis.quit();
    return;
  }
  redis.set('seat:12A', process.env.REDRACE_CLIENT, () => redis.quit());
});
