<?php
// SPDX-License-Identifier: MIT
// Package: symfony-lock 5.4.53
// Is: the locks of Symfony
// Held: No other client is in the critical section, and no increment is lost.
// Link: https://github.com/symfony/lock
// Expected: serializable, 0
// Install: deb:php-symfony-lock=5.4.53 deb:php-redis=5.3.7 deb:php-cli=8.2
require '/usr/share/php/Symfony/Component/Lock/autoload.php';

$db = new Redis();
$db->connect(getenv('REDIS_HOST'), (int) getenv('REDIS_PORT'));
$store = new Symfony\Component\Lock\Store\RedisStore($db, 30.0);
$lock = (new Symfony\Component\Lock\LockFactory($store))->createLock('account', 30);

$lock->acquire(true);
$db->echo('redrace:enter');
$db->set('balance', (int) $db->get('balance') + 1);
$db->echo('redrace:leave');
$lock->release();
