// SPDX-License-Identifier: MIT
// Right: a script remembers whose vote it has counted.
const Redis = require('ioredis');

const VOTE = `if redis.call('SADD', KEYS[2], ARGV[1]) == 1 then
  redis.call('INCR', KEYS[1])
end
return redis.call('GET', KEYS[1])`;

(async () => {
  const redis = new Redis(process.env.REDIS_URL);

  await redis.eval(VOTE, 2, 'votes:cats', 'voters', process.env.REDRACE_CLIENT);
  redis.disconnect();
})();
