// Fastify with node-redis: one connection that all requests share.
const fastify = require('fastify')()
const { createClient } = require('redis')

const redis = createClient({ url: process.env.REDIS_URL })
const take = `if tonumber(redis.call('GET', KEYS[1]) or 0) <= 0 then return 0 end
redis.call('DECR', KEYS[1])
return 1`

// Wrong: looks first and takes then; another request may take the last one in between.
fastify.post('/buy', async (request, reply) => {
  if (Number(await redis.get('stock')) <= 0) return reply.code(409).send('out\n')
  await redis.decr('stock')
  return 'sold\n'
})

// Right: a script looks and takes in one step.
fastify.post('/buy-once', async (request, reply) => {
  const sold = await redis.eval(take, { keys: ['stock'] })
  return reply.code(sold ? 200 : 409).send(sold ? 'sold\n' : 'out\n')
})

redis.connect().then(() =>
  fastify.listen({ port: Number(process.env.PORT), host: '127.0.0.1' }))
