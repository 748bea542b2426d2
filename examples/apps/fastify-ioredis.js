// Fastify with ioredis: one connection that all requests share.
const fastify = require('fastify')()
const Redis = require('ioredis')

const redis = new Redis(process.env.REDIS_URL)

// Wrong: looks first and takes then; another request may take the last one in between.
fastify.post('/buy', async (request, reply) => {
  if (Number(await redis.get('stock')) <= 0) return reply.code(409).send('out\n')
  await redis.decr('stock')
  return 'sold\n'
})

// Right: takes first and looks what was left, and gives back what was not there.
fastify.post('/buy-once', async (request, reply) => {
  if (await redis.decr('stock') >= 0) return 'sold\n'
  await redis.incr('stock')
  return reply.code(409).send('out\n')
})

fastify.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
