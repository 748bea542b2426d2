<?php
// SPDX-License-Identifier: MIT
/*
 * The peers symfony-lock and symfony-redlock: Symfony's Lock on one server, and
 * its CombinedStore with the strategy of a majority, over phpredis. The first
 * word says which of them. PHP has no threads: each client is a process. The
 * store gives the lease, so that Symfony does not renew it at once.
 */
require '/usr/share/php/Symfony/Component/Lock/autoload.php';

use Symfony\Component\Lock\Key;
use Symfony\Component\Lock\Lock;
use Symfony\Component\Lock\Store\CombinedStore;
use Symfony\Component\Lock\Store\RedisStore;
use Symfony\Component\Lock\Strategy\ConsensusStrategy;

const TTL_S = 10.0;
const RETRY_US = 5000;

function connect(string $socket): Redis
{
	$link = new Redis();
	$link->connect($socket);
	return $link;
}

function make_lock(array $nodes, string $key): Lock
{
	$stores = array_map(fn($node) => new RedisStore($node, TTL_S), $nodes);
	$store = count($stores) > 1 ?
		new CombinedStore($stores, new ConsensusStrategy()) : $stores[0];

	return new Lock(new Key($key), $store, null, false);
}

/* The data server's link, and a lock of one's own. */
function open_client(string $key, array $sockets): array
{
	$links = array_map('connect', $sockets);
	$nodes = count($links) > 1 ? array_slice($links, 1) : $links;

	return [$links[0], make_lock($nodes, $key)];
}

function increments(Redis $link, Lock $lock, string $counter, int $n): void
{
	for ($i = 0; $i < $n; $i++) {
		while (!$lock->acquire())
			usleep(RETRY_US);
		$link->set($counter, (int)$link->get($counter) + 1);
		$lock->release();
	}
}

/* ---- Counting ------------------------------------------------------------ */

/* One client, in its process: warms up, says so, counts when it is told to, and
 * says when it began and ended. */
function be_client($socket, int $warmup, int $measured, string $counter,
		   string $key, array $sockets): void
{
	[$link, $lock] = open_client($key, $sockets);
	increments($link, $lock, $counter, $warmup);
	fwrite($socket, "ready\n");
	if (fgets($socket) === false)
		exit(1);
	$began = hrtime(true);
	increments($link, $lock, $counter, $measured);
	fwrite($socket, $began . ' ' . hrtime(true) . "\n");
	exit(0);
}

function share(int $total, int $n, int $i): int
{
	return intdiv($total, $n) + ($i < $total % $n ? 1 : 0);
}

function start_client(int $warmup, int $measured, string $counter, string $key,
		      array $sockets)
{
	[$ours, $theirs] = stream_socket_pair(STREAM_PF_UNIX, STREAM_SOCK_STREAM,
					      STREAM_IPPROTO_IP);

	if (pcntl_fork() === 0) {
		fclose($ours);
		be_client($theirs, $warmup, $measured, $counter, $key, $sockets);
	}
	fclose($theirs);
	return $ours;
}

function line_of($client): string
{
	$line = fgets($client);

	if ($line === false)
		throw new Exception('a client ended before its time');
	return $line;
}

function count_up(string $clients, string $total, string $warmup,
		  string $counter, string $key, string ...$sockets): void
{
	$n = (int)$clients;
	$started = [];
	for ($i = 0; $i < $n; $i++)
		$started[] = start_client(share((int)$warmup, $n, $i),
					  share((int)$total, $n, $i), $counter,
					  $key, $sockets);
	foreach ($started as $client)
		line_of($client);
	foreach ($started as $client)
		fwrite($client, "go\n");
	$times = array_map(fn($client) => explode(' ', line_of($client)), $started);
	$took_s = (max(array_column($times, 1)) - min(array_column($times, 0))) / 1e9;
	say(['increments_per_s' => (int)$total / $took_s,
	     'final' => (int)connect($sockets[0])->get($counter)]);
}

/* ---- Holding ------------------------------------------------------------- */

function hold(string $key, string ...$sockets): void
{
	[, $lock] = open_client($key, $sockets);
	$acquired = $lock->acquire();

	say(['acquired' => $acquired]);
	if (!$acquired)
		return;
	stream_get_contents(STDIN);
	$lock->release();
	say(['released' => true]);
}

/* ---- The command line ---------------------------------------------------- */

function version_of_package(string $name): string
{
	$version = shell_exec('dpkg-query -W -f \'${Version}\' ' .
			      escapeshellarg($name) . ' 2>/dev/null');

	return $version ? preg_replace('/[+-].*$/', '', $version) : 'unknown';
}

function versions(): void
{
	say(['peer' => 'symfony/lock ' . version_of_package('php-symfony-lock') .
		       ' over phpredis ' . phpversion('redis'),
	     'runtime' => 'PHP ' . PHP_MAJOR_VERSION . '.' . PHP_MINOR_VERSION .
			  '.' . PHP_RELEASE_VERSION]);
}

function say(array $fields): void
{
	echo json_encode($fields, JSON_PRESERVE_ZERO_FRACTION), "\n";
}

$modes = ['count' => 'count_up', 'hold' => 'hold', 'versions' => 'versions'];
try {
	$modes[$argv[2]](...array_slice($argv, 3));
} catch (Throwable $error) {
	fwrite(STDERR, 'symfony/lock: ' . $error->getMessage() . "\n");
	exit(1);
}
