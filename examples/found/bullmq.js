// SPDX-License-Identifier: MIT
// Package: bullmq 6.7.0
// Is: a queue of jobs for Node.js
// Held: Jobs that are added concurrently get ids of their own, and each is there with its data.
// Link: https://github.com/taskforcesh/bullmq
// Expected: serializable, 0
// Options: --data-only
// Install: npm:bullmq@6.7.0 npm:ioredis@5.8.2
const Redis = require('ioredis');
const { Queue } = require('bullmq');

const connection = new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null });

async function main() {
  const queue = new Queue('mail', { connection });
  const job = await queue.add('welcome', { to: process.env.REDRACE_CLIENT });

  console.log((await queue.getJob(job.id)).data.to);
  await queue.close();
  connection.disconnect();
}

main();
