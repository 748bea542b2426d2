// SPDX-License-Identifier: MIT
// Package: agoragames-leaderboard 2.1.0
// Is: leaderboards in Redis, here the one that gives members of one score one rank
// Lost: Two games end at the same time: the score has the points of one game. Where two members of
//   one score win, the old score stays a rank that no member has.
// Kind: data
// Fixed: not yet
// Link: https://github.com/agoragames/leaderboard-coffeescript
// Expected: not serializable, 1
// Options: --init examples/found/leaderboard.redis
// Install: npm:agoragames-leaderboard@2.1.0
const TieRankingLeaderboard = require('agoragames-leaderboard/lib/tie_ranking_leaderboard');

const server = { host: process.env.REDIS_HOST, port: Number(process.env.REDIS_PORT) };
const board = new TieRankingLeaderboard('season', {}, server);

board.changeScoreFor('ann', 10, () => board.disconnect());
