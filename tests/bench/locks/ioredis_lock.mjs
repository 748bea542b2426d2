// SPDX-License-Identifier: MIT
/* The peer ioredis-lock, as @microfleet keeps it: one object per client. */
import { PATIENCE_MS, RETRY_MS, start } from './peer.mjs';

await start('@microfleet/ioredis-lock', (ioredis_lock) => (nodes, key, ttl_ms, patient) => {
	const lock = ioredis_lock.createLock(nodes[0], {
		timeout: ttl_ms,
		retries: patient ? PATIENCE_MS / RETRY_MS : 0,
		delay: RETRY_MS,
		jitter: 1,
	});

	async function acquire() {
		try {
			await lock.acquire(key);
			return true;
		} catch (error) {
			if (error instanceof ioredis_lock.LockAcquisitionError)
				return false;
			throw error;
		}
	}
	return { acquire, release: () => lock.release() };
});
