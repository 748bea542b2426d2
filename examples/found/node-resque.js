// SPDX-License-Identifier: MIT
// Package: node-resque 9.7.1
// Is: a queue of jobs for Node.js, here with its QueueLock: a job is in the queue once
// Lost: Two clients find the lock of a client that has crashed, and both take it over: the report
//   is made and sent twice.
// Kind: twice
// Fixed: not yet
// Link: https://github.com/actionhero/node-resque/pull/192
//   https://github.com/actionhero/node-resque/issues/287
// Expected: not serializable, 1
// Options: --init examples/found/node-resque.redis
// Install: npm:node-resque@9.7.1 npm:ioredis@5.8.2
const Redis = require('ioredis');
const { Plugins, Queue } = require('node-resque');

const redis = new Redis(process.env.REDIS_URL);
const jobs = { report: { plugins: [Plugins.QueueLock], perform: async () => {} } };

async function main() {
  const queue = new Queue({ connection: { redis } }, jobs);

  await queue.connect();
  await queue.enqueue('mail', 'report', [2024]);
  await queue.end();
  redis.disconnect();
}

main();
