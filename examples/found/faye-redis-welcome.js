// SPDX-License-Identifier: MIT
// Package: faye-redis 0.2.0
// Is: the Redis engine of Faye, publish and subscribe for the web
// Lost: A server greets each client that subscribes. The channel does not have the client yet (the
//   second SADD), and the greeting is queued for no client.
// Kind: data
// Fixed: not yet
// Link: https://github.com/faye/faye-redis-node/pull/25
// Expected: not as expected, 1
// Clients: server
// Options: --init examples/found/faye-redis-welcome.redis --final 'LLEN /clients/ann/messages' 1
// Install: npm:faye-redis@0.2.0 npm:redis@2.8.0
const faye = require('faye-redis');
const options = { host: process.env.REDIS_HOST, port: Number(process.env.REDIS_PORT) };
const quiet = { timeout: 45, debug() {}, trigger() {}, hasConnection: () => false };

function engine(server) {
  const created = faye.create(server, options);

  created._subscriber.end(false); // what others publish is not listened to
  return created;
}

const other = engine(quiet);
engine({ ...quiet, trigger(event, id, channel) {
  if (event === 'subscribe')
    other.publish({ channel, data: 'welcome' }, [channel]);
} }).subscribe('ann', '/news');
setTimeout(() => process.exit(), 1000);
