// A shop with one connection to Redis (npm: ioredis). Two customers who ask for the last one at
// once:
//
//   redrace check --init examples/check/stock.redis --app 'node examples/check/shop.js' \
//     --request 'curl -s -X POST {app}/buy'
//
// /buy-once lets a script decide.
const http = require('http')
const Redis = require('ioredis')

const redis = new Redis(process.env.REDIS_URL)
const take = `if tonumber(redis.call('GET', KEYS[1]) or 0) <= 0 then return 0 end
redis.call('DECR', KEYS[1])
return 1`

async function buy () {
  if (Number(await redis.get('stock')) <= 0) return false
  await redis.decr('stock')
  return true
}

async function buyOnce () {
  return await redis.eval(take, 1, 'stock') === 1
}

http.createServer(async (request, response) => {
  const sold = await (request.url === '/buy-once' ? buyOnce() : buy())
  response.statusCode = sold ? 200 : 409
  response.end(sold ? 'sold\n' : 'out\n')
}).listen(process.env.PORT, '127.0.0.1')
