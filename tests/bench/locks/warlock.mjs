// SPDX-License-Identifier: MIT
/*
 * The peer warlock (node-redis-warlock), one object per client. It puts ":lock"
 * behind the name it is given.
 */
import { PATIENCE_MS, RETRY_MS, start } from './peer.mjs';

const SUFFIX = ':lock';

/* Its answers come by callbacks. */
function answer_of(ask) {
	return new Promise((resolve, reject) => ask(
		(error, answer) => error ? reject(error) : resolve(answer)));
}

await start('node-redis-warlock', (warlock_on) => (nodes, key, ttl_ms, patient) => {
	const warlock = warlock_on(nodes[0]);
	const attempts = patient ? PATIENCE_MS / RETRY_MS : 1;
	const name = key.slice(0, -SUFFIX.length);
	let unlock;

	async function acquire() {
		try {
			unlock = await answer_of((done) => warlock.optimistic(
				name, ttl_ms, attempts, RETRY_MS, done));
			return true;
		} catch (error) {
			if (error.maxAttempts)
				return false;
			throw error;
		}
	}
	if (!key.endsWith(SUFFIX))
		throw new Error(`its keys end in ${SUFFIX}`);
	return { acquire, release: () => answer_of(unlock) };
});
