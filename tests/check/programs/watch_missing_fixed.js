// SPDX-License-Identifier: MIT
// Right: the cart is watched, and who finds it changed looks again.
const redis = require('redis').createClient(process.env.REDIS_URL);

function checkout() {
  redis.watch('cart:ada');
  redis.lrange('cart:ada', 0, -1, (error, items) => {
    if (error) throw error;
    if (items.length === 0) {
      redis.quit();
      return;
    }
    redis.multi()
      .del('cart:ada')
      .rpush('orders', JSON.stringify(items))
      .exec((failed, results) => {
        if (failed) throw failed;
        if (results === null) checkout();
        else redis.quit();
      });
  });
}

checkout();
