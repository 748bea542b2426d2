// SPDX-License-Identifier: MIT
// Package: bull 3.29.3
// Is: a queue of jobs for Node.js
// Lost: A job is removed while a client changes its data: its data stay, in no queue.
// Kind: leftover
// Fixed: 4.12.3
// Link: new
// Expected: not serializable, 1
// Clients: update remove
// Options: --init examples/found/bull.redis
// Install: npm:bull@3.29.3
const Queue = require('bull');

async function main() {
  const queue = new Queue('mail', process.env.REDIS_URL);
  const job = await queue.getJob('1');

  if (job && process.argv[2] === 'update') await job.update({ to: 'ada', sent: 1 });
  else if (job) await job.remove();
  await queue.close();
}

main();
