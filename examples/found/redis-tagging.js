// SPDX-License-Identifier: MIT
// Package: redis-tagging 2.0.1
// Is: tags of items in Redis for Node.js
// Lost: Two clients set the tags of one item, each in the place of all that it has: the item has
//   both, and is listed under both.
// Kind: data
// Fixed: not yet
// Link: new
// Expected: not serializable, 1
// Clients: red blue
// Install: npm:redis-tagging@2.0.1 npm:redis@4.0.6
const RedisTagging = require('redis-tagging').default;

const tagging = new RedisTagging({ options: { url: process.env.REDIS_URL } });

async function main() {
  await tagging.set({ bucket: 'articles', id: '42', tags: [process.argv[2]] });
  await tagging.quit();
}

main();
