// SPDX-License-Identifier: MIT
// Required by each Node program that is checked (NODE_OPTIONS): OpenSSL mixes clocks and addresses
// into its random bytes, and V8 has its own. Here all come from a stream of this thread, which
// begins with what /dev/urandom says (shim/random.c): the same in all runs of one client.
'use strict';
const crypto = require('crypto');
const fs = require('fs');

if (process.env.REDRACE_PROGRAM_PAGE) {
	const seed = Buffer.alloc(8);
	const device = fs.openSync('/dev/urandom', 'r');

	fs.readSync(device, seed, 0, seed.length, null);
	fs.closeSync(device);
	let state = seed.readBigUInt64LE();

	const word = () => { // SplitMix64
		state = BigInt.asUintN(64, state + 0x9e3779b97f4a7c15n);
		let z = state;
		z = BigInt.asUintN(64, (z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n);
		z = BigInt.asUintN(64, (z ^ (z >> 27n)) * 0x94d049bb133111ebn);
		return z ^ (z >> 31n);
	};
	const draw = (n) => {
		const bytes = Buffer.allocUnsafe((n + 7) & ~7);

		for (let i = 0; i < n; i += 8)
			bytes.writeBigUInt64LE(word(), i);
		return bytes.subarray(0, n);
	};
	// What a view of memory has from `offset` on, in elements as Node counts them.
	const bytesOf = (view, offset, size) => {
		const unit = view.BYTES_PER_ELEMENT || 1;
		const buffer = view.buffer || view;
		const begin = (view.byteOffset || 0) + (offset || 0) * unit;
		const end = size === undefined ? (view.byteOffset || 0) + view.byteLength : begin + size * unit;

		return new Uint8Array(buffer, begin, end - begin);
	};
	const fill = (bytes) => bytes.set(draw(bytes.length));
	const original = {};

	for (const name of ['randomBytes', 'randomFill', 'randomFillSync', 'randomInt', 'randomUUID'])
		original[name] = crypto[name];

	// Each original does its part (errors, when a callback comes); its bytes are replaced.
	Math.random = () => Number(word() >> 11n) / 2 ** 53;
	crypto.randomBytes = function randomBytes(size, callback) {
		if (callback === undefined) {
			const bytes = original.randomBytes(size);

			fill(bytes);
			return bytes;
		}
		const drawn = typeof callback === 'function' && size >= 0 && draw(size);
		return original.randomBytes(size, (error, bytes) => {
			if (!error)
				bytes.set(drawn);
			callback(error, bytes);
		});
	};
	crypto.pseudoRandomBytes = crypto.prng = crypto.rng = crypto.randomBytes;
	crypto.randomFillSync = function randomFillSync(view, offset, size) {
		original.randomFillSync(view, offset, size);
		fill(bytesOf(view, offset, size));
		return view;
	};
	crypto.randomFill = function randomFill(view, ...rest) {
		const callback = rest.pop();
		const [offset, size] = rest;

		original.randomFill(view, ...rest, typeof callback !== 'function' ? callback : (error) => {
			if (!error)
				fill(bytesOf(view, offset, size));
			callback(error, view);
		});
	};
	crypto.randomInt = function randomInt(min, max, callback) {
		if (max === undefined || typeof max === 'function')
			[min, max, callback] = [0, min, max];
		const value = () => min + Number(word() % BigInt(max - min));

		if (callback === undefined) {
			original.randomInt(min, max);
			return value();
		}
		const drawn = Number.isSafeInteger(min) && Number.isSafeInteger(max) && max > min && value();
		return original.randomInt(min, max, typeof callback !== 'function' ? callback :
			(error) => callback(error, error ? undefined : drawn));
	};
	if (original.randomUUID) {
		crypto.randomUUID = function randomUUID(options) {
			original.randomUUID(options);
			const bytes = draw(16);

			bytes[6] = bytes[6] & 15 | 64;
			bytes[8] = bytes[8] & 63 | 128;
			return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
		};
	}
	const web = crypto.webcrypto && Object.getPrototypeOf(crypto.webcrypto);

	if (web) {
		const getRandomValues = web.getRandomValues, randomUUID = web.randomUUID;

		Object.defineProperty(web, 'getRandomValues', {
			configurable: true, enumerable: true, writable: true,
			value: function (view) {
				getRandomValues.call(this, view);
				fill(bytesOf(view));
				return view;
			},
		});
		if (randomUUID) {
			Object.defineProperty(web, 'randomUUID', {
				configurable: true, enumerable: true, writable: true,
				value: function () {
					randomUUID.call(this);
					return crypto.randomUUID();
				},
			});
		}
	}
	require('module').syncBuiltinESMExports();
}
