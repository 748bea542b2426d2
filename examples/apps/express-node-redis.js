// Express with node-redis: one connection that all requests share.
const express = require('express')
const { createClient } = require('redis')

const redis = createClient({ url: process.env.REDIS_URL })
const app = express()

// Wrong: looks first and takes then; another request may take the last one in between.
app.post('/buy', async (request, response) => {
  if (Number(await redis.get('stock')) <= 0) return response.status(409).send('out\n')
  await redis.decr('stock')
  response.send('sold\n')
})

// Right: takes first and looks what was left, and gives back what was not there.
app.post('/buy-once', async (request, response) => {
  if (await redis.decr('stock') >= 0) return response.send('sold\n')
  await redis.incr('stock')
  response.status(409).send('out\n')
})

redis.connect().then(() => app.listen(process.env.PORT, '127.0.0.1'))
