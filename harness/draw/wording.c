/* SPDX-License-Identifier: MIT */
/* What a step, a value, a document's line is in words. */
#include "model.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cases.h"
#include "base/marks.h"
#include "base/memory.h"
#include "base/reply.h"
#include "base/text.h"

enum { DURATION_SIZE = 40 };

char *rr_words(const char *format, ...)
{
	char *text, *printable;
	va_list arguments;

	va_start(arguments, format);
	text = rr_vasprintf(format, arguments);
	va_end(arguments);
	printable = rr_plain(text);
	free(text);
	return printable;
}

/* Exactly, in the largest unit that needs no fraction. */
static const char *exact_duration(char text[DURATION_SIZE], int64_t ns)
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = { { INT64_C(1000000000), "s" }, { 1000000, "ms" }, { 1000, "us" }, { 1, "ns" } };
	size_t i = 0;

	while (ns % units[i].ns != 0)
		i++;
	snprintf(text, DURATION_SIZE, "%" PRId64 " %s", ns / units[i].ns, units[i].name);
	return text;
}

/* ---- Steps --------------------------------------------------------------- */

/* What follows the name of the server; without it, the fault's own name. */
static const char *const faults[RR_FAULT_KINDS] = {
	[RR_FAULT_KILL] = " is killed (kill -9)",
	[RR_FAULT_SHUT_DOWN] = " is shut down (SIGTERM)",
	[RR_FAULT_AWAIT_END] = " has ended",
	[RR_FAULT_RESTART] = " starts again with its files",
	[RR_FAULT_WIPE] = " starts again without its files",
	[RR_FAULT_HANG] = " hangs (SIGSTOP)",
	[RR_FAULT_RESUME] = " goes on",
	[RR_FAULT_CUT] = " loses the link to its master",
	[RR_FAULT_JOIN] = " has the link to its master again",
	[RR_FAULT_PROMOTE] = " becomes a master",
	[RR_FAULT_CATCH_UP] = " has all that its master wrote",
	[RR_FAULT_POWER] = " loses power, and what no fsync covered",
	[RR_FAULT_AWAIT_SYNC] = " has synced all to its disk",
	[RR_FAULT_DIE_IN_SYNC] = " will die in its next fsync",
	[RR_FAULT_BREAK_DISK] = "'s snapshots fail",
	[RR_FAULT_MEND_DISK] = "'s snapshots succeed again",
	[RR_FAULT_FILL] = "'s memory is full",
	[RR_FAULT_EMPTY] = " has memory again",
};

/* As races have it, but where that is no word, or one for several kinds. */
const char *rr_step_kind_word(const struct rr_step *step)
{
	static const char *const others[RR_STEP_FAULT + 1] = {
		[RR_STEP_RUN] = "run",
		[RR_STEP_BYTES] = "bytes",
		[RR_STEP_READ] = "reads",
		[RR_STEP_NOTE] = "note",
	};

	if (step->kind == RR_STEP_FAULT)
		return rr_fault_name(step->fault);
	return others[step->kind] ? others[step->kind] : rr_step_word(step->kind);
}

/* How redrace check writes down that a client's connection is closed (party/instance.c): on
 * the server that does the same. */
static bool is_closing(const struct rr_step *step)
{
	return step->kind == RR_STEP_RUN && step->n_words == 1 &&
	       strcmp(step->words[0].text, RR_MARK_CLOSED) == 0;
}

/* What is said of a request to an app (base/marks.h) by a step, and in which words; NULL: it is
 * none of these steps. */
static const char *words_of_request(const struct rr_step *step, const char **arrow)
{
	const char *text = step->kind == RR_STEP_RUN && step->n_words == 2 ? step->words[1].text :
									     "";

	*arrow = "";
	if (strncmp(text, RR_MARK_REQUEST, strlen(RR_MARK_REQUEST)) == 0)
		return text + strlen(RR_MARK_REQUEST);
	*arrow = "=> ";
	return strncmp(text, RR_MARK_ANSWER, strlen(RR_MARK_ANSWER)) == 0 ?
		       text + strlen(RR_MARK_ANSWER) :
		       NULL;
}

json_t *rr_trace_steps(const struct rr_trace *trace)
{
	const struct rr_race *race = trace->race;
	json_t *all = json_array();
	size_t n = 0;

	for (size_t i = 0; i < trace->n_events; i++) {
		const struct rr_event *event = &trace->events[i];
		const struct rr_step *step = event->step;
		const bool is_note = step->kind == RR_STEP_NOTE;
		const bool is_timed = step->kind == RR_STEP_TICK || step->kind == RR_STEP_CLOCK;
		const int who = step->client >= 0 ? step->client : step->peer;
		const struct rr_race_client *client = who >= 0 ? &race->clients[who] : NULL;
		const char *arrow, *request = words_of_request(step, &arrow);
		struct rr_case_step told = {
			.number = is_note ? 0 : ++n,
			.kind = is_note ? "run" : rr_step_kind_word(step),
			.server = step->server >= 0 ? race->servers[step->server].name : NULL,
			.n_words = step->n_words,
			.words = step->words,
			.reply = step->is_lost || step->is_waiting ? NULL : event->reply,
			.fault = step->injected,
			.ns = is_timed ? step->amount : 0,
		};

		/* A note has a command where that never arrived. */
		if (is_note && !step->n_words)
			continue;
		if (client) {
			told.client = client->of ? client->of : client->name;
			told.connection = step->server >= 0 || step->kind == RR_STEP_CRASH ?
						  client->number :
						  0;
		}
		if (request || is_closing(step)) {
			told.kind = !request ? "closes" : *arrow ? "answer" : "request";
			told.text = request;
			told.server = told.reply = NULL;
			told.n_words = 0;
		}
		json_array_append_new(all, rr_case_step(&told));
	}
	return all;
}

enum rr_row_kind rr_row_kind_of(const struct rr_step *step)
{
	const char *arrow;

	return is_closing(step) || words_of_request(step, &arrow) ? RR_ROW_MARK :
	       step->kind <= RR_STEP_READ                         ? RR_ROW_MESSAGE :
	       step->kind <= RR_STEP_COMPUTE                      ? RR_ROW_MARK :
	       step->kind == RR_STEP_NOTE                         ? RR_ROW_NOTE :
	       step->kind == RR_STEP_FAULT                        ? RR_ROW_FAULT :
								    RR_ROW_TIME;
}

char *rr_step_words(const struct rr_trace *trace, const struct rr_event *event)
{
	const struct rr_step *step = event->step;
	const long long amount = (long long)step->amount;
	char passed[DURATION_SIZE], now[DURATION_SIZE];
	const char *arrow, *request = words_of_request(step, &arrow);
	char *script = rr_script_words(trace, step);

	if (script)
		return script;
	if (is_closing(step))
		return rr_words("closes its connection");
	if (request)
		return rr_words("%s%s", arrow, request);
	switch (step->kind) {
	case RR_STEP_RUN:
	case RR_STEP_WRITE:
		return event->command ? rr_plain(event->command) :
					rr_command_text(step->words, step->n_words, 0);
	case RR_STEP_BYTES: {
		char *plain = rr_plain_bytes(step->text, step->length);
		char *text = rr_words("bytes \"%s\"", plain);

		free(plain);
		return text;
	}
	case RR_STEP_LOCK:
	case RR_STEP_UNLOCK:
		return rr_words("%s %s", rr_step_kind_word(step), step->text);
	case RR_STEP_COMPUTE:
		return rr_words("%s = now %c %lld = %s", step->text, amount < 0 ? '-' : '+',
				llabs(amount), event->reply ? event->reply : "?");
	case RR_STEP_NOTE:
		return rr_plain(step->text);
	case RR_STEP_TICK:
		if (event->at_ns < 0)
			return rr_words("%s pass", exact_duration(passed, amount));
		return rr_words("%s pass, t = %s", exact_duration(passed, amount),
				exact_duration(now, event->at_ns));
	case RR_STEP_CLOCK: {
		const char *who = step->peer >= 0 ? trace->race->clients[step->peer].name :
						    trace->race->servers[step->server].name;

		if (amount == 0)
			return rr_words("%s's clock is right", who);
		return rr_words("%s's clock is %s %s", who, exact_duration(passed, llabs(amount)),
				amount > 0 ? "ahead" : "behind");
	}
	case RR_STEP_FAULT: {
		const char *server = trace->race->servers[step->server].name;

		if (step->fault == RR_FAULT_TEAR) {
			static const char *const how[RR_TEAR_KINDS] = {
				[RR_TEAR_LAST_BYTES] = "lacks its last",
				[RR_TEAR_AT_BYTE] = "ends after byte",
				[RR_TEAR_AFTER_COMMAND] = "ends after command",
				[RR_TEAR_IN_COMMAND] = "ends within command",
				[RR_TEAR_WITHOUT_COMMAND] = "lacks command",
				[RR_TEAR_OVER_COMMAND] = "has a wrong first byte in command",
			};

			return rr_words("%s's append-only file %s %lld%s", server, how[step->tear],
					amount, step->tear == RR_TEAR_LAST_BYTES ? " bytes" : "");
		}
		if (step->fault == RR_FAULT_SLOW_DISK)
			return rr_words("every fsync of %s takes %s longer", server,
					exact_duration(passed, amount));
		if (!faults[step->fault])
			return rr_words("%s %s", rr_fault_name(step->fault), server);
		return rr_words("%s%s", server, faults[step->fault]);
	}
	default:
		return rr_words("%s", rr_step_kind_word(step));
	}
}

/* ---- Values -------------------------------------------------------------- */

char *rr_words_of_reply(const char *reply)
{
	static const char integer[] = "(integer) ";
	const size_t length = strlen(integer);

	return rr_plain(strncmp(reply, integer, length) == 0 ? reply + length : reply);
}

char *rr_words_of_value(const char *value)
{
	const size_t length = strlen(value);
	size_t simple;

	if (length < 3 || value[0] != '"')
		return rr_plain(value);
	simple = strspn(value + 1, "0123456789abcdefghijklmnopqrstuvwxyz"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-.:");
	if (simple != length - 2)
		return rr_plain(value);
	return rr_plain_bytes(value + 1, length - 2);
}

char *rr_beginning_words(const struct rr_trace *trace)
{
	const struct rr_race *race = trace->race;
	char *text = NULL, *plain;
	FILE *out = rr_open_text(&text);

	for (size_t i = 0; i < race->n_clients; i++)
		fprintf(out, "%s%s", i ? ", " : "Clients ", race->clients[i].name);
	for (size_t i = 0; i < race->n_keys; i++) {
		const char *value = trace->beginning[i];
		char *words = value ? rr_words_of_value(value) : NULL;

		fprintf(out, "%s%s = %s", i ? ", " : "; at the beginning ", race->keys[i],
			words ? words : "?");
		free(words);
	}
	fputc('.', out);
	fclose(out);
	plain = rr_plain(text);
	free(text);
	return plain;
}

/* ---- What a document says ------------------------------------------------ */

char *rr_words_of_saying(const struct rr_trace *trace, const struct rr_saying *saying)
{
	const struct rr_race *race = trace->race;
	const bool holds = rr_trace_saying_holds(trace, saying);
	const char *reply = NULL;
	size_t number;

	if (saying->step < 0)
		return rr_words("%s says: %s. It %s.", saying->claim, saying->says,
				holds ? "holds" : "does not hold");
	number = rr_step_number(race, &race->steps[saying->step]);
	if (holds)
		return rr_words("%s says that step %zu replies %s. It holds.", saying->claim,
				number, saying->says);
	for (size_t i = 0; i < trace->n_events; i++) {
		if (trace->events[i].step == &race->steps[saying->step])
			reply = trace->events[i].reply;
	}
	return rr_words("%s says that step %zu replies %s. It does not hold: %s came.",
			saying->claim, number, saying->says, reply ? reply : "nothing");
}
