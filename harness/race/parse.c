/* SPDX-License-Identifier: MIT */
/* From text to lines, from lines to a race: its headings, its steps, what documents say, and the
 * verdict. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/resp.h"
#include "base/text.h"
#include "parser.h"

/* What a clock moves at most, in one step or in all: 31 years. */
enum { LONGEST_S = 1000000000 };
#define LONGEST_NS (LONGEST_S * INT64_C(1000000000))

/* ---- Messages ----------------------------------------------------------- */

bool parser_fail(struct parser *parser, const char *format, ...)
{
	char where[32] = "", what[RR_ERROR_SIZE / 2];
	va_list arguments;

	if (parser->line.number)
		snprintf(where, sizeof(where), ":%d", parser->line.number);
	va_start(arguments, format);
	vsnprintf(what, sizeof(what), format, arguments);
	va_end(arguments);
	return rr_error_set(parser->error, RR_ERROR_DATA, "%.200s%s: %s", parser->race->path, where,
			    what);
}

/* Exactly `n` words in this line? `what` says what should stand there. */
static bool has_words(struct parser *parser, size_t n, const char *what)
{
	const size_t found = parser->line.n_words;

	return found == n || parser_fail(parser, "expected '%s', found %zu %s", what, found,
					 found == 1 ? "word" : "words");
}

/* ---- Pieces of a line --------------------------------------------------- */

static bool same(const char *word, const char *other)
{
	return strcmp(word, other) == 0;
}

/* Where in a line we are. */
struct cursor {
	const char *at, *end;
};

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static void skip_blanks(struct cursor *cursor)
{
	while (cursor->at < cursor->end && is_blank(*cursor->at))
		cursor->at++;
}

/* Is `token` next, as a word of its own? */
static bool is_next(const struct cursor *cursor, const char *token)
{
	const size_t length = strlen(token);
	const size_t left = (size_t)(cursor->end - cursor->at);

	return left >= length && memcmp(cursor->at, token, length) == 0 &&
	       (left == length || is_blank(cursor->at[length]));
}

static const char *cut_rest(struct rr_race *race, struct cursor *cursor)
{
	const char *end = cursor->end;

	skip_blanks(cursor);
	while (end > cursor->at && is_blank(end[-1]))
		end--;
	return rr_race_keep(race, cursor->at, (size_t)(end - cursor->at));
}

/* Lines whose first word is followed by plain text, apostrophes and all. */
static bool begins_text(const struct parser_line *line)
{
	return line->n_words == 1 && (same(line->words[0], "--") || same(line->words[0], "title") ||
				      same(line->words[0], "shows"));
}

static bool cut_word(struct parser *parser, struct cursor *cursor)
{
	struct parser_line *line = &parser->line;
	const size_t length = (size_t)(cursor->end - cursor->at);
	char *copy = rr_race_keep(parser->race, cursor->at, length), *at = copy;
	struct rdl_word word;

	if (line->n_words == RR_WORDS_MAX)
		return parser_fail(parser, "expected at most %d words", RR_WORDS_MAX);
	if (!rr_take_word(&at, copy + length, true, &word))
		return parser_fail(parser, "expected a quote to end before the line does");
	cursor->at += at - copy;
	copy[word.length] = '\0';
	line->has_zero |= strlen(copy) < word.length;
	line->lengths[line->n_words] = word.length;
	line->words[line->n_words++] = copy;
	return true;
}

/* One word, or the reply after => or <. */
static bool cut_piece(struct parser *parser, struct cursor *cursor)
{
	struct parser_line *line = &parser->line;

	if (line->n_words == 1 && is_next(cursor, "<")) {
		cursor->at++;
		line->words[line->n_words++] = "<";
	} else if (is_next(cursor, "=>")) {
		cursor->at += 2;
	} else if (line->reply) {
		return parser_fail(parser, "expected the line to end after the reply");
	} else {
		return cut_word(parser, cursor);
	}

	/* What is left up to a remark or a comment, without blanks at its ends. */
	struct rr_race *race = parser->race;
	const char *begin, *last;
	char quote = '\0';

	skip_blanks(cursor);
	begin = last = cursor->at;
	for (; cursor->at < cursor->end; cursor->at++) {
		const char c = *cursor->at;
		const bool first = cursor->at == begin || is_blank(cursor->at[-1]);

		if (quote == '\0' && first && (is_next(cursor, "!") || is_next(cursor, "#")))
			break;
		if (quote && c == '\\' && cursor->at + 1 < cursor->end)
			cursor->at++;
		else if (c == '"')
			quote = quote ? '\0' : c;
		if (!is_blank(c))
			last = cursor->at + 1;
	}
	line->reply = rr_race_keep(race, begin, (size_t)(last - begin));
	return true;
}

/* Cuts `text`, a line without its newline, into parser->line. */
static bool cut_line(struct parser *parser, const char *text, size_t length)
{
	struct parser_line *line = &parser->line;
	struct cursor cursor = { text, text + length - (length > 0 && text[length - 1] == '\r') };

	*line = (struct parser_line){ .number = line->number + 1 };
	if (memchr(text, '\0', length))
		return parser_fail(parser, "expected text, found a byte 0");
	if (!rr_is_shown(text, (size_t)(cursor.end - text)))
		return parser_fail(
			parser,
			"expected characters that show themselves, found others; in a word they are \"\\x1b\"");
	for (skip_blanks(&cursor); cursor.at < cursor.end; skip_blanks(&cursor)) {
		struct cursor rest = cursor;

		if (line->n_words == 1 && !line->rest)
			line->rest = cut_rest(parser->race, &rest);
		if (is_next(&cursor, "#") || begins_text(line) ||
		    (line->n_words == 0 && *cursor.at == '#'))
			return true;
		if (is_next(&cursor, "!")) {
			cursor.at++;
			line->remark = cut_rest(parser->race, &cursor);
			return true;
		}
		if (!cut_piece(parser, &cursor))
			return false;
	}
	return true;
}

/* ---- What lines are made of --------------------------------------------- */

/* Indices of names; -1 = none of that name. */
static int find_client(const struct rr_race *race, const char *name, size_t length)
{
	for (size_t i = 0; i < race->n_clients; i++) {
		if (strlen(race->clients[i].name) == length &&
		    memcmp(race->clients[i].name, name, length) == 0)
			return (int)i;
	}
	return -1;
}

static int find_server(const struct rr_race *race, const char *name)
{
	for (size_t i = 0; i < race->n_servers; i++) {
		if (same(race->servers[i].name, name))
			return (int)i;
	}
	return -1;
}

static bool take_number(struct parser *parser, const char *text, int64_t least, int64_t most,
			int64_t *number)
{
	long value;

	if (rr_parse_number(text, least, most, &value)) {
		*number = value;
		return true;
	}
	return parser_fail(parser, "expected a number from %lld to %lld, found '%.60s'",
			   (long long)least, (long long)most, text);
}

/* 10s, 300ms, 5us, with a sign if `is_signed`; nanoseconds. */
static bool take_duration(struct parser *parser, const char *text, bool is_signed,
			  int64_t *duration_ns)
{
	return rr_parse_duration(text, is_signed, LONGEST_NS, duration_ns) ||
	       parser_fail(parser, "expected a duration like %s, found '%.60s'",
			   is_signed ? "+60s or -60s" : "10s or 300ms", text);
}

/* The line's words from `first` on are the step's command. */
static bool take_command(struct parser *parser, struct rr_step *step, size_t first)
{
	struct parser_line *line = &parser->line;
	struct rdl_word words[RR_WORDS_MAX];

	step->n_words = line->n_words - first;
	if (step->n_words == 0)
		return parser_fail(parser, "expected a command");
	if (step->n_words > RDL_WORDS_MAX)
		return parser_fail(parser, "expected a command of at most %d words", RDL_WORDS_MAX);
	for (size_t i = 0; i < step->n_words; i++)
		words[i] = (struct rdl_word){ line->words[first + i], line->lengths[first + i] };
	step->words = (const struct rdl_word *)rr_race_keep(parser->race, (const char *)words,
							    step->n_words * sizeof(words[0]));
	line->has_zero = false;
	return parser_allows_command(parser, step);
}

/* Appends a step; NULL, and an error, when there is no room. */
static struct rr_step *add_step(struct parser *parser, enum rr_step_kind kind)
{
	struct rr_race *race = parser->race;

	if (race->n_steps == RR_STEPS_MAX) {
		parser_fail(parser, "expected at most %d steps", RR_STEPS_MAX);
		return NULL;
	}
	rr_array_grow(&race->steps, race->n_steps, sizeof(*race->steps));
	race->steps[race->n_steps] = (struct rr_step){ .kind = kind,
						       .line = parser->line.number,
						       .client = -1,
						       .server = -1,
						       .peer = -1,
						       .remark = parser->line.remark };
	return &race->steps[race->n_steps++];
}

/* ---- Texts and keys ----------------------------------------------------- */

static bool parse_safe(struct parser *parser)
{
	parser->race->safe = parser->line.words[1];
	return parser->line.n_words == 2 ||
	       parser_fail(parser, "expected one name, found '%s'", parser->line.words[2]);
}

/* watch KEY..., together KEY... */
static bool parse_keys(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const bool together = same(line->words[0], "together");
	struct rr_race *race = parser->race;
	const char **keys = together ? race->together : race->keys;
	size_t *n = together ? &race->n_together : &race->n_keys;

	for (size_t i = 1; i < line->n_words; i++) {
		if (*n == RR_KEYS_SHOWN_MAX)
			return parser_fail(parser, "expected at most %d keys", RR_KEYS_SHOWN_MAX);
		keys[(*n)++] = line->words[i];
	}
	return true;
}

static bool parse_lock(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const char *kind = line->n_words == 3 ? line->words[2] : "";
	struct rr_race *race = parser->race;

	race->lock = line->words[1];
	race->lock_is_timestamp = same(kind, "timestamp");
	race->lock_is_count = same(kind, "count");
	return line->n_words == 2 || race->lock_is_timestamp || race->lock_is_count ||
	       parser_fail(parser, "expected 'lock KEY', 'lock KEY timestamp' or 'lock KEY count'");
}

/* limit N: a semaphore lets so many clients in at once. */
static bool parse_limit(struct parser *parser)
{
	return has_words(parser, 2, "limit CLIENTS") &&
	       take_number(parser, parser->line.words[1], 1, RR_RACE_CLIENTS_MAX,
			   &parser->race->limit);
}

static bool parse_counter(struct parser *parser)
{
	const struct parser_line *line = &parser->line;

	parser->race->counter = line->words[1];
	if (line->n_words == 2)
		return true;
	if (line->n_words != 4 || !same(line->words[2], "from"))
		return parser_fail(parser, "expected 'counter KEY' or 'counter KEY from NUMBER'");
	return take_number(parser, line->words[3], -1000000000, 1000000000,
			   &parser->race->counter_from);
}

/* given COMMAND: what is there before the first step. */
static bool parse_given(struct parser *parser)
{
	struct rr_race *race = parser->race;

	rr_array_grow(&race->given, race->n_given, sizeof(*race->given));
	race->given[race->n_given] = (struct rr_step){
		.kind = RR_STEP_RUN, .line = parser->line.number, .client = -1, .peer = -1
	};
	return take_command(parser, &race->given[race->n_given++], 1);
}

/* needs COMMAND, needs no COMMAND */
static bool parse_needs(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const bool not_there = line->n_words == 3 && same(line->words[1], "no");
	struct rr_race *race = parser->race;

	if (!not_there && !has_words(parser, 2, "needs COMMAND"))
		return false;
	if (race->n_needs == RR_NEEDS_MAX)
		return parser_fail(parser, "expected at most %d needs", RR_NEEDS_MAX);
	race->needs[race->n_needs++] = (struct rr_need){ line->words[line->n_words - 1],
							 not_there };
	return true;
}

/* ---- Clients ------------------------------------------------------------ */

/* clients A B C; connection T1 T2 makes two of them use the first one's. */
static bool parse_clients(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const bool shared = same(line->words[0], "connection");
	struct rr_race *race = parser->race;
	const int first = (int)race->n_clients;

	for (size_t i = 1; i < line->n_words; i++) {
		const char *name = line->words[i];
		const int own = (int)race->n_clients;

		if (own == RR_RACE_CLIENTS_MAX)
			return parser_fail(parser, "expected at most %d clients",
					   RR_RACE_CLIENTS_MAX);
		if (find_client(race, name, strlen(name)) >= 0)
			return parser_fail(parser,
					   "expected names that differ, found '%.60s' twice", name);
		race->clients[race->n_clients++] =
			(struct rr_race_client){ .name = name, .connection = shared ? first : own };
	}
	return true;
}

/* ---- Servers ------------------------------------------------------------ */

static struct rr_race_server *add_server(struct parser *parser, const char *name)
{
	struct rr_race *race = parser->race;
	struct rr_race_server *server = &race->servers[race->n_servers];

	if (race->n_servers == RR_RACE_SERVERS_MAX) {
		parser_fail(parser, "expected at most %d servers", RR_RACE_SERVERS_MAX);
		return NULL;
	}
	if (find_server(race, name) >= 0) {
		parser_fail(parser, "expected names that differ, found '%.60s' twice", name);
		return NULL;
	}
	*server = (struct rr_race_server){ .name = name };
	race->n_servers++;
	return server;
}

/* "NAME=VALUE" as a line of redis.conf, which has neither an end nor anything else that is not
 * printed. */
static bool take_config(struct parser *parser, struct rr_race_server *server, const char *setting)
{
	char *line = rr_race_keep(parser->race, setting, strlen(setting));
	char *equals = strchr(line, '='), *end = equals;
	size_t n = 0;

	while (server->config[n])
		n++;
	if (!equals || n == RR_CONFIG_LINES_MAX)
		return false;
	*equals = '\0';
	do
		end++;
	while ((unsigned char)*end >= ' ' && *end != 127);
	if (*end || !parser_may_set(line))
		return parser_fail(
			parser,
			"expected a setting that races may have (docs/races.md), found '%.60s'",
			setting);
	*equals = ' ';
	server->config[n] = line;
	return true;
}

static bool take_server_option(struct parser *parser, struct rr_race_server *server,
			       const char *word)
{
	struct rr_server_options *options = &server->options;
	const struct {
		const char *name;
		bool *flag;
	} flags[] = { { "rdb", &options->rdb },
		      { "debug", &options->debug },
		      { "tcp", &options->tcp } };
	const char *equals = strchr(word, '='), *value = equals ? equals + 1 : "";
	int64_t bytes = 0;

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		if (same(word, flags[i].name))
			return *flags[i].flag = true;
	}
	if (strncmp(word, "aof=", 4) == 0) {
		for (int i = RR_AOF_NO; i <= RR_AOF_ALWAYS; i++) {
			if (!same(value, rr_aof_name((enum rr_aof)i)))
				continue;
			options->aof = (enum rr_aof)i;
			return true;
		}
	} else if (strncmp(word, "config=", 7) == 0) {
		if (take_config(parser, server, value))
			return true;
	} else if (strncmp(word, "replica-of=", 11) == 0) {
		options->replica_of = value;
		if (find_server(parser->race, value) >= 0)
			return options->tcp = true;
	} else if (strncmp(word, "maxmemory=", 10) == 0 &&
		   take_number(parser, value, 0, INT64_MAX, &bytes)) {
		options->maxmemory = bytes;
		return true;
	}
	return parser_fail(
		parser,
		"expected rdb, debug, tcp, aof=always|everysec|no, maxmemory=BYTES, replica-of=SERVER or config=NAME=VALUE, found '%.60s'",
		word);
}

/* servers n1 n2 */
static bool parse_servers(struct parser *parser)
{
	size_t i = 1;

	while (i < parser->line.n_words && add_server(parser, parser->line.words[i]))
		i++;
	return i == parser->line.n_words;
}

/* server n1 OPTION... */
static bool parse_server(struct parser *parser)
{
	struct rr_race_server *server = add_server(parser, parser->line.words[1]);

	for (size_t i = 2; server && i < parser->line.n_words; i++) {
		if (!take_server_option(parser, server, parser->line.words[i]))
			return false;
	}
	return server != NULL;
}

/* ---- The table ---------------------------------------------------------- */

static const struct heading {
	const char *word;
	size_t least_words;
	const char *expected;                 /* what stands there, when there are fewer */
	bool (*parse)(struct parser *parser); /* NULL: a text, for the race's field ... */
	size_t at;                            /* ... that is here */
} headings[] = {
	{ "title", 1, "a title", NULL, offsetof(struct rr_race, title) },
	{ "claim", 2, "the names of claims", NULL, offsetof(struct rr_race, claims) },
	{ "shows", 1, "a sentence", NULL, offsetof(struct rr_race, shows) },
	{ "safe", 2, "the name of a race", parse_safe, 0 },
	{ "clients", 2, "'clients NAME NAME...'", parse_clients, 0 },
	{ "connection", 3, "'connection NAME NAME...'", parse_clients, 0 },
	{ "server", 2, "a server's name", parse_server, 0 },
	{ "servers", 2, "a server's name", parse_servers, 0 },
	{ "watch", 2, "'watch KEY...'", parse_keys, 0 },
	{ "together", 2, "'together KEY...'", parse_keys, 0 },
	{ "lock", 2, "'lock KEY'", parse_lock, 0 },
	{ "limit", 2, "'limit CLIENTS'", parse_limit, 0 },
	{ "counter", 2, "'counter KEY' or 'counter KEY from NUMBER'", parse_counter, 0 },
	{ "needs", 1, "", parse_needs, 0 },
	{ "given", 2, "a command", parse_given, 0 },
};

enum { N_HEADINGS = sizeof(headings) / sizeof(headings[0]) };

/* ---- Commands and replies ----------------------------------------------- */

static bool parse_reply(struct parser *parser, struct rr_step *step)
{
	const char *reply = parser->line.reply;

	step->expected = reply;
	if (!reply)
		return true;
	if (reply[0] == '\0')
		return parser_fail(parser, "expected a reply after => or <");
	step->is_lost = same(reply, "(lost)");
	step->is_waiting = same(reply, "(waits)");
	return true;
}

static bool parse_server_name(struct parser *parser, const char *name, int *server)
{
	*server = find_server(parser->race, name);
	return *server >= 0 || parser_fail(parser, "expected a server's name, found '%.60s'", name);
}

/* A> COMMAND or A@n1> COMMAND */
static bool parse_run(struct parser *parser, struct rr_step *step)
{
	const char *name = parser->line.words[0];
	const size_t length = strcspn(name, "@>");
	const char *at = name + length;

	step->client = find_client(parser->race, name, length);
	step->server = 0;
	if (step->client < 0)
		return parser_fail(parser, "expected a client's name, found '%.*s'", (int)length,
				   name);
	if (*at == '@') {
		const char *server = rr_race_keep(parser->race, at + 1, strlen(at) - 2);

		if (!parse_server_name(parser, server, &step->server))
			return false;
	}
	return take_command(parser, step, 1) && parse_reply(parser, step);
}

static bool parse_read(struct parser *parser, struct rr_step *step)
{
	step->server = 0;
	if (!parser->line.reply)
		return parser_fail(parser, "expected a reply after => or <");
	return parse_reply(parser, step);
}

static bool parse_write(struct parser *parser, struct rr_step *step)
{
	struct parser_line *line = &parser->line;

	step->server = 0;
	if (line->n_words != 4 || !same(line->words[2], "bytes"))
		return take_command(parser, step, 2);
	line->has_zero = false;
	step->kind = RR_STEP_BYTES;
	step->text = line->words[3];
	step->length = line->lengths[3];
	return true;
}

/* ---- Other steps -------------------------------------------------------- */

/* A computes end = now + 11 */
static bool parse_compute(struct parser *parser, struct rr_step *step)
{
	const struct parser_line *line = &parser->line;
	const size_t n = line->n_words;

	if ((n != 5 && n != 7) || !same(line->words[3], "=") || !same(line->words[4], "now"))
		return parser_fail(parser, "expected 'A computes NAME = now + SECONDS'");
	step->text = line->words[2];
	if (n == 5)
		return true;
	if (!same(line->words[5], "+") && !same(line->words[5], "-"))
		return parser_fail(parser, "expected + or -, found '%.60s'", line->words[5]);
	if (!take_number(parser, line->words[6], 0, 1000000000, &step->amount))
		return false;
	if (line->words[5][0] == '-')
		step->amount = -step->amount;
	return true;
}

static bool parse_mutex(struct parser *parser, struct rr_step *step)
{
	step->text = parser->line.words[2];
	return true;
}

static bool parse_note(struct parser *parser, struct rr_step *step)
{
	step->text = parser->line.rest ? parser->line.rest : "";
	return true;
}

static bool parse_duration(struct parser *parser, struct rr_step *step)
{
	return take_duration(parser, parser->line.words[1], false, &step->amount);
}

static bool parse_clock(struct parser *parser, struct rr_step *step)
{
	const char *name = parser->line.words[1];

	step->peer = find_client(parser->race, name, strlen(name));
	return take_duration(parser, parser->line.words[2], true, &step->amount) &&
	       (step->peer >= 0 || parse_server_name(parser, name, &step->server));
}

static bool parse_fault(struct parser *parser, struct rr_step *step)
{
	while (!same(parser->line.words[0], rr_fault_name(step->fault)))
		step->fault++;
	return parse_server_name(parser, parser->line.words[1], &step->server);
}

static bool parse_slow_disk(struct parser *parser, struct rr_step *step)
{
	return parse_fault(parser, step) &&
	       take_duration(parser, parser->line.words[2], false, &step->amount);
}

static bool parse_tear(struct parser *parser, struct rr_step *step)
{
	const struct parser_line *line = &parser->line;

	for (int i = 0; i < RR_TEAR_KINDS; i++) {
		if (!same(line->words[2], rr_tear_name((enum rr_tear)i)))
			continue;
		step->tear = (enum rr_tear)i;
		return parse_fault(parser, step) &&
		       take_number(parser, line->words[3], 0, 1000000, &step->amount);
	}
	return parser_fail(parser, "expected last, at, after, in, without or over, found '%.60s'",
			   line->words[2]);
}

/* ---- The forms of steps ------------------------------------------------- */

struct form {
	size_t n_words; /* 0 = any number */
	const char *usage;
	bool (*parse)(struct parser *parser, struct rr_step *step);
};

static const struct form forms[] = {
	[RR_STEP_RUN] = { 0, "A> COMMAND", parse_run },
	[RR_STEP_WRITE] = { 0, "A writes COMMAND", parse_write },
	[RR_STEP_READ] = { 2, "A < REPLY", parse_read },
	[RR_STEP_ENTER] = { 2, "A enters", NULL },
	[RR_STEP_LEAVE] = { 2, "A leaves", NULL },
	[RR_STEP_COUNT] = { 2, "A counts", NULL },
	[RR_STEP_CRASH] = { 2, "A crashes", NULL },
	[RR_STEP_CONNECT] = { 2, "A connects", NULL },
	[RR_STEP_LOCK] = { 3, "A locks MUTEX", parse_mutex },
	[RR_STEP_UNLOCK] = { 3, "A unlocks MUTEX", parse_mutex },
	[RR_STEP_COMPUTE] = { 0, "A computes NAME = now", parse_compute },
	[RR_STEP_NOTE] = { 0, "-- TEXT", parse_note },
	[RR_STEP_TICK] = { 2, "tick DURATION", parse_duration },
	[RR_STEP_CLOCK] = { 3, "clock NAME +60s", parse_clock },
	[RR_STEP_FAULT] = { 2, "FAULT SERVER", parse_fault },
};

static const struct form slow_disk = { 3, "slow-disk SERVER DURATION", parse_slow_disk },
			 tear = { 4, "tear SERVER last|at|after|in|without|over NUMBER",
				  parse_tear };

/* The step that this line is. */
static bool take_step(struct parser *parser, int client, enum rr_step_kind kind,
		      const struct form *form)
{
	struct rr_step *step;

	if (form->n_words && !has_words(parser, form->n_words, form->usage))
		return false;
	step = add_step(parser, kind);
	if (!step)
		return false;
	step->client = client;
	return !form->parse || form->parse(parser, step);
}

/* RR_STEP_FAULT: none. */
static enum rr_step_kind kind_of_doing(const char *word)
{
	for (int kind = RR_STEP_WRITE; kind <= RR_STEP_COMPUTE; kind++) {
		if (kind != RR_STEP_BYTES && same(word, rr_step_word((enum rr_step_kind)kind)))
			return (enum rr_step_kind)kind;
	}
	return RR_STEP_FAULT;
}

/* Does the line say what a declared client does besides commands, whatever the client is called:
 * "server crashes"? */
static bool is_doing(const struct parser *parser)
{
	const struct parser_line *line = &parser->line;

	return line->n_words > 1 && kind_of_doing(line->words[1]) != RR_STEP_FAULT &&
	       find_client(parser->race, line->words[0], strlen(line->words[0])) >= 0;
}

/* What a client does besides commands. */
static bool take_doing(struct parser *parser, int client)
{
	const char *word = parser->line.n_words > 1 ? parser->line.words[1] : "nothing";
	const enum rr_step_kind kind = kind_of_doing(word);

	if (kind != RR_STEP_FAULT)
		return take_step(parser, client, kind, &forms[kind]);
	return parser_fail(parser,
			   "expected what %s does (enters, leaves, crashes ...), found '%.60s'",
			   parser->line.words[0], word);
}

/* ---- Repeats ------------------------------------------------------------ */

static bool parse_repeat(struct parser *parser)
{
	int64_t rounds = 0;

	if (parser->repeat)
		return parser_fail(parser, "expected 'end' of the repeat in line %d first",
				   parser->repeat_line);
	if (!has_words(parser, 2, "repeat ROUNDS") ||
	    !take_number(parser, parser->line.words[1], 1, 1000, &rounds))
		return false;
	parser->repeat = (int)rounds;
	parser->repeat_from = parser->race->n_steps;
	parser->repeat_line = parser->line.number;
	return true;
}

/* else skip, below a step with a reply */
static bool parse_else(struct parser *parser)
{
	struct rr_race *race = parser->race;
	struct rr_step *last = race->n_steps ? &race->steps[race->n_steps - 1] : NULL;

	if (parser->line.n_words != 2 || !same(parser->line.words[1], "skip"))
		return parser_fail(parser, "expected 'else skip'");
	if (!last || !last->expected)
		return parser_fail(parser, "expected a step with a reply before 'else skip'");
	last->skips = true;
	return true;
}

/* The steps since the repeat began, so many times. */
static bool parse_end(struct parser *parser)
{
	struct rr_race *race = parser->race;
	const size_t from = parser->repeat_from, n = race->n_steps - from;

	if (!parser->repeat)
		return parser_fail(parser, "expected a 'repeat' before 'end'");
	for (size_t i = 0; i < n * (size_t)parser->repeat; i++) {
		struct rr_step *step = i < n ? &race->steps[from + i] :
					       add_step(parser, RR_STEP_NOTE);

		if (!step)
			return false;
		*step = race->steps[from + i % n];
		step->repetition = (int)(i / n) + 1;
		step->repetitions = parser->repeat;
	}
	parser->repeat = 0;
	return true;
}

/* ---- What documents say, and the verdict -------------------------------- */

/* An unknown word for a finding would never hold. An old spelling becomes the name. */
static bool check_finding(struct parser *parser, const char **phrase)
{
	const char *text = *phrase = rr_finding_spelling(*phrase);
	bool known;

	rr_finding_holds(text, 0, &known);
	return known ||
	       parser_fail(
		       parser,
		       "expected a finding like 'lost update' or 'nothing broken', found '%.60s'",
		       text);
}

/* ID says => PATTERN, of the reply before; ID says FINDING, of the end. */
static bool parse_saying(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	struct rr_race *race = parser->race;
	const int last = (int)race->n_steps - 1;
	struct rr_saying *saying;

	if (line->reply ? line->n_words != 2 : line->n_words < 3)
		return parser_fail(parser, "expected 'ID says => REPLY' or 'ID says FINDING'");
	if (line->reply && last < 0)
		return parser_fail(parser, "expected a step before what is said of its reply");
	rr_array_grow(&race->sayings, race->n_sayings, sizeof(*race->sayings));
	saying = &race->sayings[race->n_sayings++];
	*saying = (struct rr_saying){ .claim = line->words[0], .line = line->number, .step = -1 };
	if (line->reply) {
		saying->step = last;
		saying->says = line->reply;
		return true;
	}
	saying->says = line->rest + strlen("says");
	saying->says += strspn(saying->says, " ");
	return check_finding(parser, &saying->says);
}

static bool parse_verdict(struct parser *parser)
{
	struct rr_race *race = parser->race;
	const char *rest = parser->line.rest;
	char *findings;

	if (parser->line.n_words < 2)
		return parser_fail(parser, "expected what was found, or 'nothing broken'");
	findings = rr_race_keep(race, rest, strlen(rest));
	for (const char *one = strtok(findings, ","); one; one = strtok(NULL, ",")) {
		if (race->n_verdicts == RR_FINDINGS_NAMED_MAX)
			return parser_fail(parser, "expected at most %d findings",
					   RR_FINDINGS_NAMED_MAX);
		one += strspn(one, " ");
		if (!check_finding(parser, &one))
			return false;
		race->verdicts[race->n_verdicts++] = one;
	}
	race->verdict_line = parser->line.number;
	return true;
}

/* ---- Lines --------------------------------------------------------------- */

static const struct {
	const char *word;
	bool (*parse)(struct parser *parser);
} no_steps[] = {
	{ "verdict", parse_verdict },
	{ "repeat", parse_repeat },
	{ "end", parse_end },
	{ "else", parse_else },
};

/* Any line that is no heading. */
static bool take_other(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const char *word = line->words[0];
	const size_t length = strlen(word);
	int client = is_doing(parser) ? find_client(parser->race, word, length) : -1;

	if (client >= 0)
		return take_doing(parser, client);
	for (size_t i = 0; i < sizeof(no_steps) / sizeof(no_steps[0]); i++) {
		if (same(word, no_steps[i].word))
			return no_steps[i].parse(parser);
	}
	for (int kind = RR_STEP_NOTE; kind <= RR_STEP_CLOCK; kind++) {
		if (same(word, rr_step_word((enum rr_step_kind)kind)))
			return take_step(parser, -1, (enum rr_step_kind)kind, &forms[kind]);
	}
	if (line->n_words > 1 && same(line->words[1], "says"))
		return parse_saying(parser);
	if (word[length - 1] == '>')
		return take_step(parser, -1, RR_STEP_RUN, &forms[RR_STEP_RUN]);
	for (int fault = 0; fault < RR_FAULT_KINDS; fault++) {
		if (same(word, rr_fault_name((enum rr_fault)fault)))
			return take_step(parser, -1, RR_STEP_FAULT,
					 fault == RR_FAULT_SLOW_DISK ? &slow_disk :
					 fault == RR_FAULT_TEAR      ? &tear :
								       &forms[RR_STEP_FAULT]);
	}
	client = find_client(parser->race, word, length);
	if (client >= 0)
		return take_doing(parser, client);
	return parser_fail(
		parser,
		"expected a heading, a client, a fault, tick, clock, repeat or verdict, found '%.60s'",
		word);
}

/* A byte 0 may stand in commands and in bytes alone, which take it away. */
static bool take_line(struct parser *parser)
{
	const struct parser_line *line = &parser->line;
	const struct heading *heading = headings;
	struct rr_race *race = parser->race;
	bool good = true;

	if (line->n_words == 0 || !line->words[0][0])
		return true;
	while (heading < headings + N_HEADINGS && !same(line->words[0], heading->word))
		heading++;
	if (heading < headings + N_HEADINGS && !is_doing(parser)) {
		if (race->n_steps > 0)
			return parser_fail(parser, "expected '%s' before the first step",
					   heading->word);
		if (line->n_words < heading->least_words || !(heading->parse || line->rest))
			return parser_fail(parser, "expected %s", heading->expected);
		if (heading->parse)
			good = heading->parse(parser);
		else
			*(const char **)((char *)race + heading->at) = line->rest;
	} else {
		/* A server and a client that need not be named. */
		good = race->n_servers > 0 || add_server(parser, "redis");
		if (good && race->n_clients == 0)
			good = parser_fail(parser,
					   "expected 'clients NAME...' before the first step");
		good = good && take_other(parser);
	}
	return good && (!line->has_zero ||
			parser_fail(parser, "expected a byte 0 nowhere but in a command"));
}

/* ---- The whole ---------------------------------------------------------- */

/* What all ticks come to is a time that a clock can show. */
static bool ends_in_time(struct parser *parser)
{
	int64_t left_ns = LONGEST_NS;

	for (size_t i = 0; i < parser->race->n_steps; i++) {
		const struct rr_step *step = &parser->race->steps[i];

		if (step->kind != RR_STEP_TICK)
			continue;
		if (step->amount > left_ns) {
			parser->line.number = step->line;
			return parser_fail(parser, "expected ticks of %d s together, found more",
					   LONGEST_S);
		}
		left_ns -= step->amount;
	}
	return true;
}

static bool parse_all(struct parser *parser, const char *text, size_t length)
{
	const char *end = text + length;

	if (length == 0)
		return parser_fail(parser, "empty: expected a title, steps and a verdict");
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const size_t n = (size_t)((newline ? newline : end) - text);

		if (!cut_line(parser, text, n) || !take_line(parser))
			return false;
		text += n + 1;
	}
	if (parser->repeat)
		return parser_fail(parser, "expected 'end' of the repeat in line %d",
				   parser->repeat_line);
	if (parser->race->n_steps == 0)
		return parser_fail(parser, "expected at least one step");
	if (!parser->race->title)
		return parser_fail(parser, "expected a 'title' somewhere above");
	if (!parser->race->n_verdicts)
		return parser_fail(parser, "expected a 'verdict' at the end");
	return ends_in_time(parser) && parser_allows_bytes(parser) &&
	       parser_allows_reserved(parser);
}

struct rr_race *rr_race_parse(const char *path, const char *text, size_t length,
			      struct rr_error *error)
{
	struct rr_race *race = rr_calloc(1, sizeof(*race));
	struct parser parser = { .race = race, .error = error };

	race->path = rr_race_keep(race, path, strlen(path));
	race->claims = "";
	if (parse_all(&parser, text, length))
		return race;
	rr_race_free(race);
	return NULL;
}
