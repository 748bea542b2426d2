/* SPDX-License-Identifier: MIT */
/* Plays the game in a browser: node tests/report/game.js game.html own.html tags.html */
"use strict";

const assert = require("assert");
const { browse, barriers, overflow, sheets, isFirefox } = require("./browser.js");

const url = "file://" + process.argv[2];
const text = (page, id) => page.evaluate((name) => document.getElementById(name).textContent, id);
const isDone = (page) => page.evaluate(() => !document.getElementById("done").hidden);
const levelsOf = (page) => page.evaluate(() =>
	JSON.parse(document.getElementById("levels").textContent)
		.map(({ name, solution, explain, graph }) =>
			({ name, solution, explain, lanes: graph.lanes.map(([lane]) => lane) })));

/* The address of a page that is open is changed. */
async function turnTo(page, hash) {
	await page.evaluate((wanted) => new Promise((done) => {
		if (location.hash === wanted) return done();
		addEventListener("hashchange", () => done(), { once: true });
		location.hash = wanted;
	}), hash);
}

async function pick(page, word) {
	const found = await page.evaluate((wanted) => {
		const button = [...document.querySelectorAll("#moves button")]
			.find((one) => one.dataset.word === wanted);
		button?.click();
		return Boolean(button);
	}, word);
	assert(found, "nobody can do " + word);
}

/* Who can do a command is at a line. */
async function linesAreMarked(page, level, where) {
	const [able, marked] = await page.evaluate(() => [
		[...document.querySelectorAll("#moves button[class^=c]:not(.fault)")].map((one) => one.classList[0]),
		[...document.querySelectorAll("#program li.now")].map((one) => one.textContent.split(/ \u2190 |, /)),
	]);
	for (const client of able)
		assert(marked.flat().includes(level.lanes[client.slice(1)]),
			`${level.name} before ${where}: ${client} is at no line`);
}

/* Solves all levels by their buttons, and each again by its address. */
async function solveAll(open) {
	const page = await open(url), again = await open(url);
	const levels = await levelsOf(page);
	for (const level of levels) {
		for (const word of level.solution.split(" ")) {
			assert(!await isDone(page), level.name + " is done too early");
			await linesAreMarked(page, level, word);
			await pick(page, word);
		}
		assert(await isDone(page), level.name + " is not done");
		assert((await text(page, "done")).includes(level.explain[0]));
		await turnTo(again, await page.evaluate(() => location.hash));
		assert.strictEqual(await text(again, "lanes"), await text(page, "lanes"),
			level.name + " by its address");
		await page.evaluate(() => document.getElementById("next").click());
	}
	assert.match(await text(page, "title"), /^Level 1 of/);
	assert.strictEqual(await text(page, "reached"),
		`${levels.length} of ${levels.length} reached`);
	await again.close();
	await page.close();
}

/* The hints behind the written ones lead to the goal, from wherever that is possible. */
async function followHints(page, hash) {
	await turnTo(page, hash);
	for (let i = 0; i < 40 && !await isDone(page); i++) {
		for (let j = 0; j < 9 && !await page.$("#moves button.shown"); j++)
			await page.keyboard.press("h");
		await page.evaluate(() => document.querySelector("#moves button.shown").click());
	}
	assert(await isDone(page), hash + ": the hints do not lead to the goal");
}

async function keysAndCounts(open) {
	const page = await open(url + "#level=1");
	assert.strictEqual(await text(page, "ways"), "Nothing has happened yet.");
	await page.keyboard.press("c");
	assert.strictEqual(await text(page, "ways"), "From here 6 ways: 2 end well, 4 badly.");
	await page.keyboard.press("a");
	await page.keyboard.press("2");
	assert.strictEqual(await text(page, "ways"), "From here 2 ways: 0 end well, 2 badly.");
	assert.match(await text(page, "said"), /B GET counter:0 => \(nil\)\. From here 2 ways/);
	await page.keyboard.press("Backspace");
	assert.strictEqual(await text(page, "ways"), "From here 3 ways: 1 ends well, 2 badly.");
	assert.match(await page.evaluate(() => location.hash), /^#level=1&path=A$/);
	await page.keyboard.press("a");
	await page.keyboard.press("b");
	await page.keyboard.press("b");
	assert.match(await text(page, "ways"), /nothing is broken/);
	assert(!await isDone(page));
	assert.match(await text(page, "missed"), /the task asks for something else: .*disappear/);
	assert(await page.$eval("#missed", (box) => box.offsetHeight > 0));
	assert.strictEqual(await page.$eval("#share", (bar) => bar.className), "missed");
	assert.strictEqual(await text(page, "command"),
		'redrace play --processes 1 --schedule "A:GET A:SET B:GET B:SET" none');
	await page.keyboard.press("r");
	for (const key of "abab") await page.keyboard.press(key);
	assert(await isDone(page));
	assert.match(await text(page, "ways"), /counted 2, the counter is 1/);
	assert(await page.$eval("#missed", (box) => box.hidden));
	await page.keyboard.press("n");
	assert.match(await text(page, "title"), /^Level 2 of/);
	await turnTo(page, "#level=1&path=ABA");
	await page.keyboard.press("b");
	await page.click("#next");
	assert.match(await text(page, "title"), /^Level 2 of/);
	await page.keyboard.press("a");
	assert.strictEqual(await page.evaluate(() => location.hash), "#level=2&path=A", "keys after Next level");
	await page.close();
}

/* A key may look like the beginning of a comment or a script. */
async function tags(open) {
	const page = await open("file://" + process.argv[4]);
	assert((await page.$$("#moves button")).length > 0);
	assert.match(await text(page, "moves"), /<!-- <script>/);
	await page.close();
}

/* The line that a client is at is marked, and a level that was reached stays so. */
async function linesAndMemory(open) {
	const page = await open(url + "#level=1");
	const now = () => page.$$eval("#program li.now", (items) => items.map((one) => one.textContent));
	assert.deepStrictEqual(await now(), ["GET \u2190 A, B"]);
	await page.keyboard.press("a");
	assert.deepStrictEqual(await now(), ["GET \u2190 B", "SET \u2190 A"]);
	await turnTo(page, "#level=6");
	assert.deepStrictEqual(await now(), ["SET NX EX \u2190 A, B"]);
	await turnTo(page, "#level=9");
	assert.deepStrictEqual(await now(), ["SET NX PX token \u2190 A, B"]);
	await turnTo(page, "#level=5&path=A");
	assert.deepStrictEqual(await now(), ["SETNX \u2190 B", "EXPIRE if won \u2190 A"]);
	await turnTo(page, "#level=1&path=ABAB");
	assert(await isDone(page));
	await page.reload();
	assert.match(await text(page, "reached"), /of \d+ reached/);
	await page.close();
}

/* A page of a check has one level: its program's text, and how its own programs do the same. */
async function own(open) {
	const page = await open("file://" + process.argv[3]);
	const [{ solution }] = await levelsOf(page);
	assert.strictEqual(await text(page, "title"), "sh examples/check/counter.sh");
	assert(await page.$eval("#choice", (box) => box.offsetHeight === 0));
	assert.match(await text(page, "text"), /SET counter/);
	for (const word of solution.split(" ")) await pick(page, word);
	assert(await isDone(page));
	assert.match(await text(page, "ways"), /No serial order ends like that\.$/);
	assert.match(await text(page, "done"), /did not see/);
	await page.click("#real summary");
	assert.strictEqual(await text(page, "schedule"),
		"# redrace check --clients 2\n# schedule " + solution);
	assert(await page.$eval("#no-play", (box) => box.offsetHeight === 0));
	for (const width of [360, 1024, 1920]) {
		await page.setViewport({ width, height: 800 });
		assert(await overflow(page) <= 0, `overflow, ${width}`);
	}
	assert.deepStrictEqual(await barriers(page), []);
	await page.close();
}

/* An app's lanes are its requests and its connections. */
async function requests(open) {
	const page = await open(url);
	const levels = await levelsOf(page);
	await turnTo(page, "#level=" + (levels.findIndex(({ name }) => name === "both-sold") + 1) + "&path=ABCDC");
	assert.deepStrictEqual(await page.$$eval("#lanes th", (heads) => heads.map((one) => one.textContent)),
		["#", "request 1", "request 2", "app", "app2", "redis"]);
	assert.match(await text(page, "moves"), /request 1: => sold/);
	assert.match(await text(page, "state"), /request 2waits for its answer/);
	await page.keyboard.press("a");
	assert.match(await text(page, "state"), /request 1was told: sold/);
	await page.close();
}

async function strangeAddresses(open) {
	const page = await open(url + "#level=99&path=ABAB");
	assert.match(await text(page, "title"), /^Level 1 of/);
	await page.close();
	// A page of its own: the game mends the address that it was given.
	const stopped = await open(url + "#level=1&path=A9B");
	assert.match(await text(stopped, "ways"), /stopped before it/);
	await stopped.close();
}

async function looks(open) {
	const page = await open(url);
	for (const size of ["usual", "large"]) {
		for (const width of [360, 1024, 1920]) {
			await page.setViewport({ width, height: 800 });
			for (const hash of ["#level=1&path=ABAB", "#level=6&path=A3B", "#level=14&path=A",
				"#level=17"]) {
				await turnTo(page, hash);
				assert(await overflow(page) <= 0, `overflow, ${width}, ${size}: ${hash}`);
			}
		}
		await page.click("#large");
	}
	await page.close();
	for (const scheme of ["light", "dark"]) {
		const seen = await open(url + "#level=6&path=A3B" + (scheme === "dark" ? "A" : ""), { scheme });
		assert.deepStrictEqual(await barriers(seen), [], scheme);
		await seen.close();
	}
}

async function onPaper(open) {
	const page = await open(url + "#level=1&path=ABAB");
	const pages = await sheets(page);
	assert.strictEqual(pages, 1, pages + " pages of paper");
	await page.close();
}

async function withoutScript(open) {
	const page = await open(url, { scripts: false });
	const shown = await page.$eval("main", (main) => main.innerText);
	assert.match(shown, /needs JavaScript/);
	assert.match(shown, /Level 1: Lose an update/);
	assert(await page.$eval("#game", (game) => game.offsetHeight === 0));
	await page.close();
}

browse(async (open) => {
	await solveAll(open);
	await keysAndCounts(open);
	await linesAndMemory(open);
	await own(open);
	await tags(open);
	await requests(open);
	const page = await open(url);
	for (const hash of ["#level=3", "#level=11&path=A", "#level=14&path=A", "#level=17"]) await followHints(page, hash);
	await strangeAddresses(open);
	await looks(open);
	await onPaper(open);
	if (!isFirefox) await withoutScript(open);
}).catch((error) => {
	console.error(error.stack);
	process.exit(1);
});
