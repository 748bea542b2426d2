// SPDX-License-Identifier: MIT
/*
 * The peer redis-semaphore: its Mutex, one object per client, without renewal.
 * It puts "mutex:" before the name it is given. The pause between two attempts
 * was the best of 1, 2 and 5 ms.
 */
import { start } from './peer.mjs';

const PREFIX = 'mutex:';
const RETRY_MS = 5;
const PATIENCE_MS = 600000;

function mutex_on(Mutex, link, key, ttl_ms, limits) {
	if (!key.startsWith(PREFIX))
		throw new Error(`its keys begin with ${PREFIX}`);
	return new Mutex(link, key.slice(PREFIX.length), {
		lockTimeout: ttl_ms,
		retryInterval: RETRY_MS,
		refreshInterval: 0,
		...limits,
	});
}

await start('redis-semaphore', (Mutex_package) => (nodes, key, ttl_ms, patient) => {
	const mutex = mutex_on(Mutex_package.Mutex, nodes[0], key, ttl_ms, patient ?
		{ acquireTimeout: PATIENCE_MS } : { acquireAttemptsLimit: 1 });

	return {
		acquire: () => mutex.tryAcquire(),
		release: () => mutex.release(),
	};
});
