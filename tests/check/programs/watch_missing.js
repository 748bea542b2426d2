// SPDX-License-Identifier: MIT
// Wrong: the cart is read before MULTI, and not watched.
const redis = require('redis').createClient(process.env.REDIS_URL);

redis.lrange('cart:ada', 0, -1, (error, items) => {
  if (error) throw error;
  if (items.length === 0) {
    redis.quit();
    return;
  }
  redis.multi()
    .del('cart:ada')
    .rpush('orders', JSON.stringify(items))
    .exec(() => redis.quit());
});
