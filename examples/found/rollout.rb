# SPDX-License-Identifier: MIT
# Package: rollout 2.5.0
# Is: feature flags for Ruby
# Lost: A feature is given to two users by two processes, and one does not get it.
# Kind: data
# Fixed: not by 2.6
# Link: new
# Expected: not serializable, 1
# Options: --init examples/found/rollout.redis
# Clients: ann bob
# Install: deb:ruby-rollout=2.5.0 deb:ruby-redis=4.8.0
require 'redis'
require 'rollout'

Rollout.new(Redis.new(url: ENV['REDIS_URL'])).activate_user(:chat, ARGV[0])
