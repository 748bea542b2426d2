// Express with BullMQ: what was sold becomes a job of a queue, on the connection of the app. The time of
// a job is data, and would be another one in each order of the requests; so all have the same one.
const express = require('express')
const Redis = require('ioredis')
const { Queue } = require('bullmq')

const redis = new Redis(process.env.REDIS_URL, { maxRetriesPerRequest: null })
const parcels = new Queue('parcels', { connection: redis })
const take = `if tonumber(redis.call('GET', KEYS[1]) or 0) <= 0 then return 0 end
redis.call('DECR', KEYS[1])
return 1`

const app = express()

async function sell(response) {
  await parcels.add('parcel', {}, { timestamp: 1 })
  response.send('sold\n')
}

// Wrong: looks first and takes then; another request may take the last one in between.
app.post('/buy', async (request, response) => {
  if (Number(await redis.get('stock')) <= 0) return response.status(409).send('out\n')
  await redis.decr('stock')
  await sell(response)
})

// Right: a script looks and takes in one step.
app.post('/buy-once', async (request, response) => {
  if (!await redis.eval(take, 1, 'stock')) return response.status(409).send('out\n')
  await sell(response)
})

app.listen(process.env.PORT, '127.0.0.1')
