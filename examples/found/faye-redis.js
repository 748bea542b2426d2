// SPDX-License-Identifier: MIT
// Package: faye-redis 0.2.0
// Is: the Redis engine of Faye, publish and subscribe for the web
// Lost: A client subscribes while another server removes it (garbage collection): the channel
//   keeps the client indefinitely, and each message to the channel is queued for it.
// Kind: leftover
// Fixed: not yet
// Link: https://github.com/faye/faye-redis-node
// Expected: not serializable, 1
// Clients: subscribe destroy
// Install: npm:faye-redis@0.2.0 npm:redis@2.8.0
const server = { timeout: 45, debug() {}, trigger() {}, hasConnection: () => false };
const engine = require('faye-redis').create(server, {
  host: process.env.REDIS_HOST, port: Number(process.env.REDIS_PORT),
});
const end = () => process.exit();

engine._subscriber.end(false); // what others publish is not listened to

if (process.argv[2] === 'subscribe')
  engine.subscribe('ann', '/news', end);
else
  engine.destroyClient('ann', end);
