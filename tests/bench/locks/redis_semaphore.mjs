// SPDX-License-Identifier: MIT
/*
 * The peers redis-semaphore and redis-semaphore-redlock: its Mutex and its
 * RedlockMutex, one object per client, without renewal. Both put "mutex:"
 * before the name they are given. The first word says which of them.
 */
import { PATIENCE_MS, RETRY_MS, start } from './peer.mjs';

const PREFIX = 'mutex:';
const [kind] = process.argv.splice(2, 1);

function mutex_on(semaphore, nodes, key, ttl_ms, limits) {
	const options = {
		lockTimeout: ttl_ms,
		retryInterval: RETRY_MS,
		refreshInterval: 0,
		...limits,
	};

	if (!key.startsWith(PREFIX))
		throw new Error(`its keys begin with ${PREFIX}`);
	if (kind === 'redlock')
		return new semaphore.RedlockMutex(
			nodes, key.slice(PREFIX.length), options);
	return new semaphore.Mutex(nodes[0], key.slice(PREFIX.length), options);
}

await start('redis-semaphore', (semaphore) => (nodes, key, ttl_ms, patient) => {
	const mutex = mutex_on(semaphore, nodes, key, ttl_ms, patient ?
		{ acquireTimeout: PATIENCE_MS } : { acquireAttemptsLimit: 1 });

	return {
		acquire: () => mutex.tryAcquire(),
		release: () => mutex.release(),
	};
});
