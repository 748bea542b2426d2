// SPDX-License-Identifier: MIT
/*
 * The peer redlock of npm (node-redlock), one object per client. Release
 * 5.0.0-beta.2 was as fast as 4.2.0.
 */
import { RETRY_MS, start } from './peer.mjs';

const JITTER_MS = 1;

await start('redlock', (Redlock) => (nodes, key, ttl_ms, patient) => {
	const redlock = new Redlock(nodes, {
		retryCount: patient ? -1 : 0,
		retryDelay: RETRY_MS,
		retryJitter: JITTER_MS,
	});
	let held;

	async function acquire() {
		try {
			held = await redlock.lock(key, ttl_ms);
			return true;
		} catch (error) {
			if (error instanceof Redlock.LockError)
				return false;
			throw error;
		}
	}
	return { acquire, release: () => held.unlock() };
});
