/* SPDX-License-Identifier: MIT */
/* Steps through the races of a page. The step that is reached stands in the address:
 * #step=4, or #ID&step=4 where there are several races. */
"use strict";

(() => {
	const articles = [...document.querySelectorAll("article.race")];
	const races = articles.map((article) => new Race(article));
	let active = races[0];

	function words(text) {
		return text.trim().toLowerCase().replace(/^\(integer\) /, "")
			.replace(/^["'(\[]+|["')\]]+$/g, "");
	}

	/* null, or a value and whether it is stale. */
	function cell(belief) {
		const td = document.createElement("td");
		if (belief === null) {
			td.textContent = "–";
			return td;
		}
		const code = document.createElement("code");
		code.textContent = belief[0];
		td.append(code);
		if (belief[1]) {
			const mark = document.createElement("strong");
			mark.className = "bad";
			mark.textContent = "stale";
			td.append(" ", mark);
		}
		return td;
	}

	function Race(article) {
		/* A row is an item of the list and a group of the picture. */
		const rows = [...article.querySelectorAll(".played li")];
		const groups = [...article.querySelectorAll(".played g[data-step]")];
		const steps = rows.map((row) => Number(row.dataset.step));
		const last = Math.max(0, ...steps);
		/* Steps that are folded have no row. */
		const after = (step) => Math.min(last, ...steps.filter((one) => one > step));
		const before = (step) => Math.max(0, ...steps.filter((one) => one < step));
		const asked = rows.find((row) => row.dataset.ask);
		const find = (what) => article.querySelector(what);
		const form = find("form.ask");
		const input = find("form.ask input");
		const verdict = find(".verdict");
		const place = article.closest("details[id]") || article;
		let step = null; /* null: all are shown, none is marked */
		let revealed = !asked;

		function show_beliefs(here) {
			const body = find(".beliefs tbody");
			if (!body || !here) return;
			const values = JSON.parse(here.dataset.beliefs);
			const width = values.length / body.rows.length;
			[...body.rows].forEach((row, key) => {
				const of_key = values.slice(key * width, (key + 1) * width);
				while (row.cells.length > 1) row.deleteCell(1);
				row.append(...of_key.map(cell));
			});
			find(".when").textContent =
				step === null ? "at the end" :
				step === 0 ? "before the first step" : "after step " + step;
		}

		function show(scroll) {
			article.classList.toggle("stepping", step !== null);
			let here = null;
			for (const row of rows) {
				const number = Number(row.dataset.step);
				if (step === null || number <= step) here = row;
			}
			rows.forEach((row, i) => {
				for (const one of [row, groups[i]]) {
					one.classList.toggle("ahead", step !== null && Number(row.dataset.step) > step);
					one.classList.toggle("here", Boolean(step) && row === here);
				}
				row.removeAttribute("aria-current");
			});
			if (step && here) {
				here.setAttribute("aria-current", "step");
				const group = groups[rows.indexOf(here)];
				const seen = group.getBoundingClientRect().height > 0 ? group : here;
				if (scroll) seen.scrollIntoView({ block: "nearest", inline: "nearest" });
			}
			for (const join of article.querySelectorAll(".played [data-from]"))
				join.classList.toggle("ahead",
					step !== null && Number(join.dataset.from) > step);
			find(".where").textContent = step === null ? "all steps" :
				step === 0 ? "at the start, " + last + " steps" :
				"step " + step + " of " + last;
			announce(here);
			find("[data-go=back]").disabled = step === 0;
			find("[data-go=next]").disabled = step === last;
			form.hidden = true;
			input.blur(); /* it would have the keys until the next frame */
			show_beliefs(here || rows[0]);
		}

		/* To those who listen: which step, and what is done in it. */
		function announce(here) {
			const words = step && here ? [...here.childNodes].map((node) =>
				node.textContent.trim()).filter(Boolean).join(" ") : "";
			find(".announced").textContent = find(".where").textContent +
				(words ? ": " + words : "");
		}

		/* As others may link to it. */
		function address() {
			const id = races.length > 1 ? place.id : "";
			const at = step === null ? "" : "step=" + step;
			const hash = [id, at].filter(Boolean).join("&");
			history.replaceState(null, "",
				hash ? "#" + hash : location.pathname + location.search);
		}

		function ask() {
			find(".question").textContent = asked.dataset.ask;
			const buttons = JSON.parse(asked.dataset.choices).map((choice) => {
				const button = document.createElement("button");
				button.type = "button";
				button.textContent = choice;
				button.addEventListener("click", () => answer(choice));
				return button;
			});
			find(".choices").replaceChildren(...buttons);
			verdict.textContent = "";
			input.value = "";
			form.hidden = false;
			input.focus({ preventScroll: true });
		}

		function answer(text) {
			const right = asked.dataset.answer;
			const good = text !== null && words(text) === words(right);
			revealed = true;
			this_race.go(Number(asked.dataset.step));
			verdict.textContent = text === null ? "It is " + right + "." :
				good ? "Right: it is " + right + "." :
				"It is " + right + ", not " + text + ".";
			verdict.className = "verdict " + (good ? "good" : "bad");
		}

		const this_race = {
			place,
			go(to, scroll = true) {
				const next = to === null ? null : Math.min(last, Math.max(0, to));
				if (step !== null && next === after(step) && next > step &&
				    next === Number(asked?.dataset.step) && !revealed) {
					ask();
					address();
					return;
				}
				step = next;
				verdict.textContent = "";
				show(scroll);
				address();
			},
			press(what) {
				const now = step;
				if (what === "next") this_race.go(after(now === null ? 0 : now));
				else if (what === "back") this_race.go(before(now === null ? last + 1 : now));
				else if (what === "start") { revealed = !asked; this_race.go(0); }
				else if (what === "end") this_race.go(last);
				else if (what === "all") this_race.go(null);
				else if (what === "reveal") answer(null);
			},
		};

		for (const button of article.querySelectorAll("[data-go]"))
			button.addEventListener("click", () => {
				active = this_race;
				this_race.press(button.dataset.go);
			});
		form.addEventListener("submit", (event) => {
			event.preventDefault();
			if (input.value.trim()) answer(input.value);
		});
		article.addEventListener("focusin", () => { active = this_race; });
		article.addEventListener("pointerdown", () => { active = this_race; });
		return this_race;
	}

	const keys = { ArrowRight: "next", ArrowLeft: "back", Home: "start", End: "end" };
	addEventListener("keydown", (event) => {
		const what = keys[event.key];
		if (!what || !active || event.target.closest("input, pre, .wide, .picture") ||
		    event.ctrlKey || event.altKey || event.metaKey) return;
		event.preventDefault();
		active.press(what);
	});

	/* A link must open what it leads to. */
	function follow_address() {
		const parts = location.hash.slice(1).split("&").map(decodeURIComponent);
		const step = parts.map((part) => /^step=(\d+)$/.exec(part)).find(Boolean);
		const race = races.find((one) => parts.includes(one.place.id));
		if (race) {
			active = race;
			if (race.place.tagName === "DETAILS") race.place.open = true;
			race.place.scrollIntoView();
		}
		if (active && step) active.go(Number(step[1]));
	}
	addEventListener("hashchange", follow_address);
	follow_address();
})();
