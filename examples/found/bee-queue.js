// SPDX-License-Identifier: MIT
// Package: bee-queue 2.0.0
// Is: a queue of jobs for Node.js
// Lost: A failed job is removed while a client retries it: its id returns to the queue without
//   data, and workers take it again and again.
// Kind: leftover
// Fixed: not yet
// Link: new https://github.com/bee-queue/bee-queue/pull/296
// Expected: not serializable, 1
// Clients: retry remove
// Options: --init examples/found/bee-queue.redis
// Remark: the pull request has seen the loop of the id without data, and not how it begins.
// Install: npm:bee-queue@2.0.0
const Queue = require('bee-queue');

async function main() {
  const queue = new Queue('mail', { redis: process.env.REDIS_URL, isWorker: false, getEvents: false });
  const job = await queue.getJob('1');

  if (job && process.argv[2] === 'retry') await job.retry();
  else if (job) await job.remove();
  await queue.close();
}

main();
