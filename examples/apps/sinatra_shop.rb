# Sinatra on Puma with redis-rb: a thread for each request, and a pool of connections.
require 'connection_pool'
require 'redis'
require 'sinatra/base'

class Shop < Sinatra::Base
  set :server, :puma
  set :bind, '127.0.0.1'
  set :port, ENV.fetch('PORT')
  set :pool, ConnectionPool.new(size: 5) { Redis.new(url: ENV.fetch('REDIS_URL')) }

  # Wrong: looks first and takes then; another request may take the last one in between.
  post '/buy' do
    settings.pool.with do |redis|
      halt 409, "out\n" if redis.get('stock').to_i <= 0
      redis.decr('stock')
    end
    "sold\n"
  end

  # Right: takes first and looks what was left, and gives back what was not there.
  post '/buy-once' do
    settings.pool.with do |redis|
      next "sold\n" if redis.decr('stock') >= 0
      redis.incr('stock')
      halt 409, "out\n"
    end
  end
end

Shop.run!
