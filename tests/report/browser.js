/* SPDX-License-Identifier: MIT */
/* A headless browser for tests of pages: Chromium, which `make deps-browser` installs, or with
 * BROWSER=firefox that one. Exits with 77 where it is not there. */
"use strict";

const fs = require("fs");
const path = require("path");
const zlib = require("zlib");

const modules = path.join(__dirname, "../../build/browser/node_modules");

function skip(why) {
	console.log(why);
	process.exit(77);
}

function load(name) {
	try {
		return require(path.join(modules, name));
	} catch {
		return skip(`no ${name}: make deps-browser installs it`);
	}
}

const isFirefox = process.env.BROWSER === "firefox";
const program = (isFirefox ? ["firefox-esr", "firefox"] : ["chromium", "chromium-browser", "google-chrome"])
	.map((name) => "/usr/bin/" + name).find((file) => fs.existsSync(file)) ??
	skip(isFirefox ? "no firefox" : "no chromium");

/* Firefox emulates no colour scheme: it has one as a preference, for all of its pages. It needs a
 * place for its cache. How long anything takes is the test's own limit. */
const launch = (scheme) => load("puppeteer-core").launch({
	executablePath: program, timeout: 0, protocolTimeout: 0, ...isFirefox ? {
		browser: "firefox", env: { ...process.env, XDG_CACHE_HOME: process.env.TMPDIR },
		extraPrefsFirefox: { "layout.css.prefers-color-scheme.content-override": scheme === "dark" ? 0 : 1 },
	} : { args: ["--no-sandbox", "--disable-gpu"] },
});

/* Runs `test(open)`; open(url, {width, scheme, scripts}) is a page whose complaints
 * fail the test. */
async function browse(test) {
	const browsers = {};
	const complaints = [];
	async function open(url, { width = 1024, scheme = "light", scripts = true } = {}) {
		const one = isFirefox ? scheme : "any";
		const page = await (browsers[one] ??= await launch(scheme)).newPage();
		page.on("console", (message) => {
			if (["error", "warn"].includes(message.type())) complaints.push(message.text());
		});
		page.on("pageerror", (error) => complaints.push(error.message));
		page.on("request", (request) => {
			if (!/^(file|data|blob|about):/.test(request.url()))
				complaints.push("asks the network for " + request.url());
		});
		if (!isFirefox) {
			await page.setJavaScriptEnabled(scripts);
			await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
		}
		page.setDefaultTimeout(0);
		await page.setViewport({ width, height: 800 });
		await page.goto(url);
		return page;
	}
	try {
		await test(open);
	} finally {
		for (const one of Object.values(browsers)) await one.close();
	}
	if (complaints.length) throw new Error(complaints.join("\n"));
}

/* What depends on nothing but colours. */
const OF_COLOURS = { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };

/* What axe-core finds, once colours that change have changed. */
async function barriers(page, options = {}) {
	const axe = load("axe-core");
	await page.evaluate(axe.source);
	await page.evaluate(() => Promise.allSettled(document.getAnimations().map((one) => one.finished)));
	const found = await page.evaluate((chosen) => axe.run(chosen), options);
	return found.violations.map((one) => one.id + ": " + one.nodes.map((node) => node.html).join(" "));
}

/* How many pages of paper it takes; Firefox packs what tells. */
async function sheets(page) {
	const pdf = Buffer.from(await page.pdf({ format: "A4" }));
	let text = pdf.toString("latin1");
	for (const { index, 0: head } of text.matchAll(/\bstream\r?\n/g)) {
		try {
			text += zlib.inflateSync(pdf.subarray(index + head.length)).toString("latin1");
		} catch {
			continue;
		}
	}
	return text.match(/\/Type\s*\/Page\b/g).length;
}

const overflow = (page) =>
	page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

module.exports = { browse, barriers, OF_COLOURS, overflow, sheets, isFirefox };
