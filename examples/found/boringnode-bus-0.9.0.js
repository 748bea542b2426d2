// SPDX-License-Identifier: MIT
// Package: @boringnode/bus 0.9.0
// Is: messages between servers through Redis, for Node.js
// Lost: A server waits until it has subscribed, and asks. What others publish then is lost,
//   because subscribe does not wait for Redis, and the subscription arrives there later.
// Kind: data
// Fixed: 0.9.1
// Link: https://github.com/boringnode/bus/pull/62
// Expected: no progress, 1
// Clients: shop
// Install: npm:@boringnode/bus@0.9.0 npm:ioredis@5.8.2
const { Bus } = require('@boringnode/bus');
const { RedisTransport } = require('@boringnode/bus/transports/redis');

const server = { host: process.env.REDIS_HOST, port: Number(process.env.REDIS_PORT) };
const till = new Bus(new RedisTransport(server));
const shop = new Bus(new RedisTransport(server));

async function main() {
  await till.subscribe('questions', () => till.publish('answers', 42));
  await shop.subscribe('answers', async (price) => {
    console.log(price);
    await Promise.all([shop.disconnect(), till.disconnect()]);
  });
  await shop.publish('questions', 'the price?');
}

main();
