/* SPDX-License-Identifier: MIT */
/* The words of a schedule. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schedule.h"

struct reader {
	const struct rr_rehearsal_setup *setup;
	char *error;
	size_t error_size;
	const char *word;
	size_t number; /* of the word, from 1 */
};

static bool fail(const struct reader *reader, const char *what,
		 const char *found)
{
	snprintf(reader->error, reader->error_size,
		 "schedule, word %zu, '%.60s': expected %s, found '%.60s'",
		 reader->number, reader->word, what, found);
	return false;
}

/* 'A', and A'' for a renewer: its number under a gate; -1 = there is none. */
static int find_actor(const struct rr_rehearsal_setup *setup, const char *name)
{
	const int client = name[0] - 'A';
	const size_t primes = name[0] ? strspn(name + 1, "'") : 0;
	const size_t n = setup->n_clients;

	if (client < 0 || (size_t)client >= n || name[1 + primes] ||
	    (size_t)client + primes * n >= RR_GATE_ACTORS)
		return -1;
	return client + (int)(primes * n);
}

static bool take_client(const struct reader *reader, const char *name,
			int *client)
{
	char what[40];

	*client = find_actor(reader->setup, name);
	if (*client >= 0 && (size_t)*client < reader->setup->n_clients)
		return true;
	snprintf(what, sizeof(what), "a client, A to %c",
		 'A' + (int)reader->setup->n_clients - 1);
	return fail(reader, what, name);
}

static bool take_duration(const struct reader *reader, const char *text,
			  int64_t *ns)
{
	static const struct {
		const char *unit;
		int64_t ns;
	} units[] = { { "s", 1000000000 }, { "ms", 1000000 }, { "us", 1000 } };
	char *end;
	const long long value = strtoll(text, &end, 10);

	for (size_t i = 0; end != text && value > 0 && value <= 1000000 &&
			   i < sizeof(units) / sizeof(units[0]);
	     i++) {
		if (strcmp(end, units[i].unit) == 0) {
			*ns = value * units[i].ns;
			return true;
		}
	}
	return fail(reader, "a duration like 10s, 300ms or 5us", text);
}

static bool take_server(const struct reader *reader, const char *name,
			int *server)
{
	const size_t n = reader->setup->strategy->lock.servers;
	char known[24] = "redis", what[40];

	for (size_t i = 0; i <= n; i++) {
		if (i == 0 && n)
			snprintf(known, sizeof(known), "data");
		else if (i)
			snprintf(known, sizeof(known), "n%zu", i);
		*server = (int)i;
		if (strcmp(name, known) == 0)
			return true;
	}
	snprintf(what, sizeof(what), n ? "data, n1 to n%zu" : "redis", n);
	return fail(reader, what, name);
}

/* ---- One word -------------------------------------------------------------------- */

/* NAME, or NAME:COMMAND. */
static bool parse_step(const struct reader *reader, struct rr_cue *cue)
{
	char name[RR_CUE_SIZE];
	const char *colon = strchr(cue->word, ':');

	snprintf(name, sizeof(name), "%.*s",
		 colon ? (int)(colon - cue->word) : (int)strlen(cue->word),
		 cue->word);
	cue->kind = RR_MOVE_STEP;
	cue->actor = find_actor(reader->setup, name);
	if (cue->actor < 0)
		return fail(reader,
			    "a client, tick:, crash:, pause:, lose-reply: or restart:",
			    name);
	if (colon)
		snprintf(cue->command, sizeof(cue->command), "%s", colon + 1);
	if (colon && !cue->command[0])
		return fail(reader, "a command after the colon", "");
	return true;
}

static bool parse_tick(const struct reader *reader, struct rr_cue *cue,
		       const char *rest)
{
	return take_duration(reader, rest, &cue->ns);
}

static bool parse_client(const struct reader *reader, struct rr_cue *cue,
			 const char *rest)
{
	return take_client(reader, rest, &cue->actor);
}

static bool parse_pause(const struct reader *reader, struct rr_cue *cue,
			const char *rest)
{
	const char *colon = strchr(rest, ':');
	char name[RR_CUE_SIZE];

	if (!colon)
		return fail(reader, "pause:CLIENT:DURATION", rest);
	snprintf(name, sizeof(name), "%.*s", (int)(colon - rest), rest);
	return take_client(reader, name, &cue->actor) &&
	       take_duration(reader, colon + 1, &cue->ns);
}

static bool parse_restart(const struct reader *reader, struct rr_cue *cue,
			  const char *rest)
{
	return take_server(reader, rest, &cue->server);
}

static const struct {
	const char *prefix;
	enum rr_move_kind kind;
	bool (*parse)(const struct reader *reader, struct rr_cue *cue,
		      const char *rest);
} forms[] = {
	{ "tick:", RR_MOVE_PASS, parse_tick },
	{ "crash:", RR_MOVE_CRASH, parse_client },
	{ "pause:", RR_MOVE_PAUSE, parse_pause },
	{ "lose-reply:", RR_MOVE_LOSE, parse_client },
	{ "restart:", RR_MOVE_RESTART, parse_restart },
};

static bool parse_word(const struct reader *reader, struct rr_cue *cue)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		const size_t length = strlen(forms[i].prefix);

		if (strncmp(cue->word, forms[i].prefix, length) != 0)
			continue;
		cue->kind = forms[i].kind;
		return forms[i].parse(reader, cue, cue->word + length);
	}
	return parse_step(reader, cue);
}

bool rr_schedule_parse(struct rr_schedule *schedule, const char *text,
		       const struct rr_rehearsal_setup *setup, char *error,
		       size_t error_size)
{
	static const char blanks[] = " \t\r\n";
	struct reader reader = { .setup = setup,
				 .error = error,
				 .error_size = error_size };

	for (text += strspn(text, blanks); *text;
	     text += strspn(text, blanks)) {
		const size_t length = strcspn(text, blanks);
		struct rr_cue *cue = &schedule->cues[schedule->n_cues];

		reader.number = schedule->n_cues + 1;
		reader.word = text;
		if (schedule->n_cues == RR_CUES_MAX || length >= RR_CUE_SIZE)
			return fail(&reader, "fewer or shorter words", text);
		memset(cue, 0, sizeof(*cue));
		memcpy(cue->word, text, length);
		reader.word = cue->word;
		if (!parse_word(&reader, cue))
			return false;
		schedule->n_cues++;
		text += length;
	}
	return true;
}
