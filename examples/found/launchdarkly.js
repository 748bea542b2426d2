// SPDX-License-Identifier: MIT
// Package: node-server-sdk-redis 4.2.35
// Is: the store of LaunchDarkly's feature flags in Redis (@launchdarkly/node-server-sdk-redis)
// Held: Of two versions of a flag that arrive concurrently the newer one stays (WATCH).
// Link: https://github.com/launchdarkly/js-core
// Expected: serializable, 0
// Clients: v2 v3
// Options: --init examples/found/launchdarkly.redis
// Install: npm:@launchdarkly/node-server-sdk-redis@4.2.35 npm:@launchdarkly/node-server-sdk@9.13.7
const { RedisFeatureStore } = require('@launchdarkly/node-server-sdk-redis');

const redisOpts = { host: process.env.REDIS_HOST, port: Number(process.env.REDIS_PORT) };
const store = RedisFeatureStore({ redisOpts })({ basicConfiguration: { logger: console } });
const flags = { namespace: 'features', deserialize: (text) => ({ version: JSON.parse(text).version }) };
const flag = { key: 'dark-mode', version: Number(process.argv[2].slice(1)), on: true };

flags.serialize = JSON.stringify;
store.upsert(flags, flag, () => store.close());
