<?php
// SPDX-License-Identifier: MIT
// Package: symfony-http-foundation 5.4.53
// Is: the sessions of Symfony in Redis
// Lost: Two concurrent requests of one user: the session loses what the first one stores, because
//   this handler does not lock it as PHP's own does.
// Kind: data
// Fixed: not yet
// Link: https://github.com/symfony/symfony/issues/37928
// Expected: not serializable, 1
// Options: --init examples/found/symfony-session.redis
// Install: deb:php-symfony-http-foundation=5.4.53 deb:php-redis=5.3.7 deb:php-cli=8.2
require '/usr/share/php/Symfony/Component/HttpFoundation/autoload.php';

use Symfony\Component\HttpFoundation\Session\Storage\Handler\RedisSessionHandler;

$db = new Redis();
$db->connect(getenv('REDIS_HOST'), (int) getenv('REDIS_PORT'));
ini_set('session.use_cookies', '0');
session_set_save_handler(new RedisSessionHandler($db), true);
session_id('0123456789abcdef0123456789abcdef');
session_start();
$_SESSION[getenv('REDRACE_CLIENT')] = true;
session_write_close();
