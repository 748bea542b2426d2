// SPDX-License-Identifier: MIT
/* The peer @sesamecare-oss/redlock, one object per client. */
import { RETRY_MS, start } from './peer.mjs';

const JITTER_MS = 1;

await start('@sesamecare-oss/redlock', (redlock) => (nodes, key, ttl_ms, patient) => {
	const quorum = new redlock.Redlock(nodes, {
		retryCount: patient ? -1 : 0,
		retryDelay: RETRY_MS,
		retryJitter: JITTER_MS,
	});
	let held;

	async function acquire() {
		try {
			held = await quorum.acquire([key], ttl_ms);
			return true;
		} catch (error) {
			if (error instanceof redlock.ExecutionError)
				return false;
			throw error;
		}
	}
	return { acquire, release: () => held.release() };
});
