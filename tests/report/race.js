/* SPDX-License-Identifier: MIT */
/* Steps through pages of races in a browser:
 * node tests/report/race.js LOST.html MATRIX.html REPORT.html WIDE.html CLAIMS.html */
"use strict";

const assert = require("assert");
const { browse, barriers, overflow, sheets, isFirefox } = require("./browser.js");

const [lost, matrix, report, wide, claims] = process.argv.slice(2).map((path) => "file://" + path);

/* What a reader sees of a race. */
const look = (page, of = "article.race") => page.evaluate((selector) => {
	const article = document.querySelector(selector);
	const text = (what) => article.querySelector(what)?.textContent.trim();
	const drawn = [...article.querySelectorAll(".played g[data-step]")];
	const listed = [...article.querySelectorAll(".played li")];
	const seen = (one) => getComputedStyle(one).visibility === "visible" &&
		one.getClientRects().length > 0;
	return {
		where: text(".where"),
		announced: text(".announced"),
		rows: listed.length,
		shown: (drawn[0].getClientRects().length ? drawn : listed).filter(seen).length,
		here: text("g.here .n"),
		beliefs: text(".beliefs tbody"),
		asks: !article.querySelector("form.ask").hidden,
		verdict: text(".verdict"),
		hash: location.hash,
	};
}, of);

async function press(page, ...keys) {
	for (const key of keys) await page.keyboard.press(key);
}

async function step_by_keys(open) {
	const page = await open(lost);
	let seen = await look(page);
	assert.strictEqual(seen.where, "all steps");
	assert.strictEqual(seen.shown, seen.rows);
	await press(page, "Home");
	seen = await look(page);
	assert.match(seen.where, /^at the start, 8 steps/);
	assert.strictEqual(seen.hash, "#step=0");
	await press(page, "ArrowRight", "ArrowRight");
	const is_joined = () => page.$eval("g[data-from]",
		(join) => getComputedStyle(join).visibility === "visible");
	assert(!await is_joined(), "it is not stale yet");
	await press(page, "ArrowRight");
	assert(await is_joined());
	seen = await look(page);
	assert.strictEqual(seen.here, "3");
	assert.strictEqual(seen.where, "step 3 of 8");
	assert.match(seen.announced, /^step 3 of 8: .*SET x 2/);
	assert.strictEqual(seen.hash, "#step=3");
	assert.match(seen.beliefs, /x\s*2\s*2\s*1 stale/);
	assert.strictEqual(seen.shown, 4, "the given value and three steps");
	await press(page, "ArrowLeft");
	assert.strictEqual((await look(page)).here, "2");
	await press(page, "End");
	assert.strictEqual((await look(page)).here, "8");
	await page.close();
}

async function predict(open) {
	const page = await open(lost + "#step=5");
	await press(page, "ArrowRight");
	let seen = await look(page);
	assert(seen.asks, "a question comes before step 6");
	assert.strictEqual(seen.here, "5");
	await page.type("form.ask input", "3");
	await press(page, "Enter");
	seen = await look(page);
	assert.strictEqual(seen.verdict, "It is 2, not 3.");
	assert.strictEqual(seen.here, "6");
	await press(page, "Home");
	for (let i = 0; i < 6; i++) await press(page, "ArrowRight");
	assert((await look(page)).asks, "it asks again after the beginning");
	await page.evaluate(() => [...document.querySelectorAll(".choices button")]
		.find((button) => button.textContent === "2").click());
	assert.strictEqual((await look(page)).verdict, "Right: it is 2.");
	await page.close();
}

/* Buttons, and an address that somebody else has sent. */
async function step_by_buttons(open) {
	const page = await open(lost + "#step=4");
	assert.strictEqual((await look(page)).here, "4");
	await page.click("[data-go=next]");
	assert.strictEqual((await look(page)).here, "5");
	await page.click("[data-go=next]");
	await page.click("[data-go=reveal]");
	assert.strictEqual((await look(page)).verdict, "It is 2.");
	await page.click("[data-go=all]");
	const seen = await look(page);
	assert.strictEqual(seen.shown, seen.rows);
	assert.strictEqual(seen.hash, "");
	await page.goto(lost + "#step=999");
	await page.reload();
	assert.strictEqual((await look(page)).here, "8");
	await page.close();
}

/* A cell of the matrix opens its interleaving; keys go to the one that is used. */
async function follow_links(open) {
	const page = await open(matrix);
	await page.click("a[href='#none-threads']");
	await page.waitForFunction(() => document.getElementById("none-threads").open);
	await press(page, "Home", "ArrowRight");
	const seen = await look(page, "#none-threads article");
	assert.strictEqual(seen.here, "1");
	assert.strictEqual(seen.hash, "#none-threads&step=1");
	await page.close();
	const again = await open(matrix + "#none-crash&step=2");
	assert.strictEqual((await look(again, "#none-crash article")).here, "2");
	await again.close();
}

async function switches(open) {
	const page = await open(lost);
	const style = () => page.evaluate(() => {
		const { backgroundColor, fontSize } = getComputedStyle(document.body);
		return { backgroundColor, fontSize: parseFloat(fontSize) };
	});
	const before = await style();
	await page.click("#dark");
	await page.click("#large");
	const after = await style();
	assert.notStrictEqual(before.backgroundColor, after.backgroundColor);
	assert(after.fontSize >= 1.25 * before.fontSize);
	await page.click("#dark");
	await page.click("#large");
	// What was switched is remembered; the next pages are as the system is.
	await page.evaluate(() => localStorage.clear());
	await page.close();
}

async function fits(open) {
	for (const url of [lost, matrix, report, wide, claims]) {
		const page = await open(url);
		for (const large of [false, true]) {
			for (const width of [360, 1024, 1920]) {
				await page.setViewport({ width, height: 800 });
				assert(await overflow(page) <= 0,
					`overflow at ${width}${large ? " in large type" : ""}: ${url}`);
			}
			await page.click("#large");
		}
		await page.close();
	}
}

async function is_free_of_barriers(open) {
	for (const [url, scheme] of [[lost + "#step=6", "light"], [report + "#step=6", "dark"],
		[matrix, "light"], [claims, "dark"]]) {
		const page = await open(url, { scheme });
		assert.deepStrictEqual(await barriers(page), [], url + " " + scheme);
		await page.close();
	}
}

/* The text of a picture that is part of the page. */
function colours(source) {
	const [kind, data] = source.split(/,(.*)/s);
	return kind.endsWith("base64") ? Buffer.from(data, "base64").toString() : decodeURIComponent(data);
}

/* A question leaves room for the steps that it is about, and plots follow the page. */
async function leaves_room(open) {
	const page = await open(lost + "#step=5", { width: 360 });
	await press(page, "ArrowRight");
	assert((await look(page)).asks);
	const share = await page.$eval(".stepper", (one) => one.offsetHeight / innerHeight);
	assert(share <= 1 / 3, `the question covers ${share}`);
	await page.close();
	const dark = await open(report, { scheme: "dark" });
	for (const [filter, source] of await dark.$$eval(".plot img", (all) =>
		all.map((one) => [getComputedStyle(one).filter, one.src])))
		assert(filter === "none" && colours(source).includes("prefers-color-scheme: dark"),
			"a plot has no colours of its own on a dark page");
	await dark.close();
}

/* Lanes that do not fit on paper would be cut off: no element is wider than the page. */
async function on_paper(open) {
	for (const [url, most] of [[lost + "#step=2", 2], [wide, 3]]) {
		const page = await open(url);
		const pages = await sheets(page);
		assert(pages <= most, `${pages} pages of paper: ${url}`);
		if (isFirefox) continue;
		await page.emulateMediaType("print");
		/* Firefox breaks no page within a grid or a container. */
		assert.deepStrictEqual(await page.$$eval(".body, .sides, .lanes", (all) => all
			.map((one) => getComputedStyle(one))
			.map(({ display, containerType }) => `${display} ${containerType}`)
			.filter((one) => one !== "block normal")), []);
		await page.setViewport({ width: 718, height: 1000 });
		assert(await overflow(page) <= 0, "overflow on paper: " + url);
		const seen = await look(page);
		assert.strictEqual(seen.shown, seen.rows, "all steps are printed");
		await page.close();
	}
}

async function without_script(open) {
	const page = await open(lost, { scripts: false });
	const text = await page.evaluate(() => document.body.innerText);
	assert.match(text, /2 increments, 1 lost\./);
	assert.match(text, /replaces what A wrote in step 3/);
	assert.match(text, /redrace play/);
	assert(!text.includes("Next step"), "no buttons that do nothing");
	await page.close();
}

browse(async (open) => {
	await step_by_keys(open);
	await predict(open);
	await step_by_buttons(open);
	await follow_links(open);
	await switches(open);
	await fits(open);
	await is_free_of_barriers(open);
	await leaves_room(open);
	await on_paper(open);
	if (!isFirefox) await without_script(open);
}).catch((error) => {
	console.error(error.stack);
	process.exit(1);
});
