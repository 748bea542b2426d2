// SPDX-License-Identifier: MIT
// The documents' counter: read, add one, write. Two of these lose an update.
//
//	redrace check -- node examples/check/counter.js
const Redis = require('ioredis');

async function main() {
  const db = new Redis(process.env.REDIS_URL);
  const value = Number(await db.get('counter'));

  await db.set('counter', value + 1);
  db.disconnect();
}

main();
