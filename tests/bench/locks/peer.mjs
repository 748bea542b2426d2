// SPDX-License-Identifier: MIT
/*
 * What the peers that run under node share: connections, the counting loop and
 * the words of the command line (see run). A peer gives start() the name of its
 * package and how to make a lock of it, patient or asking once: an object with
 * acquire(), which tells whether it was granted, and release().
 *
 * The clients of a count are asynchronous functions of one process, each with
 * connections of its own: measured beside a process per client, that was three
 * times as fast with eight clients and a quarter faster with two.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const TTL_MS = 10000;
const SKIPPED = 77;
const PEERS = new URL('../../../build/peers/', import.meta.url);
const packages = createRequire(new URL('package.json', PEERS));

/* What everybody waits who is refused; see ../peers. */
export const RETRY_MS = 5;
export const PATIENCE_MS = 600000;

/* A package, of whichever kind. */
async function load(name) {
	try {
		const file = packages.resolve(name);
		const module = await import(pathToFileURL(file));

		return module.default ?? module;
	} catch (error) {
		if (error.code !== 'MODULE_NOT_FOUND')
			throw error;
		console.error(`npm's ${name} is not in build/peers; make deps-peers`);
		process.exit(SKIPPED);
	}
}

export function pause(ms) {
	return new Promise((resolve) => setTimeout(resolve, ms));
}

function say(fields) {
	console.log(JSON.stringify(fields));
}

/* ---- Clients ------------------------------------------------------------- */

/* A server that is gone ends the peer: nobody waits for it to come back. */
async function connect(Redis, path) {
	const link = new Redis({ path, lazyConnect: true,
				 retryStrategy: null });

	link.on('error', () => {}); // the command that fails tells
	await link.connect();
	return link;
}

async function open_client(peer, sockets, key, patient) {
	const links = await Promise.all(
		sockets.map((path) => connect(peer.Redis, path)));
	const nodes = links.length > 1 ? links.slice(1) : links;

	return { data: links[0],
		 lock: peer.make_lock(nodes, key, TTL_MS, patient) };
}

/* ---- Counting ------------------------------------------------------------ */

async function increments({ data, lock }, counter, n) {
	for (let i = 0; i < n; i++) {
		if (!await lock.acquire())
			throw new Error('no lock, however patient');
		await data.set(counter, Number(await data.get(counter)) + 1);
		await lock.release();
	}
}

/* `total` increments, split over the clients. */
function run(clients, counter, total) {
	const n = clients.length;
	const share = (i) => Math.floor(total / n) + (i < total % n ? 1 : 0);

	return Promise.all(clients.map(
		(client, i) => increments(client, counter, share(i))));
}

async function count(peer, n, total, warmup, counter, key, ...sockets) {
	const clients = await Promise.all(Array.from({ length: Number(n) },
		() => open_client(peer, sockets, key, true)));

	await run(clients, counter, Number(warmup));
	const began_ms = performance.now();
	await run(clients, counter, Number(total));
	const took_s = (performance.now() - began_ms) / 1000;
	const final = Number(await clients[0].data.get(counter));
	say({ increments_per_s: Number(total) / took_s, final });
}

/* ---- Holding ------------------------------------------------------------- */

async function standard_input_ends() {
	process.stdin.resume();
	await new Promise((resolve) => process.stdin.once('end', resolve));
}

async function hold(peer, key, ...sockets) {
	const { lock } = await open_client(peer, sockets, key, false);
	const acquired = await lock.acquire();

	say({ acquired });
	if (!acquired)
		return;
	await standard_input_ends();
	await lock.release();
	say({ released: true });
}

/* ---- The command line ---------------------------------------------------- */

function version(name) {
	const about = new URL(`node_modules/${name}/package.json`, PEERS);

	return JSON.parse(readFileSync(about)).version;
}

function versions(peer) {
	say({
		peer: `${peer.name} ${version(peer.name)} over ioredis ${version('ioredis')}`,
		runtime: `Node.js ${process.versions.node}`,
	});
}

export async function start(name, make_maker) {
	const modes = { count, hold, versions };
	const { Redis } = await load('ioredis');
	const peer = { name, Redis, make_lock: make_maker(await load(name)) };
	const [mode, ...words] = process.argv.slice(2);

	try {
		await modes[mode](peer, ...words);
		process.exit(0);
	} catch (error) {
		console.error(`${name}: ${error.message}`);
		process.exit(1);
	}
}
