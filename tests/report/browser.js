/* SPDX-License-Identifier: MIT */
/* A headless Chromium for tests of pages: what .ci/deps-browser installs. Exits with 77
 * where that is not there. */
"use strict";

const fs = require("fs");
const path = require("path");

const modules = path.join(__dirname, "../../build/browser/node_modules");

function skip(why) {
	console.log(why);
	process.exit(77);
}

function load(name) {
	try {
		return require(path.join(modules, name));
	} catch {
		return skip(`no ${name}: sh .ci/deps-browser installs it`);
	}
}

const chromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
	.find((file) => fs.existsSync(file)) ?? skip("no chromium");

/* Runs `test(open)`; open(url, {width, scheme, scripts}) is a page whose complaints
 * fail the test. */
async function browse(test) {
	const puppeteer = load("puppeteer-core");
	const browser = await puppeteer.launch({
		executablePath: chromium, args: ["--no-sandbox", "--disable-gpu"],
	});
	const complaints = [];
	async function open(url, { width = 1024, scheme = "light", scripts = true } = {}) {
		const page = await browser.newPage();
		page.on("console", (message) => {
			if (["error", "warn"].includes(message.type())) complaints.push(message.text());
		});
		page.on("pageerror", (error) => complaints.push(error.message));
		page.on("request", (request) => {
			if (!/^(file|data|blob|about):/.test(request.url()))
				complaints.push("asks the network for " + request.url());
		});
		await page.setJavaScriptEnabled(scripts);
		await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
		await page.setViewport({ width, height: 800 });
		await page.goto(url);
		return page;
	}
	try {
		await test(open);
	} finally {
		await browser.close();
	}
	if (complaints.length) throw new Error(complaints.join("\n"));
}

/* What axe-core finds, once colours that change have changed. */
async function barriers(page) {
	const axe = load("axe-core");
	await page.evaluate(axe.source);
	await page.evaluate(() => Promise.allSettled(document.getAnimations().map((one) => one.finished)));
	const found = await page.evaluate(() => axe.run());
	return found.violations.map((one) => one.id + ": " + one.nodes.map((node) => node.html).join(" "));
}

const overflow = (page) =>
	page.evaluate(() => document.documentElement.scrollWidth - innerWidth);

module.exports = { browse, barriers, overflow };
