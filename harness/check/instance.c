/* SPDX-License-Identifier: MIT */
#include "instance.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>

#include "process.h"

/* A request that was not answered yet, or whose answer has to wait for others. */
struct request {
	uint32_t command;
	uint32_t answer; /* RR_NO_ID = when it is fed */
	bool is_inside;
	bool is_ours;    /* RESET, for a connection that was closed */
	bool is_quit;    /* the connection is closed behind its answer */
};

struct lane {
	int connection; /* -1 = closed */
	bool is_used;
	bool is_dirty;  /* it may carry something */
	size_t first, n;
	struct request requests[RR_RUN_SENT];
};

struct rr_instance {
	const struct rr_instance_config *config;
	struct rr_process_plan plan;
	struct rr_process *process;
	size_t client;
	struct lane lanes[RR_RUN_ORDINALS];
	struct rr_renaming inward, outward; /* its texts to ours, and back */
	bool is_inside, has_entered, has_read;
	struct rr_error *error; /* while it runs */
};

static struct rr_terms *terms_of_instance(const struct rr_instance *instance)
{
	return instance->config->program->terms;
}

/* ---- Requests that are no steps -------------------------------------------- */

static bool word_equals(const struct rl_word *word, const char *text)
{
	return word->length == strlen(text) &&
	       strncasecmp(word->text, text, word->length) == 0;
}

static bool is_one_of(const struct rl_command *command,
		      const char *const *names)
{
	while (*names && !word_equals(&command->words[0], *names))
		names++;
	return *names != NULL;
}

/* Has it this second word? */
static bool is_subcommand(const struct rl_command *command, const char *name,
			  const char *const *seconds)
{
	if (command->n_words < 2 || !word_equals(&command->words[0], name))
		return false;
	while (*seconds && !word_equals(&command->words[1], *seconds))
		seconds++;
	return *seconds != NULL;
}

/* What a real server is asked once. */
static bool is_asked_once(const struct rl_command *command)
{
	static const char *const names[] = { "HELLO", "COMMAND", "INFO", "PING",
					     NULL };
	static const char *const load[] = { "LOAD", NULL };

	return is_one_of(command, names) ||
	       is_subcommand(command, "SCRIPT", load);
}

/* What is accepted, whatever it says, for it is about this connection alone. */
static bool is_accepted(const struct rl_command *command)
{
	static const char *const names[] = { "AUTH", "QUIT", "READONLY", NULL };
	static const char *const ofs[] = { "SETNAME", "SETINFO", "NO-EVICT",
					   "NO-TOUCH", NULL };

	return is_one_of(command, names) ||
	       is_subcommand(command, "CLIENT", ofs);
}

/* What may stay on a connection when it is closed. */
static bool makes_dirty(const struct rl_command *command)
{
	static const char *const names[] = { "MULTI", "WATCH", "SELECT",
					     "SUBSCRIBE", "PSUBSCRIBE",
					     "SSUBSCRIBE", "MONITOR", "CLIENT",
					     NULL };

	return is_one_of(command, names);
}

/* What cannot be judged: it is answered by more than replies, or it is about more than
 * the data and the connection. */
static bool is_refused_request(const struct rl_command *command)
{
	static const char *const names[] = {
		"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR", "SYNC",
		"PSYNC",     "REPLICAOF",  "SLAVEOF",	 "FAILOVER", "SHUTDOWN",
		"DEBUG",     "SPOP",       NULL
	};
	static const char *const changes[] = { "SET", "REWRITE", "RESETSTAT",
					       NULL };

	return is_one_of(command, names) ||
	       is_subcommand(command, "CONFIG", changes) ||
	       (word_equals(&command->words[0], "CLIENT") &&
		!is_accepted(command));
}

static bool wants_resp3(const struct rl_command *command)
{
	return word_equals(&command->words[0], "HELLO") &&
	       command->n_words > 1 && !word_equals(&command->words[1], "2");
}

/* The marks of a critical section: ECHO redrace:enter, ECHO redrace:leave. */
static bool take_mark(struct rr_instance *instance,
		      const struct rl_command *command)
{
	bool enters;

	if (command->n_words != 2 || !word_equals(&command->words[0], "ECHO"))
		return false;
	enters = word_equals(&command->words[1], "redrace:enter");
	if (!enters && !word_equals(&command->words[1], "redrace:leave"))
		return false;
	instance->is_inside = enters;
	instance->has_entered |= enters;
	return true;
}

static uint32_t text_reply(const struct rr_instance *instance,
			   enum rl_reply_type type, const char *text,
			   size_t length)
{
	const struct rl_reply reply = { .type = type,
					.text = text,
					.length = length };

	return rr_terms_reply(terms_of_instance(instance), &reply);
}

/* The number of the reply to what is no step; RR_NO_ID = it is one. */
static uint32_t answer_at_once(struct rr_instance *instance,
			       const struct rl_command *command)
{
	static const char no_resp3[] = "NOPROTO unsupported protocol version";
	const struct rr_program *program = instance->config->program;

	if (wants_resp3(command))
		return text_reply(instance, RL_REPLY_FAILED, no_resp3,
				  strlen(no_resp3));
	if (is_asked_once(command))
		return program->ask(program->ask_context, 0, command);
	if (is_accepted(command))
		return text_reply(instance, RL_REPLY_STATUS, "OK", 2);
	if (take_mark(instance, command))
		return text_reply(instance, RL_REPLY_STRING,
				  command->words[1].text,
				  command->words[1].length);
	return RR_NO_ID;
}

/* ---- Lanes ------------------------------------------------------------------ */

static struct lane *lane_for(struct rr_instance *instance, int connection)
{
	struct lane *unused = NULL;

	for (int i = RR_RUN_ORDINALS - 1; i >= 0; i--) {
		struct lane *lane = &instance->lanes[i];

		if (lane->is_used && lane->connection == connection)
			return lane;
		if (!lane->is_used)
			unused = lane;
	}
	if (unused)
		*unused = (struct lane){ .connection = connection,
					 .is_used = true };
	return unused;
}

static void on_instance_close(void *context, struct rr_process *process,
			      int connection);

/* Sends the answers that wait for nothing any more. A lane that was closed and has
 * nothing left to be done may be used again. */
static void flush_lane(struct rr_instance *instance, struct lane *lane)
{
	struct rr_terms *terms = terms_of_instance(instance);
	bool quits = false;

	while (lane->n > 0 && lane->requests[lane->first].answer != RR_NO_ID) {
		const uint32_t answer =
			rr_rename_reply(&instance->outward, terms,
					lane->requests[lane->first].answer);

		if (lane->connection >= 0 && answer != RR_NO_ID)
			rr_process_reply(instance->process, lane->connection,
					 &terms->reply[answer].reply);
		quits |= lane->requests[lane->first].is_quit;
		lane->first = (lane->first + 1) % RR_RUN_SENT;
		lane->n--;
	}
	if (quits && lane->connection >= 0) {
		rr_process_cut(instance->process, lane->connection);
		on_instance_close(instance, instance->process,
				  lane->connection);
	}
	if (lane->n == 0 && lane->connection < 0)
		lane->is_used = false;
}

static bool add_request(struct rr_instance *instance, struct lane *lane,
			struct request request)
{
	if (request.command == RR_NO_ID || lane->n == RR_RUN_SENT)
		return rr_error_set(instance->error, RR_ERROR_DATA,
				    "client %s sent more than %d commands without waiting for a reply",
				    instance->plan.name, RR_RUN_SENT);
	lane->requests[(lane->first + lane->n++) % RR_RUN_SENT] = request;
	flush_lane(instance, lane);
	return true;
}

static bool fail_refused(const struct rr_instance *instance,
			 const struct rl_command *command)
{
	const struct rl_word *words = command->words;
	const bool is_two = command->n_words > 1;

	return rr_error_set(
		instance->error, RR_ERROR_DATA,
		"client %s sent %.*s%s%.*s, which redrace check cannot judge",
		instance->plan.name, (int)words[0].length, words[0].text,
		is_two ? " " : "", is_two ? (int)words[1].length : 0,
		is_two ? words[1].text : "");
}

static bool on_instance_request(void *context, struct rr_process *process,
				int connection,
				const struct rl_command *command)
{
	struct rr_instance *instance = context;
	struct lane *lane = lane_for(instance, connection);
	struct rr_terms *terms = terms_of_instance(instance);
	struct request request = { .is_inside = instance->is_inside };

	(void)process;
	if (!lane)
		return rr_error_set(
			instance->error, RR_ERROR_DATA,
			"client %s uses more than %d connections at once",
			instance->plan.name, RR_RUN_ORDINALS);
	if (is_refused_request(command))
		return fail_refused(instance, command);
	lane->is_dirty |= makes_dirty(command);
	request.is_quit = word_equals(&command->words[0], "QUIT");
	request.command = rr_rename_command(&instance->inward, terms,
					    rr_terms_command(terms, command));
	request.answer = answer_at_once(instance, command);
	return add_request(instance, lane, request);
}

/* What was sent is executed all the same; what the connection carried goes. */
static void on_instance_close(void *context, struct rr_process *process,
			      int connection)
{
	static const char *const reset[] = { "RESET", NULL };
	struct rr_instance *instance = context;
	struct lane *lane = lane_for(instance, connection);

	(void)process;
	if (!lane)
		return;
	lane->connection = -1;
	if (lane->is_dirty)
		add_request(instance, lane,
			    (struct request){
				    .command = rr_terms_words(
					    terms_of_instance(instance), reset),
				    .answer = RR_NO_ID,
				    .is_ours = true });
	flush_lane(instance, lane);
}

static bool instance_is_owed(void *context)
{
	const struct rr_instance *instance = context;

	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		if (instance->lanes[i].is_used && instance->lanes[i].n > 0)
			return true;
	}
	return false;
}

/* ---- Running ------------------------------------------------------------------ */

/* The launcher says so, see rr_launcher_run(). */
static bool could_not_run(const struct rr_instance *instance)
{
	const int status = rr_process_status(instance->process);

	return WIFEXITED(status) && WEXITSTATUS(status) == 127 &&
	       strncmp(rr_process_output(instance->process), "cannot run '",
		       strlen("cannot run '")) == 0;
}

/* Lets it run until it waits for us or has ended. */
static bool run_instance(struct rr_instance *instance, struct rr_error *error)
{
	const struct rr_program_clock *clock =
		rr_process_clock(instance->process);
	const uint64_t n_reads = rr_program_clock_reads(clock);
	const char *output = rr_process_output(instance->process);
	enum rr_process_end end;
	int length;

	instance->error = error;
	end = rr_process_wait(instance->process, error);
	length = (int)strcspn(output, "\n");
	instance->error = NULL;
	instance->has_read = rr_program_clock_reads(clock) != n_reads;
	if (end == RR_PROCESS_ENDED && could_not_run(instance))
		return rr_error_set(error, RR_ERROR_USAGE, "%.*s",
				    length, output);
	if (end != RR_PROCESS_HANGS)
		return end != RR_PROCESS_FAILED;
	return rr_error_set(
		error, RR_ERROR_DATA,
		"client %s neither sends a command nor ends: waited %ld s; it printed '%.*s'",
		instance->plan.name, instance->config->patience_ms / 1000,
		length < 200 ? length : 200, output);
}

struct rr_instance *rr_instance_start(const struct rr_instance_config *config,
				      const char *const *argv, size_t client,
				      const char *name, struct rr_error *error)
{
	struct rr_instance *instance = calloc(1, sizeof(*instance));

	if (!instance) {
		rr_error_no_memory(error);
		return NULL;
	}
	instance->config = config;
	instance->client = client;
	instance->plan = (struct rr_process_plan){
		.launcher = config->launcher,
		.directory = config->directory,
		.argv = argv,
		.name = name,
		.signals = config->signals,
		.preload = config->preload,
		.start_ns = config->start_ns,
		.patience_ms = config->patience_ms,
		.on_request = on_instance_request,
		.on_close = on_instance_close,
		.owes = instance_is_owed,
		.context = instance,
	};
	instance->process = rr_process_start(&instance->plan, error);
	if (instance->process && run_instance(instance, error))
		return instance;
	rr_instance_free(instance);
	return NULL;
}

void rr_instance_free(struct rr_instance *instance)
{
	if (!instance)
		return;
	rr_process_free(instance->process);
	rr_renaming_release(&instance->inward);
	rr_renaming_release(&instance->outward);
	free(instance);
}

size_t rr_instance_client(const struct rr_instance *instance)
{
	return instance->client;
}

bool rr_instance_has_shim(const struct rr_instance *instance)
{
	return rr_program_clock_is_used(rr_process_clock(instance->process));
}

/* No reply will come: the connection is closed. */
static void cut_lane(struct rr_instance *instance, struct lane *lane)
{
	if (lane->connection >= 0)
		rr_process_cut(instance->process, lane->connection);
	*lane = (struct lane){ .connection = -1 };
}

bool rr_instance_feed(struct rr_instance *instance,
		      const struct rr_input *input, uint8_t number,
		      int64_t passed_ns, struct rr_error *error)
{
	struct lane *lane = &instance->lanes[number];

	if (!lane->is_used || lane->n == 0)
		return rr_error_set(error, RR_ERROR_INTERNAL,
				    "client %s is not owed a reply",
				    instance->plan.name);
	rr_program_clock_pass(rr_process_clock(instance->process), passed_ns);
	if (input->kind == RR_INPUT_REPLY) {
		lane->requests[lane->first].answer = (uint32_t)input->value;
		flush_lane(instance, lane);
	} else {
		cut_lane(instance, lane);
	}
	return run_instance(instance, error);
}

/* ---- What it waits for ----------------------------------------------------------- */

static void view_lane(struct rr_run_view *view, const struct lane *lane,
		      uint8_t number)
{
	if (!lane->is_used || lane->n == 0)
		return;
	view->stops[view->n_threads++] = (struct rr_stop){
		.kind = RR_STOP_RECEIVE, .lane = number
	};
	for (size_t i = 0; i < lane->n; i++) {
		const struct request *request =
			&lane->requests[(lane->first + i) % RR_RUN_SENT];

		if (request->answer == RR_NO_ID)
			view->sent[view->n_sent++] = (struct rr_sent){
				.lane = number,
				.is_inside = request->is_inside,
				.command = request->command
			};
	}
}

static bool has_succeeded(const struct rr_instance *instance)
{
	const char *refused = instance->config->refused;
	regex_t pattern;
	bool matches;

	if (!refused || regcomp(&pattern, refused, REG_EXTENDED | REG_NOSUB))
		return rr_process_status(instance->process) == 0;
	matches = regexec(&pattern, rr_process_output(instance->process), 0,
			  NULL, 0) == 0;
	regfree(&pattern);
	return !matches && rr_process_status(instance->process) == 0;
}

/* How it ended, as a number. */
static uint32_t keep_ending(const struct rr_instance *instance)
{
	const int status = rr_process_status(instance->process);
	const char *output = rr_process_output(instance->process);
	const size_t size = sizeof(status) + strlen(output) + 1;
	char *bytes = malloc(size);
	uint32_t number;

	if (!bytes)
		return RR_NO_ID;
	memcpy(bytes, &status, sizeof(status));
	memcpy(bytes + sizeof(status), output, strlen(output) + 1);
	number = rr_intern_put(instance->config->endings, bytes, size, NULL);
	free(bytes);
	return number;
}

struct rr_ending rr_ending_of(const struct rr_intern *endings, uint32_t number)
{
	struct rr_ending ending = { .status = 0, .output = "" };
	const char *bytes;

	if (number >= endings->n)
		return ending;
	bytes = rr_intern_get(endings, number);
	memcpy(&ending.status, bytes, sizeof(ending.status));
	ending.output = bytes + sizeof(ending.status);
	return ending;
}

struct rr_run_view rr_instance_view(struct rr_instance *instance)
{
	struct rr_run_view view = { .is_inside = instance->is_inside,
				    .is_holding = instance->is_inside,
				    .has_entered = instance->has_entered,
				    .has_read = instance->has_read };

	for (uint8_t i = 0; i < RR_RUN_ORDINALS; i++)
		view_lane(&view, &instance->lanes[i], i);
	instance->has_entered = false;
	if (view.n_threads > 0)
		return view;
	view.n_threads = 1;
	view.stops[0].kind = RR_STOP_ENDED;
	view.is_inside = view.is_holding = false;
	view.tally.ok = has_succeeded(instance);
	view.tally.failed = !view.tally.ok;
	view.tally.ending = keep_ending(instance);
	return view;
}

bool rr_instance_rename(struct rr_instance *instance, const char *canonical,
			const char *actual)
{
	if (rr_renaming_of(&instance->inward, actual) ||
	    rr_renaming_of(&instance->outward, canonical) ||
	    !rr_renaming_add(&instance->inward, actual, canonical) ||
	    !rr_renaming_add(&instance->outward, canonical, actual))
		return false;
	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		struct lane *lane = &instance->lanes[i];

		for (size_t j = 0; j < lane->n; j++) {
			struct request *request =
				&lane->requests[(lane->first + j) % RR_RUN_SENT];

			request->command = rr_rename_command(
				&instance->inward, terms_of_instance(instance),
				request->command);
		}
	}
	return true;
}
