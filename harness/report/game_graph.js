/* SPDX-License-Identifier: MIT */
/* Be the scheduler: the levels' graphs, and ways through them. */
"use strict";

const walks = (() => {
	const FINAL = 1, WRONG = 2, STUCK = 4;

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

	const movesBefore = (level) => level.graph.before.map((i) => moveOf(level, i));

	return { FINAL, WRONG, STUCK, clientOf, happened, isReached, isRequest, judge, laneName, lanesOf,
		letter, movesBefore, newlyBroken, stateOf, wayToGoal };
})();
