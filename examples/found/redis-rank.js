// SPDX-License-Identifier: MIT
// Package: redis-rank 2.2.3
// Is: leaderboards for Node.js
// Held: The points of two concurrent games are all counted, in each of the player's columns.
// Link: https://github.com/mlomb/redis-rank
// Expected: serializable, 0
// Install: npm:redis-rank@2.2.3 npm:ioredis@5.11.1
const Redis = require('ioredis');
const { LeaderboardMatrix } = require('redis-rank');

const db = new Redis(process.env.REDIS_URL);
const options = { sortPolicy: 'high-to-low', updatePolicy: 'aggregate' };
const matrix = new LeaderboardMatrix(db, 'season', {
  dimensions: [{ name: 'all' }],
  features: [{ name: 'kills', options }, { name: 'points', options }],
});

async function main() {
  await matrix.update([{ id: 'ann', values: { kills: 5, points: 500 } }]);
  db.disconnect();
}

main();
