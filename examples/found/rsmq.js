// SPDX-License-Identifier: MIT
// Package: rsmq 0.12.4
// Is: a queue of messages for Node.js
// Lost: A message is sent while its queue is deleted: it is accepted, and stays without TTL in a
//   queue that does not exist.
// Kind: data
// Fixed: not yet
// Link: new
// Expected: not serializable, 1
// Clients: send remove
// Options: --init examples/found/rsmq.redis
// Install: npm:rsmq@0.12.4
const RedisSMQ = require('rsmq');

const { REDIS_HOST: host, REDIS_PORT: port } = process.env;
const rsmq = new RedisSMQ({ host, port });

async function main() {
  if (process.argv[2] === 'send') await rsmq.sendMessageAsync({ qname: 'mail', message: 'hello' });
  else await rsmq.deleteQueueAsync({ qname: 'mail' });
}

main().catch((error) => console.log(error.message)).finally(() => rsmq.quit());
