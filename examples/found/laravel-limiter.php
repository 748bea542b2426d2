<?php
// SPDX-License-Identifier: MIT
// Package: illuminate-cache 8.83.26
// Is: the cache of Laravel in Redis, here its RateLimiter
// Lost: Two concurrent tries both find that none has been made: more than the limit are allowed.
// Kind: limit
// Fixed: not yet
// Link: https://github.com/laravel/docs/pull/11234
// Expected: not serializable, 1
// Options: --data-only
// Install: deb:php-illuminate-cache=8.83.26 deb:php-illuminate-redis=8.83.26 deb:php-predis=1.1.10
//   deb:php-cli=8.2
require '/usr/share/php/Illuminate/Redis/autoload.php';
require '/usr/share/php/Illuminate/Cache/autoload.php';
require '/usr/share/php/Predis/autoload.php';

use Illuminate\Cache\{RateLimiter, RedisStore, Repository};

$server = ['host' => getenv('REDIS_HOST'), 'port' => getenv('REDIS_PORT')];
$redis = new Illuminate\Redis\RedisManager(null, 'predis', ['default' => $server]);
$limiter = new RateLimiter(new Repository(new RedisStore($redis)));

$limiter->attempt('login:ann', 1, fn () => $redis->command('incr', ['tries']));
