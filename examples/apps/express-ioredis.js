// Express with ioredis: one connection that all requests share.
const express = require('express')
const Redis = require('ioredis')

const redis = new Redis(process.env.REDIS_URL)
const take = `if tonumber(redis.call('GET', KEYS[1]) or 0) <= 0 then return 0 end
redis.call('DECR', KEYS[1])
return 1`

const app = express()

// Wrong: looks first and takes then; another request may take the last one in between.
app.post('/buy', async (request, response) => {
  if (Number(await redis.get('stock')) <= 0) return response.status(409).send('out\n')
  await redis.decr('stock')
  response.send('sold\n')
})

// Right: a script looks and takes in one step.
app.post('/buy-once', async (request, response) => {
  const sold = await redis.eval(take, 1, 'stock')
  response.status(sold ? 200 : 409).send(sold ? 'sold\n' : 'out\n')
})

app.listen(process.env.PORT, '127.0.0.1')
