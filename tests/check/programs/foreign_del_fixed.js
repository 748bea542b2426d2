// SPDX-License-Identifier: MIT
// Right: compare and delete, in one script.
const Redis = require('ioredis');

(async () => {
  const redis = new Redis(process.env.REDIS_URL);
  const resigns = process.argv[2] === 'hold';
  const lease = resigns ? ['PX', 2000] : [];

  redis.defineCommand('resign', {
    numberOfKeys: 1,
    lua: "return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1])",
  });
  if (await redis.set('leader', process.env.REDRACE_CLIENT, ...lease, 'NX') !== 'OK') {
    process.exitCode = 1;
  } else if (resigns) {
    await redis.resign('leader', process.env.REDRACE_CLIENT);
  }
  redis.disconnect();
})();
