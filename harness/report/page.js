/* SPDX-License-Identifier: MIT */
/* Of every page: the switches for dark and for large type, and what is copied. */
"use strict";

(() => {
	const root = document.documentElement;

	/* A page that is opened as a file may have no storage. */
	function recall(name) {
		try { return localStorage.getItem("redrace-" + name); } catch { return null; }
	}
	function remember(name, value) {
		try { localStorage.setItem("redrace-" + name, value); } catch { /* not kept */ }
	}

	function theme() {
		const dark = matchMedia("(prefers-color-scheme: dark)").matches;
		return root.dataset.theme || (dark ? "dark" : "light");
	}
	function press(id, pressed) {
		document.getElementById(id)?.setAttribute("aria-pressed", String(pressed));
	}
	function show() {
		press("dark", theme() === "dark");
		press("large", root.dataset.size === "large");
	}

	root.classList.add("script");
	for (const name of ["theme", "size"]) {
		const value = recall(name);
		if (value) root.dataset[name] = value;
	}
	document.getElementById("dark")?.addEventListener("click", () => {
		root.dataset.theme = theme() === "dark" ? "light" : "dark";
		remember("theme", root.dataset.theme);
		show();
	});
	document.getElementById("large")?.addEventListener("click", () => {
		root.dataset.size = root.dataset.size === "large" ? "usual" : "large";
		remember("size", root.dataset.size);
		show();
	});
	for (const button of document.querySelectorAll("button[data-copy]"))
		button.addEventListener("click", async () => {
			const text = document.getElementById(button.dataset.copy).textContent;
			try {
				await navigator.clipboard.writeText(text);
				button.textContent = "Copied";
			} catch {
				getSelection().selectAllChildren(
					document.getElementById(button.dataset.copy));
			}
		});
	show();
})();
