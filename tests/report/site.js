/* SPDX-License-Identifier: MIT */
/* Looks at pages of a site in a browser: node tests/report/site.js DIR PAGE... */
"use strict";

const assert = require("assert");
const { browse, barriers, OF_COLOURS, overflow, isFirefox } = require("./browser.js");

const [dir, ...names] = process.argv.slice(2);

/* Words of the page's tables that stand in two lines, but for those with a hyphen. */
const brokenWords = (page) => page.$$eval("td", (cells) => cells.flatMap((cell) => {
	const text = cell.firstChild?.nodeType === Node.TEXT_NODE ? cell.firstChild : null;
	return [...text?.data.matchAll(/[a-z]+(?=\s|$)/g) ?? []].filter(({ index, 0: word }) => {
		const range = new Range();
		range.setStart(text, index);
		range.setEnd(text, index + word.length);
		return range.getClientRects().length > 1;
	}).map(([word]) => word);
}));

/* On any screen there is nothing to be scrolled to the side, and nothing in the way of
 * whoever listens or has little contrast. Colours do not change what takes how much room: the dark ones
 * are looked at in one width. */
async function look(open, name) {
	for (const scheme of ["light", "dark"]) {
		const page = await open(`file://${dir}/${name}`, { scheme });
		for (const width of scheme === "light" ? [360, 1024, 1920] : [1024]) {
			await page.setViewport({ width, height: 800 });
			assert(await overflow(page) <= 0, `${name} overflows, ${width}`);
			/* The widest table, of what was found, is there at a glance; claims on any screen. */
			const isWhole = name === "claims.html" || (width >= 1024 && name === "docs/found.html");
			assert(!isWhole || await page.$$eval("table", (all) =>
				all.every((one) => one.scrollWidth <= one.parentElement.clientWidth)),
				`a table of ${name} is cut off at ${width}`);
			/* Letters of 15 px stay legible. */
			assert(await page.$$eval("img.plotted", (all) =>
				all.every((one) => one.clientWidth >= 0.5 * one.naturalWidth)),
				`a plot of ${name} is too small at ${width}`);
			assert.deepStrictEqual(name === "races.html" ? await brokenWords(page) : [], [], `${width}`);
		}
		assert(await page.$$eval(".wide", (all) =>
			all.every((one) => getComputedStyle(one).scrollbarColor !== "auto")),
			`${name}: a scroll bar that Firefox draws white on a dark page`);
		assert.deepStrictEqual(await barriers(page, scheme === "light" ? {} : OF_COLOURS), [],
			`${name}, ${scheme}`);
		if (isFirefox) continue;
		/* One emulation ends the other, unless both are asked for at once. */
		await (await page.target().createCDPSession()).send("Emulation.setEmulatedMedia",
			{ media: "print", features: [{ name: "prefers-color-scheme", value: scheme }] });
		assert.strictEqual(await page.evaluate(() => getComputedStyle(document.body).color),
			"rgb(0, 0, 0)", `${name} on paper, ${scheme}`);
		await page.close();
	}
}

browse(async (open) => {
	for (const name of names) await look(open, name);
}).catch((error) => {
	console.error(error.stack);
	process.exit(1);
});
