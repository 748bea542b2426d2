/* SPDX-License-Identifier: MIT */
/* Be the scheduler: what is said of a level, a way through it, and its clients. */
"use strict";

const words = (() => {
	const { FINAL, WRONG, STUCK, clientOf, happened, isReached, isRequest, laneName, lanesOf, letter,
		movesBefore } = walks;
	const MANY = 2 ** 53 - 1;

	/* ---- Texts -------------------------------------------------------------------- */

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

	function countsText(level, { last, broken }, n, isCounted) {
		if (broken) return "It is broken already: whatever comes next, this ends badly.";
		if (last.flags & STUCK) return "From here somebody can never finish: this ends badly.";
		if (last.flags & FINAL)
			return !(last.flags & WRONG) ? "Everybody is done, and nothing is broken." :
				level.wrong ? "Everybody is done. " + level.wrong :
					"Everybody is done, and the count is wrong: " + countText(last) + ".";
		if (!isCounted) return stepsText(n);
		return "From here " + waysText(last.all) + ": " + number(last.all - last.bad) +
			(last.all - last.bad === 1 ? " ends" : " end") + " well, " + number(last.bad) + " badly.";
	}

	const stepsText = (n) => n ?
		n + (n === 1 ? " step" : " steps") + " done; nothing is broken yet." :
		"Nothing has happened yet.";

	/* An end at which the task is not done. */
	function missedText(level, judged) {
		const { last, broken } = judged;
		const isEnd = !last.moves.length || last.flags & (FINAL | STUCK);
		if (!isEnd || isReached(level, judged)) return null;
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

	/* The line whose words are all in the command and its server; the longest, as "SET NX EX"
	 * before "SET". */
	function lineOf(lines, command) {
		const words = new Set(command.split(/[\s:]+/));
		/* Words of Redis, or the name of a script; what is told of them ("if won") is in no command. */
		const wordsOf = (line) => {
			const all = line.split(" "), typed = all.filter((word) => /^[A-Z]+$/.test(word));
			return [...typed.length ? typed : all.slice(0, 1), ...all.filter((word) => word[0] === "@")];
		};
		const fits = lines.filter((line) => wordsOf(line).every((word) => words.has(word)));
		fits.sort((a, b) => wordsOf(b).length - wordsOf(a).length);
		return fits[0];
	}

	/* ---- What has changed --------------------------------------------------------------- */

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

	/* ---- The same on real servers ---------------------------------------------------------- */

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

	function command(level, path, judged) {
		const words = playedWords([...movesBefore(level), ...path.map(({ move }) => move)]);
		const stops = judged.last.flags & (FINAL | STUCK) ? "" : "--stop ";
		const differs = level.graph.timed && beginsLate(level, path);
		return words.includes("") || !level.play || differs ? null :
			level.play + " " + stops + "--schedule \"" + words.join(" ") + "\" " + level.strategy;
	}

	return { belief, brokenTexts, changes, command, countsText, doingText, lineOf, lines, lockTruth,
		missedText, moveText, readText, server };
})();
