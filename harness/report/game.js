/* SPDX-License-Identifier: MIT */
/* Be the scheduler: the levels' graphs, walked through by the reader. */
"use strict";

(() => {
	const levels = JSON.parse(document.getElementById("levels").textContent);
	const at = (id) => document.getElementById(id);
	const FINAL = 1, WRONG = 2, STUCK = 4;
	const MANY = 2 ** 53 - 1;
	const game = { level: null, path: [], hints: 0, moves: [], isDone: false, counts: false };

	/* ---- Graphs ------------------------------------------------------------------ */

	/* A row of numbers, taken apart once. */
	function stateOf(level, number) {
		level.states ??= [];
		return level.states[number] ??= readState(level, number);
	}

	/* game_graph.c writes them, and says what they are. */
	function readState(level, number) {
		const graph = level.graph;
		const numbers = (text) => text.split(",").map(Number);
		const [servers, clients, flags, all, bad, edges] = graph.states[number].split(";");
		const state = {
			number, flags: Number(flags), all: Number(all), bad: Number(bad),
			servers: numbers(servers).map((i) => graph.server_states[i]),
			clients: numbers(clients).map((i) => graph.client_states[i]),
			moves: edges.split(" ").filter(Boolean).map(numbers)
				.map(([to, i, broken = 0]) => ({ ...moveOf(level, i), to, broken })),
		};
		name(state.moves);
		return state;
	}

	/* Lanes are clients, or connections of theirs and requests: who does a step. */
	const lanesOf = (level) => level.graph.lanes.map(([lane]) => lane);
	const clientOf = (state, level, who) => state.clients[level.graph.lanes[who][1]];
	const isRequest = (level, who) => level.app && /^request\d+$/.test(lanesOf(level)[who]);

	/* The lane of the first step that has one, or of the client. */
	function whoDoes(level, move) {
		if (move.client === null) return -1;
		const { client } = move.steps.find((step) => step.client !== null) ?? move;
		const lane = lanesOf(level).indexOf(client);
		return lane >= 0 || level.app ? lane : level.graph.lanes.findIndex(([, client]) =>
			level.graph.clients[client] === move.client);
	}

	/* A transition, whose it is, and what is said before it is done. */
	function moveOf(level, number) {
		const move = level.graph.transitions[number];
		const [first] = move.steps;
		const isLost = first?.reply === "(lost)";
		return {
			...move, who: whoDoes(level, move),
			label: (first?.text ?? "goes on") + (isLost ? ", and its reply is lost" : ""),
		};
	}

	/* What is pressed, and what stands in the address: the client's letter if it can do
	 * but one thing, or the number of the button. */
	function name(moves) {
		const isStep = (move) => move.who >= 0 && !move.fault;
		moves.sort((a, b) => Number(a.fault) - Number(b.fault) ||
			Number(a.who < 0) - Number(b.who < 0) || a.who - b.who);
		moves.forEach((move, i) => {
			const alone = isStep(move) && moves.filter((other) =>
				isStep(other) && other.who === move.who).length === 1;
			move.digit = (i + 1).toString(36);
			move.code = alone ? letter(move.who) : move.digit;
		});
	}

	const letter = (who) => String.fromCharCode(65 + who);
	const laneName = (level, who) => lanesOf(level)[who].replace(/^(request)(\d)/, "$1 $2");
	const happened = (step) => step.text + (step.reply === null ? "" : " => " + step.reply);

	/* Which invariants were broken on the way, as a set of bits, and was that seen? */
	function judge(level, path) {
		const last = path.length ? path[path.length - 1].state : stateOf(level, 0);
		let broken = 0, seen = !level.sees;
		for (const { move } of path) {
			broken |= move.broken;
			seen ||= move.steps.some((step) => happened(step).includes(level.sees));
		}
		return { last, broken, seen };
	}

	function isReached(level, { last, broken, seen }) {
		const bit = level.graph.invariants.indexOf(level.goal);
		if (!seen) return false;
		if (level.goal === "well")
			return (last.flags & FINAL) !== 0 && !(last.flags & (WRONG | STUCK)) && !broken;
		if (level.goal === "count") return (last.flags & WRONG) !== 0;
		if (level.goal === "deadlock") return (last.flags & STUCK) !== 0;
		return (broken >> bit & 1) === 1;
	}

	/* The moves that lead from here to the goal, the fewest; null: it cannot be reached
	 * any more. */
	function wayToGoal(level, path) {
		const begin = { ...judge(level, path), before: null };
		const known = new Set();
		const todo = [begin];
		for (const node of todo) {
			const key = [node.last.number, node.broken, node.seen].join();
			if (known.has(key)) continue;
			known.add(key);
			if (isReached(level, node)) return movesTo(node);
			for (const move of node.last.moves)
				todo.push({
					before: node, move, last: stateOf(level, move.to),
					broken: node.broken | move.broken,
					seen: node.seen || move.steps.some((step) =>
						happened(step).includes(level.sees)),
				});
		}
		return null;
	}

	function movesTo(node) {
		const moves = [];
		for (; node.before; node = node.before) moves.unshift(node.move);
		return moves;
	}

	/* ---- Texts -------------------------------------------------------------------- */

	function make(tag, text, className) {
		const element = document.createElement(tag);
		if (text !== undefined) element.textContent = text;
		if (className) element.className = className;
		return element;
	}

	const number = (n) => (n >= MANY ? "more than " : "") + n.toLocaleString("en");
	const waysText = (n) => number(n) + (n === 1 ? " way" : " ways");

	const BROKEN = {
		count: "The count is wrong.",
		exclusion: "Two clients are in the critical section.",
		lease: "Two clients are in the critical section, and the lease of the first has not ended.",
		ownership: "A lock was deleted or changed by a client that does not hold it.",
		deadlock: "Somebody can never finish.",
		starvation: "Clients keep asking for ever, and none gets the lock.",
	};

	/* The worst that a set of bits says, in words; both of exclusion and lease are one. */
	function brokenTexts(level, bits) {
		const names = level.graph.invariants.filter((_, i) => bits >> i & 1);
		return names.filter((one) => one !== "exclusion" || !names.includes("lease"))
			.map((one) => one === "count" && level.wrong ? level.wrong : BROKEN[one]);
	}

	function countText(state) {
		const counted = state.clients.reduce((sum, client) => sum + client.counted, 0);
		const line = state.servers.map((one) => one.data).join("\n").match(/^counter:\d+ = "(.*)"$/m);
		return "the clients have counted " + counted + ", the counter is " + (line ? line[1] : 0);
	}

	function countsText(level, { last, broken }) {
		if (broken) return "It is broken already: whatever comes next, this ends badly.";
		if (last.flags & STUCK) return "From here somebody can never finish: this ends badly.";
		if (last.flags & FINAL)
			return !(last.flags & WRONG) ? "Everybody is done, and nothing is broken." :
				level.wrong ? "Everybody is done. " + level.wrong :
					"Everybody is done, and the count is wrong: " + countText(last) + ".";
		if (!game.counts) return stepsText();
		return "From here " + waysText(last.all) + ": " + number(last.all - last.bad) +
			(last.all - last.bad === 1 ? " ends" : " end") + " well, " + number(last.bad) + " badly.";
	}

	const stepsText = () => game.path.length ?
		game.path.length + (game.path.length === 1 ? " step" : " steps") + " done; nothing is broken yet." :
		"Nothing has happened yet.";

	/* An end at which the task is not done. */
	function missedText(level, { last, broken }) {
		const isEnd = !last.moves.length || last.flags & (FINAL | STUCK);
		if (!isEnd || isReached(level, judge(level, game.path))) return null;
		const what = broken || last.flags & (WRONG | STUCK) ? "Something broke, but not what the task asks for" :
			"This is an end, and nothing is broken; the task asks for something else";
		return what + ": " + level.task + " Take a step back, or start again.";
	}

	const server = (level, name) => level.graph.servers.length > 1 && name ? " @" + name : "";

	/* Notes, and what happens to servers, name whom they are about. */
	function moveText(level, move) {
		const isOwn = move.who >= 0 && move.steps[0]?.kind !== "note";
		if (isOwn) return laneName(level, move.who) + ": " + move.label + server(level, move.server);
		return (move.steps[0]?.kind === "tick" ? "Time: " : "") + move.label;
	}

	/* Texts of keys: a value in quotes is shown without. */
	const lines = (text) => text.split("\n").filter(Boolean)
		.map((line) => line.replace(/ = "([^"\\]*)"/, " = $1"));

	/* ---- What each client is at ------------------------------------------------------- */

	/* What it has read of the counter since it began, and will act upon. */
	function belief(level, path, who) {
		let read = null;
		for (const { move, state } of path) {
			for (const step of move.steps) {
				if (step.client !== lanesOf(level)[who]) continue;
				const found = step.kind === "run" && /^(GET|EVAL get\S*) counter/.test(step.text);
				if (found) read = step.reply === "[(integer) 0]" ? null : step.reply;
				if (step.kind === "counts") read = null;
			}
			const { crashed, ended } = clientOf(state, level, who);
			if (crashed || ended) read = null;
		}
		return read;
	}

	/* A script that reads says whether it did first, and then what. */
	function readText(reply) {
		const value = reply.replace(/^\[\(integer\) 1, (.*)\]$/, "$1").replace(/^"(.*)"$/, "$1");
		return value === "(nil)" ? "no counter: that counts as 0" : value;
	}

	/* Is the lock that it believes to have somebody else's, or gone? */
	function lockTruth(level, state, who) {
		if (!clientOf(state, level, who).inside || !level.key) return null;
		const maker = state.servers[0].lock_of;
		if (maker === lanesOf(level)[who]) return null;
		return maker ? "but the lock is " + maker + "'s" : "but the lock is gone";
	}

	/* Of a request: what it was told last, if it was. */
	function requestText(level, path, who, next) {
		const own = path.flatMap(({ move }) => move.steps)
			.filter((step) => step.client === lanesOf(level)[who]);
		if (!own.length) return "is not sent yet";
		if (own.length > 1) return "was told: " + own[own.length - 1].text.replace("=> ", "");
		return next ? "can be answered" : "waits for its answer";
	}

	function doingText(level, path, state, who) {
		const { crashed, ended } = clientOf(state, level, who);
		const next = state.moves.find((move) => move.who === who && !move.fault);
		if (isRequest(level, who)) return requestText(level, path, who, next);
		if (crashed) return "has crashed";
		if (ended) return "is done";
		return next ? "next: " + next.label : "waits";
	}

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

	/* The line that all words of are in the command; the longest, as "SET NX EX" before "SET". */
	function lineOf(lines, command) {
		const words = new Set(command.split(/[\s:]+/));
		const fits = lines.filter((line) => line.split(" ").every((word) => words.has(word)));
		fits.sort((a, b) => b.split(" ").length - a.split(" ").length);
		return fits[0];
	}

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
			const line = next ? lineOf(lines, next.label) : undefined;
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

	const keyOf = (line) => line.replace(/ = .*/, "");

	/* What is new in the keys of all servers, and what is gone. */
	function changes(level, from, to) {
		return level.graph.servers.flatMap((serverName, i) => {
			const before = lines(from.servers[i].data), now = lines(to.servers[i].data);
			const left = new Set(now.map(keyOf));
			const gone = before.filter((line) => line.includes(" = ")).map(keyOf)
				.filter((key) => !left.has(key));
			const news = now.filter((line) => line.includes(" = ") && !before.includes(line));
			const prefix = level.graph.servers.length > 1 ? serverName + ": " : "";
			return [...news, ...gone.map((key) => key + " is gone")].map((text) => prefix + text);
		});
	}

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

	const movesBefore = (level) => level.graph.before.map((i) => moveOf(level, i));

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

	/* What the step with this index broke: transitions say it, or the state it led to. */
	function newlyBroken(level, path, i) {
		const { move, state } = path[i];
		const before = i ? path[i - 1].state.flags : 0;
		const bit = (text) => 1 << level.graph.invariants.indexOf(text);
		let bits = move.broken;
		if (state.flags & WRONG && !(before & WRONG)) bits |= bit("count");
		if (state.flags & STUCK && !(before & STUCK)) bits |= bit("deadlock");
		return bits;
	}

	/* ---- The page ------------------------------------------------------------------------- */

	function showCounts(judged) {
		const { all, bad } = judged.last;
		const over = judged.broken || judged.last.flags & (WRONG | STUCK);
		at("ways").textContent = countsText(game.level, judged);
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

	/* In redrace play all clients begin at once: one that has not done anything here sees
	 * less time pass than there. */
	function beginsLate(level, path) {
		const begun = new Set();
		for (const move of [...movesBefore(level), ...path.map((step) => step.move)]) {
			if (move.play.startsWith("tick:") && begun.size < lanesOf(level).length) return true;
			if (move.who >= 0) begun.add(move.who);
		}
		return false;
	}

	/* Who was refused sleeps before it asks again. */
	function playedWords(moves) {
		const refused = new Set();
		return moves.flatMap((move) => {
			const sleeps = move.who >= 0 && move.play.startsWith(letter(move.who) + ":") &&
				refused.delete(move.who);
			if (move.refused) refused.add(move.who);
			return sleeps ? [letter(move.who) + ":sleep", move.play] : [move.play];
		});
	}

	function command(judged) {
		const { level, path } = game;
		const words = playedWords([...movesBefore(level), ...path.map(({ move }) => move)]);
		const stops = judged.last.flags & (FINAL | STUCK) ? "" : "--stop ";
		const differs = level.graph.timed && beginsLate(level, path);
		return words.includes("") || !level.play || differs ? null :
			level.play + " " + stops + "--schedule \"" + words.join(" ") + "\" " + level.strategy;
	}

	function showCommand(judged) {
		const { level, path } = game;
		const text = level.strategy ? command(judged) : null;
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
		texts.push(countsText(level, judged), missedText(level, judged) ?? "");
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
		at("level").focus({ preventScroll: true });
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
