// SPDX-License-Identifier: MIT
// Package: kue 0.11.6
// Is: a queue of jobs for Node.js
// Lost: A delayed job is done twice: the lock of the worker that enqueues it ends after two
//   seconds, and another worker enqueues it again.
// Kind: twice
// Fixed: not yet
// Link: https://github.com/Automattic/kue/issues/1133
// Expected: not serializable, 1
// Options: --data-only --expiries 1 --init examples/found/kue.redis
// Remark: one round of what each worker does every second; without it the lock is requested indefinitely.
// Install: npm:kue@0.11.6 npm:redis@2.6.5
const Kue = require('kue');
const db = require('redis').createClient(process.env.REDIS_URL, { no_ready_check: true });
const queue = new Kue({ jobEvents: false, redis: { createClientFactory: () => db } });

queue.setupTimers();
clearInterval(queue.activeJobsTtlTimer);
const { lock, unlock } = queue.warlock;
queue.warlock.lock = (key, ms, fn) => {
  clearInterval(queue.promoter);
  lock(key, ms, (error, release) => (release ? fn(error, release) : process.exit()));
};
queue.warlock.unlock = (key, id) => unlock(key, id, () => process.exit());
