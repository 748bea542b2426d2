// SPDX-License-Identifier: MIT
// Wrong: ioredis sends again what was not answered, and the vote counts twice.
const Redis = require('ioredis');

(async () => {
  const redis = new Redis(process.env.REDIS_URL);

  await redis.incr('votes:cats');
  redis.disconnect();
})();
