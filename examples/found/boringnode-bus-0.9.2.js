// SPDX-License-Identifier: MIT
// Package: @boringnode/bus 0.9.2
// Is: messages between servers through Redis, for Node.js
// Held: A client that has subscribed gets what is published from then on: subscribe waits for Redis.
// Link: https://github.com/boringnode/bus/pull/62
// Expected: serializable, 0
// Clients: shop
// Install: npm:@boringnode/bus@0.9.2 npm:ioredis@5.8.2
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
