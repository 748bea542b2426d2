/* SPDX-License-Identifier: MIT */
/* Be the scheduler: the levels' graphs (game_graph.js), walked through by the reader. */
"use strict";

(() => {
	const levels = JSON.parse(document.getElementById("levels").textContent);
	const at = (id) => document.getElementById(id);
	const { WRONG, STUCK, clientOf, happened, isReached, judge, laneName, lanesOf, movesBefore,
		newlyBroken, stateOf, wayToGoal } = walks;
	const { belief, brokenTexts, changes, command, countsText, doingText, lineOf, lines, lockTruth,
		missedText, moveText, readText, server } = words;
	const game = { level: null, path: [], hints: 0, moves: [], isDone: false, counts: false };

	function make(tag, text, className) {
		const element = document.createElement(tag);
		if (text !== undefined) element.textContent = text;
		if (className) element.className = className;
		return element;
	}

	/* ---- What each client is at ------------------------------------------------------- */

	function clientBox(level, path, state, who) {
		const box = make("div");
		const { inside, counted } = clientOf(state, level, who);
		const read = level.strategy ? belief(level, path, who) : null;
		const truth = lockTruth(level, state, who);
		const say = (text, className) => box.append(make("p", text, className));

		box.append(make("strong", (level.strategy ? "Client " : "") + laneName(level, who)));
		say(doingText(level, path, state, who));
		if (inside) say("believes that it is alone in the critical section");
		if (truth) say(truth, "bad");
		if (read !== null) say("has read " + readText(read));
		if (counted && level.strategy) say("has counted " + counted);
		if (truth) box.classList.add("warning");
		return box;
	}

	/* Whose lock it is stands there, unless its value says so. */
	function serverBox(level, state, i) {
		const box = make("div");
		const { data, lock_of: maker } = state.servers[i];
		box.append(make("strong", level.graph.servers[i]));
		for (const line of lines(data)) {
			const isLock = maker && /^lock:\d+ = /.test(line) && !line.includes("token");
			box.append(make("p", line + (isLock ? " (" + maker + "'s)" : "")));
		}
		return box;
	}

	function showState(state) {
		const { level, path } = game;
		const boxes = [];
		lanesOf(level).forEach((_, i) => boxes.push(clientBox(level, path, state, i)));
		level.graph.servers.forEach((_, i) => boxes.push(serverBox(level, state, i)));
		at("state").replaceChildren(...boxes);
	}

	/* ---- What a client does, line by line ------------------------------------------------ */

	/* Of programs of others: their text, if it is one. */
	function showText(level) {
		at("does").hidden = at("program").hidden = !level.program;
		at("source").hidden = !level.text;
		at("path").textContent = level.path ?? "";
		at("text").textContent = level.text ?? "";
	}

	function showProgram(state) {
		const { level } = game;
		const lines = level.program?.split(", ") ?? [];
		const clients = new Map();
		lanesOf(level).forEach((lane, i) => {
			const next = state.moves.find((move) => move.who === i && !move.fault);
			const line = next ? lineOf(lines, next.label + server(level, next.server)) : undefined;
			if (line !== undefined) clients.set(line, [...clients.get(line) ?? [], lane]);
		});
		at("program").replaceChildren(...lines.map((line) => {
			const here = clients.get(line);
			const item = make("li", undefined, here ? "now" : "");
			item.append(make("code", line), here ? " \u2190 " + here.join(", ") : "");
			clients.delete(line);
			return item;
		}));
	}

	/* ---- Lanes ------------------------------------------------------------------------- */

	function acrossRow(level, text, className) {
		const row = make("tr", undefined, className);
		const cell = make("td", text);
		cell.colSpan = lanesOf(level).length + 2;
		row.append(cell);
		return row;
	}

	function stepText(level, step) {
		const text = make("span", step.text + (step.kind === "run" ? server(level, step.server) : ""),
			step.server ? "" : "mark");
		if (step.reply !== null) text.append(make("span", "\u21d2 " + step.reply.replace(/^\(integer\) /, ""), "reply"));
		return text;
	}

	/* What a client does in one transition: the command, and what it means to it. */
	function clientRow(level, steps, nr, changed) {
		const row = make("tr");
		row.append(make("td", nr, "nr"));
		lanesOf(level).forEach((lane, i) => {
			const own = steps.filter((step) => step.client === lane);
			const cell = make("td", undefined, own.length ? "step c" + i : "");
			cell.append(...own.map((step) => stepText(level, step)));
			row.append(cell);
		});
		row.append(make("td", changed.join("; ")));
		return row;
	}

	function moveRows(level, move, nr, from, to) {
		const changed = from ? changes(level, from, to) : [];
		const own = move.steps.filter((step) => step.client !== null);
		const rows = move.steps.filter((step) => step.client === null).map((step) => {
			const keys = own.length || !changed.length ? "" : " \u2192 " + changed.join("; ");
			return acrossRow(level, (nr ? nr + ". " : "") + happened(step) + keys, "across");
		});
		if (own.length) rows.push(clientRow(level, own, rows.length ? "" : nr, changed));
		return rows;
	}

	function headRow(level) {
		const row = make("tr");
		const names = ["#", ...lanesOf(level).map((_, i) => laneName(level, i))];
		names.push(level.graph.servers.length > 1 ? "servers" : level.graph.servers[0]);
		for (const text of names) {
			const cell = make("th", text, text === "#" ? "nr" : "");
			cell.scope = "col";
			row.append(cell);
		}
		return row;
	}

	function showLanes() {
		const { level, path } = game;
		const head = make("thead"), body = make("tbody");
		let from = stateOf(level, 0);

		head.append(headRow(level));
		for (const move of movesBefore(level))
			for (const row of moveRows(level, move, "", null, null)) {
				row.classList.add("before");
				body.append(row);
			}
		path.forEach(({ move, state }, i) => {
			const rows = moveRows(level, move, String(i + 1), from, state);
			if (i === path.length - 1) rows.forEach((row) => row.classList.add("now"));
			body.append(...rows);
			for (const text of brokenTexts(level, newlyBroken(level, path, i)))
				body.append(acrossRow(level, "\u2717 " + text, "broke"));
			from = state;
		});
		if (!body.children.length)
			body.append(acrossRow(level, "Nothing yet: pick who goes first.", "across"));
		at("lanes").replaceChildren(head, body);
	}

	/* ---- The page ------------------------------------------------------------------------- */

	function showCounts(judged) {
		const { all, bad } = judged.last;
		const over = judged.broken || judged.last.flags & (WRONG | STUCK);
		at("ways").textContent = countsText(game.level, judged, game.path.length, game.counts);
		const missed = missedText(game.level, judged);
		at("share").className = missed ? "missed" : over ? "over" : "";
		at("share").hidden = !game.counts;
		at("count").setAttribute("aria-pressed", String(game.counts));
		at("missed").hidden = missed === null;
		at("missed-text").textContent = missed ?? "";
		at("share").firstElementChild.style.width = (all ? 100 * (all - bad) / all : 0) + "%";
	}

	function showMoves(state) {
		const { level } = game;
		const buttons = state.moves.map((move) => {
			const button = make("button", undefined,
				(move.who >= 0 ? "c" + move.who : "") + (move.fault ? " fault" : ""));
			const key = make("kbd", move.code);
			key.setAttribute("aria-hidden", "true");
			button.type = "button";
			button.setAttribute("aria-keyshortcuts", move.code);
			button.dataset.word = move.word;
			button.append(key, moveText(level, move));
			button.addEventListener("click", () => pick(move));
			return button;
		});
		at("moves").replaceChildren(...buttons);
		if (!buttons.length)
			at("moves").append(make("p", "Nobody: this is the end of the way.", "quiet"));
		game.moves = state.moves;
	}

	function showCommand(judged) {
		const { level, path } = game;
		const text = level.strategy ? command(level, path, judged) : null;
		at("play").hidden = text === null;
		at("no-play").hidden = text !== null || !level.strategy;
		at("command").textContent = text ?? "";
		at("replay").hidden = !level.replay;
		at("schedule").textContent = (level.schedule ?? "") + path.map(({ move }) => move.word).join(" ");
		at("replayed").textContent = level.replay ?? "";
		at("explore").textContent = level.explore;
	}

	function showDone(judged) {
		const { level } = game;
		const last = levels.indexOf(level) === levels.length - 1;
		const box = at("done");
		const isDone = isReached(level, judged);

		box.hidden = !isDone;
		if (isDone && !game.isDone) {
			const verdict = level.verdict ? [make("pre", level.verdict)] : [];
			const next = make("button", last ? "To the first level" : "Next level", "main");
			next.type = "button";
			next.id = "next";
			next.addEventListener("click", nextLevel);
			box.replaceChildren(make("h3", "\u2713 You did it"),
				...level.explain.map((text) => make("p", text)), ...verdict,
				...levels.length > 1 ? [next] : []);
			remember(level);
		}
		game.isDone = isDone;
		return isDone;
	}

	function show(isPicked) {
		const judged = judge(game.level, game.path);
		const wasDone = game.isDone;
		showCounts(judged);
		showMoves(judged.last);
		showState(judged.last);
		showProgram(judged.last);
		showLanes();
		showCommand(judged);
		at("back").disabled = at("again").disabled = game.path.length === 0;
		say(judged, showDone(judged) && !wasDone);
		if (isPicked && game.isDone && !wasDone) at("done").focus({ preventScroll: false });
		else if (isPicked) at("moves").querySelector("button")?.focus({ preventScroll: true });
		keepAddress();
	}

	/* To those who listen: what happened, and what is left. */
	function say(judged, isNew) {
		const { level, path } = game;
		const texts = [];
		if (path.length) {
			const { move } = path[path.length - 1];
			texts.push(...move.steps.map((step) =>
				(step.client === null ? "" : step.client + " ") + happened(step) + "."));
			texts.push(...brokenTexts(level, newlyBroken(level, path, path.length - 1)));
		}
		texts.push(countsText(level, judged, path.length, game.counts), missedText(level, judged) ?? "");
		if (isNew) texts.push("You did it.");
		at("said").textContent = texts.join(" ");
	}

	/* ---- What the reader does --------------------------------------------------------------- */

	function pick(move) {
		game.path.push({ move, state: stateOf(game.level, move.to) });
		show(true);
	}

	function takeBack() {
		if (!game.path.length) return;
		game.path.pop();
		show(true);
	}

	function startAgain() {
		game.path = [];
		show(true);
	}

	function hint() {
		const { level } = game;
		if (game.isDone) return;
		if (game.hints < level.hints.length) {
			at("hints").append(make("li", level.hints[game.hints++]));
			at("said").textContent = level.hints[game.hints - 1];
			return;
		}
		const moves = wayToGoal(level, game.path);
		const text = moves ? "A next step that leads there: " + moveText(level, moves[0]) + "." :
			"From here the goal cannot be reached any more: take something back.";
		const shown = at("hints").querySelector(".step") ?? make("li", "", "step");
		shown.textContent = text;
		at("hints").append(shown);
		at("said").textContent = text;
		for (const button of at("moves").querySelectorAll("button"))
			button.classList.toggle("shown", moves !== null && button.dataset.word === moves[0].word);
	}

	function nextLevel() {
		open((levels.indexOf(game.level) + 1) % levels.length, "");
		at("title").scrollIntoView({ block: "nearest" });
		at("title").focus({ preventScroll: true }); // not the list of levels, which takes keys itself
	}

	/* ---- Levels and the address ---------------------------------------------------------------- */

	/* As far as the steps of an address can be done. */
	function follow(level, codes) {
		const path = [];
		let state = stateOf(level, 0);
		for (const code of codes) {
			const move = state.moves.find((one) => one.code === code);
			if (!move) break;
			state = stateOf(level, move.to);
			path.push({ move, state });
		}
		return path;
	}

	function open(index, codes) {
		const level = levels[index];
		Object.assign(game, { level, hints: 0, isDone: false, path: follow(level, codes) });
		at("level").value = String(index);
		at("title").textContent = levels.length === 1 ? level.title :
			"Level " + (index + 1) + " of " + levels.length + ": " + level.title;
		showText(level);
		at("intro").replaceChildren(...level.intro.map((text) => make("p", text)));
		at("task").textContent = level.task;
		at("hints").replaceChildren();
		const scripts = Object.entries(level.graph.scripts);
		at("texts").hidden = scripts.length === 0;
		at("scripts").replaceChildren(...scripts.flatMap(([one, text]) => {
			const meaning = make("dd");
			meaning.append(make("code", text));
			return [make("dt", one), meaning];
		}));
		show(false);
		if (game.path.length < codes.length)
			at("ways").append(" The address names a step that no client can do here: stopped before it.");
	}

	function keepAddress() {
		const codes = game.path.map(({ move }) => move.code).join("");
		const address = "#level=" + (levels.indexOf(game.level) + 1) + (codes ? "&path=" + codes : "");
		if (location.hash !== address) history.replaceState(null, "", address);
	}

	function readAddress() {
		const words = new URLSearchParams(location.hash.slice(1));
		const index = Number(words.get("level") ?? 1) - 1;
		open(index in levels ? index : 0, words.get("path") ?? "");
	}

	/* Levels that were reached: a page that is opened as a file may have no storage. */
	function recallReached() {
		try {
			return new Set(JSON.parse(localStorage.getItem("redrace-reached") ?? "[]"));
		} catch {
			return new Set();
		}
	}
	const reached = recallReached();

	function showReached() {
		const n = levels.filter((level) => reached.has(level.name)).length;
		at("reached").textContent = n ? n + " of " + levels.length + " reached" : "";
	}

	function remember(level) {
		reached.add(level.name);
		try {
			localStorage.setItem("redrace-reached", JSON.stringify([...reached]));
		} catch { /* not kept */ }
		showReached();
		at("level").options[levels.indexOf(level)].textContent = option(level);
	}
	const option = (level) => (levels.indexOf(level) + 1) + ". " + level.title +
		(reached.has(level.name) ? " \u2713" : "");

	/* ---- Keys -------------------------------------------------------------------------------- */

	function toggleCounts() {
		game.counts = !game.counts;
		show(false);
	}

	const KEYS = { Backspace: takeBack, r: startAgain, h: hint, c: toggleCounts, n: nextLevel };

	function press(event) {
		const isTyping = event.target.closest?.("input, select, textarea");
		if (isTyping || event.ctrlKey || event.altKey || event.metaKey) return;
		const key = event.key;
		const move = game.moves.find((one) => (/^[1-9]$/.test(key) && one.digit === key) ||
			(/^[A-Z]$/.test(one.code) && one.code === key.toUpperCase()));
		const act = move ? () => pick(move) : KEYS[key];
		if (!act) return;
		event.preventDefault();
		act();
	}

	at("choice").hidden = levels.length === 1;
	at("level").append(...levels.map((level, i) => {
		const choice = make("option", option(level));
		choice.value = String(i);
		return choice;
	}));
	at("level").addEventListener("change", () => open(Number(at("level").value), ""));
	at("back").addEventListener("click", takeBack);
	at("again").addEventListener("click", startAgain);
	at("hint").addEventListener("click", hint);
	at("count").addEventListener("click", toggleCounts);
	addEventListener("keydown", press);
	addEventListener("hashchange", readAddress);
	addEventListener("beforeprint", () => { at("real").open = true; });
	showReached();
	readAddress();
})();
