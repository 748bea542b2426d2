<?php
// SPDX-License-Identifier: MIT
// The counter under a lock with a token, by hand, with phpredis: asked for until it is there.
//
//	redrace check -- php examples/check/lock.php
$db = new Redis();
$db->connect(getenv('REDIS_HOST'), (int) getenv('REDIS_PORT'));
$token = bin2hex(random_bytes(16));
while (!$db->set('lock', $token, ['nx', 'px' => 10000])) {
    usleep(50000);
}
$db->set('counter', (int) $db->get('counter') + 1);
$db->eval(
    "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0",
    ['lock', $token],
    1
);
