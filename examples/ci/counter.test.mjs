// SPDX-License-Identifier: MIT
// One check of redrace as a test of node:test: node --test examples/ci/counter.test.mjs
//
// The program that is checked is counter.js, which loses updates: the test says that it does.
// A finding's message is what redrace prints: the schedule, and why.
import assert from "node:assert";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const redrace = process.env.REDRACE ?? "redrace";
const program = fileURLToPath(new URL("../check/counter.js", import.meta.url));

function check(...options) {
	return spawnSync(redrace, ["check", ...options], { encoding: "utf8" });
}

test("counter.js loses updates", () => {
	const done = check("--", process.execPath, program);

	assert.strictEqual(done.status, 1, done.stdout + done.stderr);
	assert.match(done.stdout, /^Why \(lost update\):$/m);
});
