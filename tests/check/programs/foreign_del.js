// SPDX-License-Identifier: MIT
// Wrong: who was leader too long resigns for the one who has become it since.
const Redis = require('ioredis');

(async () => {
  const redis = new Redis(process.env.REDIS_URL);
  const resigns = process.argv[2] === 'hold';
  const lease = resigns ? ['PX', 2000] : [];

  if (await redis.set('leader', process.env.REDRACE_CLIENT, ...lease, 'NX') !== 'OK') {
    process.exitCode = 1;
  } else if (resigns) {
    await redis.del('leader');
  }
  redis.disconnect();
})();
