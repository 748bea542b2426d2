// SPDX-License-Identifier: MIT
// Package: shopify-app-session-storage-redis 8.0.0
// Is: the sessions of Shopify apps in Redis (@shopify/shopify-app-session-storage-redis)
// Lost: Two users of one shop log in at the same time: the session of one is not listed with the
//   shop, and is not found when those of the shop are removed, as when the app is uninstalled.
// Kind: access
// Fixed: not yet
// Link: new
// Expected: not serializable, 1
// Options: --init examples/found/shopify-session.redis
// Clients: ann bob
// Install: npm:@shopify/shopify-app-session-storage-redis@8.0.0 npm:@shopify/shopify-api@15.0.0
//   npm:@shopify/shopify-app-session-storage@7.0.0
const { RedisSessionStorage } = require('@shopify/shopify-app-session-storage-redis');
const { Session } = require('@shopify/shopify-api');

const user = process.argv[2];

async function main() {
  const storage = new RedisSessionStorage(process.env.REDIS_URL);

  await storage.storeSession(new Session({
    id: `${user}-session`, shop: 'shop.myshopify.com', state: user, isOnline: true,
  }));
  await storage.disconnect();
}

main();
