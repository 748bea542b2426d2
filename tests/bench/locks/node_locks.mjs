// SPDX-License-Identifier: MIT
/*
 * The peers that run under node, by the names that run gives them: each names its
 * package and makes a lock, one object per client, patient or asking once.
 */
import { PATIENCE_MS, RETRY_MS, start } from './peer.mjs';

const ATTEMPTS = PATIENCE_MS / RETRY_MS;
const JITTER_MS = 1;

/* acquire() of a lock that says by an error that it was refused. */
function granted(acquire, is_refusal) {
	return async () => {
		try {
			await acquire();
			return true;
		} catch (error) {
			if (is_refusal(error))
				return false;
			throw error;
		}
	};
}

function redlock_options(patient) {
	return { retryCount: patient ? -1 : 0, retryDelay: RETRY_MS, retryJitter: JITTER_MS };
}

/* As @microfleet keeps it. */
const ioredis_lock = (package_) => (nodes, key, ttl_ms, patient) => {
	const lock = package_.createLock(nodes[0], {
		timeout: ttl_ms,
		retries: patient ? ATTEMPTS : 0,
		delay: RETRY_MS,
		jitter: JITTER_MS,
	});

	return {
		acquire: granted(() => lock.acquire(key),
			(error) => error instanceof package_.LockAcquisitionError),
		release: () => lock.release(),
	};
};

/* redlock of npm: release 5.0.0-beta.2 was as fast as 4.2.0. */
const node_redlock = (Redlock) => (nodes, key, ttl_ms, patient) => {
	const redlock = new Redlock(nodes, redlock_options(patient));
	let held;

	return {
		acquire: granted(async () => { held = await redlock.lock(key, ttl_ms); },
			(error) => error instanceof Redlock.LockError),
		release: () => held.unlock(),
	};
};

const sesamecare_redlock = (package_) => (nodes, key, ttl_ms, patient) => {
	const redlock = new package_.Redlock(nodes, redlock_options(patient));
	let held;

	return {
		acquire: granted(async () => { held = await redlock.acquire([key], ttl_ms); },
			(error) => error instanceof package_.ExecutionError),
		release: () => held.release(),
	};
};

/* What of the key a package is given that adds a part of its own before and behind. */
function inner_name(key, before, behind) {
	if (!key.startsWith(before) || !key.endsWith(behind))
		throw new Error(`its keys are ${before}...${behind}`);
	return key.slice(before.length, key.length - behind.length);
}

/* Without renewal. */
const semaphore = (make) => (package_) => (nodes, key, ttl_ms, patient) => {
	const mutex = make(package_, nodes, inner_name(key, 'mutex:', ''), {
		lockTimeout: ttl_ms,
		retryInterval: RETRY_MS,
		refreshInterval: 0,
		...(patient ? { acquireTimeout: PATIENCE_MS } : { acquireAttemptsLimit: 1 }),
	});

	return { acquire: () => mutex.tryAcquire(), release: () => mutex.release() };
};

const redis_semaphore = semaphore(({ Mutex }, nodes, name, options) =>
	new Mutex(nodes[0], name, options));
const redis_semaphore_redlock = semaphore(({ RedlockMutex }, nodes, name, options) =>
	new RedlockMutex(nodes, name, options));

/* Its answers come by callbacks. */
function answer_of(ask) {
	return new Promise((resolve, reject) => ask(
		(error, answer) => error ? reject(error) : resolve(answer)));
}

const warlock = (warlock_on) => (nodes, key, ttl_ms, patient) => {
	const lock = warlock_on(nodes[0]);
	const name = inner_name(key, '', ':lock');
	let unlock;

	async function ask() {
		unlock = await answer_of((done) => lock.optimistic(
			name, ttl_ms, patient ? ATTEMPTS : 1, RETRY_MS, done));
	}
	return {
		acquire: granted(ask, (error) => error.maxAttempts),
		release: () => answer_of(unlock),
	};
};

const peers = {
	'ioredis-lock': ['@microfleet/ioredis-lock', ioredis_lock],
	'node-redlock': ['redlock', node_redlock],
	'redis-semaphore': ['redis-semaphore', redis_semaphore],
	'redis-semaphore-redlock': ['redis-semaphore', redis_semaphore_redlock],
	'sesamecare-redlock': ['@sesamecare-oss/redlock', sesamecare_redlock],
	'warlock': ['node-redis-warlock', warlock],
};
const [name] = process.argv.splice(2, 1);

await start(...peers[name]);
