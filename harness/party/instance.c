/* SPDX-License-Identifier: MIT */
#include "instance.h"

#include <ctype.h>
#include <limits.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/array.h"
#include "base/marks.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/reply.h"
#include "base/text.h"
#include "requests.h"

/* So long it is waited in vain for a message until something comes of it. */
#define VAIN_NS INT64_C(60000000000)

/* By an app's clock: how long it may sleep before a request's first command, a request may wait
 * for nothing but time, and the app works by itself when all are answered. */
#define FIRST_NS (1 * INT64_C(1000000000))
#define ANSWER_NS (60 * INT64_C(1000000000))
#define LINGER_NS (1 * INT64_C(1000000000))

#define MS_NS INT64_C(1000000)

/* Values that have given their names to others are called as those of no client. */
enum { FORGOTTEN = 9 };

static struct rr_terms *terms_of(const struct rr_instance *instance)
{
	return instance->config->program->terms;
}

/* ---- Its connections ------------------------------------------------------------------ */

/* Is a lane kept for marks of an app? */
static bool keeps_lane(const struct rr_instance *instance, size_t lane)
{
	return instance->app && (lane < instance->app->n_requests || lane == RR_RUN_ORDINALS - 1);
}

/* NULL = all lanes are in use. */
static struct rr_lane *lane_for(struct rr_instance *instance, int connection)
{
	struct rr_lane *unused = NULL;

	for (size_t i = RR_RUN_ORDINALS; i-- > 0;) {
		struct rr_lane *lane = &instance->lanes[i];

		if (lane->is_used && lane->connection == connection)
			return lane;
		if (!lane->is_used && !keeps_lane(instance, i))
			unused = lane;
	}
	if (!unused)
		return NULL;
	rr_lane_clear(unused);
	unused->connection = connection;
	unused->place = instance->process->places[connection];
	unused->is_used = unused->is_new = true;
	unused->id = ++instance->last_id;
	instance->n_connections++;
	return unused;
}

/* The program gets it, if it still listens to it. `request`: NULL = it is a message. */
static void send_reply(struct rr_instance *instance, struct rr_lane *lane,
		       const struct rr_request *request, uint32_t number)
{
	const uint32_t renamed = rr_rename_reply(&instance->outward, terms_of(instance), number);
	const struct rdl_reply *reply;
	size_t length;
	char *text;

	if (renamed == RR_NO_ID || lane->connection < 0)
		return;
	reply = &terms_of(instance)->reply[renamed].reply;
	rr_lane_note_reply(lane, terms_of(instance), request, reply);
	text = rr_lane_reply_text(lane, terms_of(instance), request, reply, &length);
	rr_process_write(instance->process, lane->connection, text, length);
	free(text);
}

static void on_close(void *context, int connection);

/* Sends the answers that wait for nothing any more. A lane that was closed and has
 * nothing left to be done may be used again. */
static void flush_lane(struct rr_instance *instance, struct rr_lane *lane)
{
	bool quits = false;

	while (lane->n > 0 && rr_lane_request(lane, 0)->answer != RR_NO_ID) {
		const struct rr_request answered = rr_lane_pop(lane);

		if (!answered.is_hidden)
			send_reply(instance, lane, &answered, answered.answer);
		quits |= answered.is_quit;
	}
	if (quits && lane->connection >= 0) {
		rr_process_cut(instance->process, lane->connection);
		on_close(instance, lane->connection);
	}
	if (lane->connection < 0 && (lane->n == 0 || instance->is_over))
		lane->is_used = false;
}

static bool add_request(struct rr_instance *instance, struct rr_lane *lane,
			struct rr_request request)
{
	if (!rr_lane_push(lane, request))
		return rr_error_set(
			instance->error, RR_ERROR_DATA,
			"client %s sent more than %d commands without waiting for a reply: send them in parts",
			instance->plan.name, RR_LANE_REQUESTS);
	flush_lane(instance, lane);
	return true;
}

static bool fail_refused(const struct rr_instance *instance, const struct rdl_command *command)
{
	const struct rdl_word *words = command->words;
	const bool is_two = command->n_words > 1;

	return rr_error_set(
		instance->error, RR_ERROR_DATA,
		"client %s sent %.*s%s%.*s, which redrace check cannot judge: leave it out of what is checked",
		instance->plan.name, (int)words[0].length, words[0].text, is_two ? " " : "",
		is_two ? (int)words[1].length : 0, is_two ? words[1].text : "");
}

/* SELECT of a database, whose digits are kept in `number`. */
static struct rdl_command select_of(long long database, char number[24])
{
	struct rdl_command command = { .n_words = 2, .words = { { "SELECT", 6 } } };

	command.words[1].text = number;
	command.words[1].length = (size_t)snprintf(number, 24, "%lld", database);
	return command;
}

/* Where one server stands for several Redis, the databases of each follow those of the one before. False:
 * the error. */
static bool keep_apart(struct rr_instance *instance, struct rr_lane *lane, bool is_first,
		       const struct rdl_command **command, struct rdl_command *moved,
		       char number[24])
{
	const long long first = (long long)RR_PLACE_DATABASES * lane->place;
	const struct rdl_word *words = (*command)->words;
	long long database = 0;

	if (rr_request_spans(*command))
		return rr_error_set(
			instance->error, RR_ERROR_DATA,
			"client %s sent %.*s, which redrace check cannot keep to one of the Redis of --redis-at: leave it out, or check with one Redis",
			instance->plan.name, (int)words[0].length, words[0].text);
	if (is_first && lane->place > 0) {
		*moved = select_of(first, number);
		lane->is_dirty = true;
		if (!add_request(instance, lane,
				 (struct rr_request){
					 .command = rr_terms_command(terms_of(instance), moved),
					 .answer = RR_NO_ID,
					 .is_hidden = true }))
			return false;
	}
	if (!rr_word_is(&words[0], "SELECT") || (*command)->n_words != 2)
		return true;
	/* A number that a Redis does not have is one that the server does not have. */
	for (size_t i = 0; i < words[1].length && database < RR_PLACE_DATABASES; i++)
		database = isdigit((unsigned char)words[1].text[i]) ?
				   10 * database + words[1].text[i] - '0' :
				   RR_PLACE_DATABASES;
	*moved = select_of(database < RR_PLACE_DATABASES ? first + database : INT_MAX, number);
	*command = moved;
	return true;
}

/* Scripts that a client loads are there before it calls them by their hashes. One that it has not
 * loaded itself may be there or not. */
static void note_scripts(struct rr_instance *instance, const struct rdl_command *command,
			 unsigned traits, uint32_t answer)
{
	const struct rr_terms *terms = terms_of(instance);
	size_t i = 0;

	if (traits & RR_REQUEST_LOADS_SCRIPT && answer != RR_NO_ID) {
		rr_array_grow(&instance->loaded, instance->n_loaded, sizeof(*instance->loaded));
		instance->loaded[instance->n_loaded++] = answer;
	}
	if (!(traits & RR_REQUEST_CALLS_SCRIPT) || command->n_words < 2 ||
	    instance->config->program->loads_scripts)
		return;
	while (i < instance->n_loaded &&
	       !(terms->reply[instance->loaded[i]].reply.text &&
		 rr_word_is(&command->words[1], terms->reply[instance->loaded[i]].reply.text)))
		i++;
	if (i == instance->n_loaded) {
		const struct rdl_command exists = {
			.n_words = 3,
			.words = { { "SCRIPT", 6 }, { "EXISTS", 6 }, command->words[1] }
		};
		const struct rr_program *program = instance->config->program;

		/* The search begins again, and which scripts a server knows is a part of its state. */
		program->ask(program->ask_context, 0, &exists);
	}
}

/* A lane on which a request begins, by its mark, becomes that of the request's number: the first
 * lanes are those of requests. That on which it waits for its end becomes the last one. Where it is
 * then. */
static struct rr_lane *move_lane(struct rr_instance *instance, struct rr_lane *lane,
				 const struct rdl_command *mark)
{
	/* The last lane is that of the end. */
	const char *text = mark->words[1].text;

	const size_t number = strncmp(text, RR_MARK_REQUEST, strlen(RR_MARK_REQUEST)) == 0 ?
				      strtoul(text + strlen(RR_MARK_REQUEST), NULL, 10) - 1 :
				      RR_RUN_ORDINALS - 1;
	struct rr_lane *place = &instance->lanes[number];

	/* A worker that is up, and gets no requests: nobody will talk to its port. */
	if (!instance->app->n_requests)
		instance->process->app_port = 0;
	if (!keeps_lane(instance, number) || place->is_used)
		return lane;
	rr_lane_release(place);
	*place = *lane;
	place->is_new = false;
	*lane = (struct rr_lane){ .connection = -1 };
	return place;
}

/* See struct rr_process_plan. */
static bool on_request(void *context, int connection, const struct rdl_command *command)
{
	struct rr_instance *instance = context;
	const size_t n_before = instance->n_connections;
	struct rr_lane *lane = lane_for(instance, connection);
	struct rr_terms *terms = terms_of(instance);
	const unsigned traits = rr_request_traits(command);
	struct rdl_command moved;
	char number[24];
	struct rr_request request = {
		.is_inside = instance->is_inside,
		.is_quit = traits & RR_REQUEST_QUITS,
		.subscribes = traits & RR_REQUEST_SUBSCRIBES,
		.ends_queue = traits & RR_REQUEST_ENDS_QUEUE,
		.may_block = traits & RR_REQUEST_BLOCKS,
	};

	if (!lane)
		return rr_error_set(
			instance->error, RR_ERROR_DATA,
			"client %s uses more than %d connections at a time: make its pool smaller",
			instance->plan.name, RR_RUN_ORDINALS);
	if (traits & RR_REQUEST_REFUSED || (traits & RR_REQUEST_NAMES && lane->is_queueing) ||
	    (traits & RR_REQUEST_RESETS && rr_lane_will_be_subscribed(lane)) ||
	    !rr_request_is_known(command, lane))
		return fail_refused(instance, command);
	if (instance->config->process.places->named.n_places > 1 &&
	    !keep_apart(instance, lane, instance->n_connections != n_before, &command, &moved,
			number))
		return false;
	lane->is_dirty |= (traits & RR_REQUEST_MAKES_DIRTY) != 0;
	if (instance->app) {
		request.kind = traits & RR_REQUEST_BEGINS  ? RR_SENT_REQUEST :
			       traits & RR_REQUEST_ANSWERS ? RR_SENT_ANSWER :
			       traits & RR_REQUEST_ENDS    ? RR_SENT_END :
							     RR_SENT_COMMAND;
		request.is_waiting = request.kind == RR_SENT_ANSWER;
		instance->n_under_way -= request.kind == RR_SENT_ANSWER &&
					 !(instance->app->unanswered >> (lane - instance->lanes) &
					   1);
		if (request.kind == RR_SENT_REQUEST || request.kind == RR_SENT_END)
			lane = move_lane(instance, lane, command);
	}
	request.command = rr_rename_command(&instance->inward, terms,
					    rr_terms_command(terms, command));
	request.answer = rr_request_answer(command, lane, instance->config->program);
	note_scripts(instance, command, traits, request.answer);
	request.protocol = lane->asked_protocol;
	if (traits & RR_REQUEST_MUST_FAIL && request.answer != RR_NO_ID &&
	    terms->reply[request.answer].reply.type != RDL_REPLY_FAILED)
		return fail_refused(instance, command);
	if (traits & (RR_REQUEST_QUEUES | RR_REQUEST_ENDS_QUEUE))
		lane->is_queueing = traits & RR_REQUEST_QUEUES;
	if (traits & (RR_REQUEST_ENTERS | RR_REQUEST_LEAVES)) {
		instance->is_inside = traits & RR_REQUEST_ENTERS;
		instance->has_entered |= instance->is_inside;
		instance->was_inside |= instance->is_inside;
	}
	return add_request(instance, lane, request);
}

/* What was sent is executed all the same; what the connection carried goes. */
static void on_close(void *context, int connection)
{
	static const char *const reset[] = { RR_MARK_CLOSED, NULL };
	struct rr_instance *instance = context;
	struct rr_lane *lane = lane_for(instance, connection);

	if (!lane)
		return;
	lane->connection = -1;
	for (size_t i = 0; i < lane->n; i++)
		lane->is_dirty |= rr_lane_request(lane, i)->may_block;
	if (lane->is_dirty && !instance->is_over)
		add_request(
			instance, lane,
			(struct rr_request){ .command = rr_terms_words(terms_of(instance), reset),
					     .answer = RR_NO_ID });
	flush_lane(instance, lane);
}

/* ---- What it is owed ------------------------------------------------------------------ */

/* Commands that have no reply yet. */
static size_t count_owed(const struct rr_instance *instance)
{
	size_t n = 0;

	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct rr_lane *lane = &instance->lanes[i];

		if (lane->is_used && lane->connection >= 0 && lane->n > 0 &&
		    rr_lane_request(lane, 0)->kind == RR_SENT_COMMAND)
			n += lane->n;
	}
	return n;
}

/* See rr_process_plan; of any instance. It is owed a reply or, where it is subscribed, a message
 * may come. */
static bool is_owed(void *context, int64_t left_ns)
{
	const struct rr_instance *instance = context;
	enum rr_sent_kind owed = RR_SENT_ANSWER; /* nothing */

	/* Commands first. Nobody waits for what is still to be done on a connection that is closed. */
	for (int i = 0; i < RR_RUN_ORDINALS && owed != RR_SENT_COMMAND; i++) {
		const struct rr_lane *lane = &instance->lanes[i];

		if (!lane->is_used || lane->connection < 0 ||
		    (lane->n == 0 && !rr_lane_is_subscribed(lane)))
			continue;
		owed = lane->n > 0 ? rr_lane_request(lane, 0)->kind : RR_SENT_COMMAND;
		if (owed == RR_SENT_ANSWER)
			owed = RR_SENT_COMMAND;
	}
	if (owed == RR_SENT_ANSWER)
		return false;
	/*
	 * Does time go on to whatever the app waits for next? While a request is under way and nobody
	 * can be told anything, and when all have been answered, it does, but not for ever. For who is
	 * owed a reply it stands still, so that no time-out is over; but who sleeps before the first
	 * command of a request is woken, or others would be through before it.
	 */
	const int64_t passed_ns = atomic_load(&instance->process->clock.page->passed_ns);
	const bool is_before_first = instance->has_begun &&
				     count_owed(instance) <= instance->n_owed;
	const int64_t most_ns = owed == RR_SENT_COMMAND ? (is_before_first ? FIRST_NS : 0) :
				instance->n_under_way   ? ANSWER_NS :
				owed == RR_SENT_END     ? LINGER_NS :
							  0;

	return left_ns >= most_ns - (passed_ns - instance->heard_ns);
}

/* ---- Do threads let each other go on? -------------------------------------------------- */

static size_t find_thread(const struct rr_threads *threads, int id)
{
	size_t i = 0;

	while (i < threads->n && threads->of[i].id != id)
		i++;
	return i;
}

/* It is at rest, that is all threads sleep; `is_reply`: after the reply to a command. */
static void note_rest(struct rr_instance *instance, bool is_reply)
{
	struct rr_handover *handover = &instance->handover;
	const struct rr_threads *threads = &instance->process->threads;
	const bool has_waited = handover->waits;
	size_t n_asking = 0;

	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct rr_lane *lane = &instance->lanes[i];

		n_asking += lane->is_used && lane->connection >= 0 && lane->n > 0 &&
			    rr_lane_request(lane, 0)->kind == RR_SENT_COMMAND;
	}
	for (size_t i = 0; is_reply && instance->n_under_way > 1 && i < threads->n; i++) {
		const struct rr_thread *thread = &threads->of[i];
		const size_t before = find_thread(&handover->threads, thread->id);
		const size_t ran = find_thread(&handover->ran, thread->id);

		if (ran == RR_THREADS_MAX || (before < handover->threads.n &&
					      handover->threads.of[before].stamp == thread->stamp))
			continue;
		if (ran == handover->ran.n) {
			handover->ran.of[handover->ran.n++] = *thread;
			handover->times[ran] = 0;
		}
		handover->times[ran] |= UINT64_C(1) << handover->n_times % 64;
	}
	handover->n_times += is_reply;
	handover->waits = instance->n_under_way > n_asking;
	handover->has_waited |= is_reply && has_waited && handover->waits;
	handover->threads = *threads;
}

static bool talks(const struct rr_program_page *page, int thread)
{
	const unsigned n = atomic_load(&page->n_talkers);

	for (unsigned i = 0; i < n && i < RR_TALKERS_MAX; i++) {
		if (atomic_load(&page->talkers[i]) == thread)
			return true;
	}
	return n > RR_TALKERS_MAX;
}

bool rr_instance_hands_over(const struct rr_instance *instance)
{
	const struct rr_handover *handover = &instance->handover;
	const struct rr_program_page *page = instance->process->clock.page;
	uint64_t times = 0;

	if (atomic_load(&page->n_talkers) == 0 || atomic_load(&page->has_go))
		return handover->has_waited;
	for (size_t i = 0; i < handover->ran.n; i++) {
		if (!talks(page, handover->ran.of[i].id))
			continue;
		if (times & handover->times[i])
			return true;
		times |= handover->times[i];
	}
	return false;
}

/* ---- Running ------------------------------------------------------------------------- */

/* Commands of one name come as they were seen first: in another one's words there may be a random
 * value, which is new in each run. A connection that asks nothing comes last. */
static bool asks_before(const struct rr_terms *terms, const struct rr_lane *lane,
			const struct rr_lane *other)
{
	uint32_t a, b;

	if (lane->n == 0 || other->n == 0)
		return lane->n > other->n;
	a = rr_lane_request(lane, 0)->command;
	b = rr_lane_request(other, 0)->command;
	return terms->command[a].name == terms->command[b].name ?
		       a < b :
		       terms->command[a].name < terms->command[b].name;
}

static void swap_lanes(struct rr_lane *a, struct rr_lane *b)
{
	const struct rr_lane copy = *a;

	*a = *b;
	*b = copy;
}

static bool fail_hanging(const struct rr_instance *instance, struct rr_error *error)
{
	const struct rdl_word output = rr_process_output(instance->process);
	const long seconds = instance->config->process.patience_ms / 1000;
	char *reason;

	if (instance->app && !instance->lanes[0].is_used && instance->app->n_requests)
		return rr_error_set(
			error, RR_ERROR_HANGS,
			"the app is not up, and does not end: waited %ld s of its own time (--hangs-after): it must listen on $PORT, or --ready must say when it is up; if it only starts slowly, give it longer",
			seconds);
	if (instance->app)
		return rr_error_set(
			error, RR_ERROR_HANGS,
			"the app neither waits for anything nor ends, with %zu request%s in flight: waited %ld s (--hangs-after): is that a busy loop? Let it wait, or give it longer",
			instance->n_under_way, instance->n_under_way == 1 ? "" : "s", seconds);
	reason = rr_reason_line(output.text, output.length);
	rr_error_set(
		error, RR_ERROR_HANGS,
		"client %s neither sends a command nor ends: waited %ld s (--hangs-after)%s%.200s%s: is that a busy loop? Let it wait or end, or give it longer",
		instance->plan.name, seconds, reason[0] ? "; it printed '" : "", reason,
		reason[0] ? "'" : "");
	free(reason);
	return false;
}

/* Lets it run until it waits for us or has ended. */
static bool run_instance(struct rr_instance *instance, struct rr_error *error)
{
	static const char mark[] = { RR_MARK_RECORD, '0', ' ' }; /* of the app's record */
	const struct rr_program_page *page = instance->process->clock.page;
	const int64_t passed_ns = atomic_load(&page->passed_ns);
	uint64_t n_reads;
	struct rdl_word output;
	enum rr_process_end end;
	const char *record;

	instance->error = error;
	end = rr_process_wait(instance->process, error);
	instance->error = NULL;
	output = rr_process_output(instance->process);
	/*
	 * Was a connection opened before or after others were closed? They are seen at once. Those of
	 * an app stay where they are: its first lanes are given to requests.
	 */
	for (size_t i = 0; i < RR_RUN_ORDINALS && !instance->app; i++) {
		for (size_t j = 0; j < i && instance->lanes[i].is_used && instance->lanes[i].is_new;
		     j++) {
			if (!instance->lanes[j].is_used)
				swap_lanes(&instance->lanes[i], &instance->lanes[j]);
		}
	}
	/*
	 * Which of several threads or children comes first is chance: the connections that they
	 * have opened meanwhile are put into the order of what is asked there.
	 */
	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		struct rr_lane *lane = &instance->lanes[i];

		for (int j = i + 1; j < RR_RUN_ORDINALS && lane->is_new; j++) {
			struct rr_lane *other = &instance->lanes[j];

			if (other->is_new && asks_before(terms_of(instance), other, lane))
				swap_lanes(lane, other);
		}
		lane->is_new = false;
	}
	instance->slept_ns = instance->app ?
				     0 :
				     (atomic_load(&page->passed_ns) - passed_ns + MS_NS / 2) /
					     MS_NS * MS_NS;
	/* Since it stood still: it may have read the clock as soon as it was told something. */
	n_reads = atomic_load(&page->n_reads);
	instance->has_read = n_reads != instance->n_reads;
	instance->n_reads = n_reads;
	/* redrace-app has ended with a line about why there is nothing to be checked. */
	if (end == RR_PROCESS_ENDED && instance->app && WIFEXITED(instance->process->status) &&
	    WEXITSTATUS(instance->process->status) == RR_APP_FAILED)
		return rr_error_set(error, RR_ERROR_DATA, "%.*s", (int)strcspn(output.text, "\n"),
				    output.text);
	/* Has the app itself ended before it asked Redis for anything? As many connections as there
	 * were marks on are redrace-app's. */
	size_t n_marks = 0;

	for (size_t i = 0; i < RR_RUN_ORDINALS; i++)
		n_marks += keeps_lane(instance, i) && instance->lanes[i].is_used;
	if (end == RR_PROCESS_STOPPED && instance->app && instance->app->has_app &&
	    instance->n_connections <= n_marks &&
	    (record = memmem(output.text, output.length, mark, sizeof(mark)))) {
		const char *status = record + sizeof(mark);
		const char *printed = status + strcspn(status, "\n") + 1;
		char *reason = rr_reason_line(printed,
					      strcspn(printed, (char[]){ RR_MARK_RECORD, '\0' }));

		rr_error_set(
			error, RR_ERROR_DATA,
			"the app exited with %d before it asked Redis for anything%s%s%s: start it by hand, with PORT and REDIS_URL set, and see why",
			atoi(status), reason[0] ? "; it printed '" : "", reason,
			reason[0] ? "'" : "");
		free(reason);
		return false;
	}
	return end == RR_PROCESS_HANGS ? fail_hanging(instance, error) : end != RR_PROCESS_FAILED;
}

struct rr_instance *rr_instance_begin(const struct rr_instance_config *config,
				      const char *const *argv, size_t client, const char *name,
				      uint64_t seed, int64_t late_ns, struct rr_error *error)
{
	struct rr_instance *instance = rr_calloc(1, sizeof(*instance));
	const double begun = rr_clock_s();

	instance->config = config;
	instance->client = client;
	instance->app = config->apps ? &config->apps[client] : NULL;
	instance->process_config = config->process;
	instance->process_config.start_ns += late_ns;
	instance->process_config.seed = seed;
	instance->plan = (struct rr_process_plan){
		.config = late_ns > 0 || seed != config->process.seed ? &instance->process_config :
									&config->process,
		.argv = argv,
		.name = name,
		.context = instance,
		.on_request = on_request,
		.on_close = on_close,
		.is_app = instance->app && instance->app->has_app,
		.owes = is_owed,
	};
	instance->process = rr_process_start(&instance->plan, error);
	config->times->starting += rr_clock_s() - begun;
	if (instance->process)
		return instance;
	rr_instance_free(instance);
	return NULL;
}

bool rr_instance_settle(struct rr_instance *instance, struct rr_error *error)
{
	const struct rr_instance_config *config = instance->config;
	const double begun = rr_clock_s();
	bool good;

	/* What was begun ahead was begun beside another run: those that are used take turns. */
	if (!config->apps)
		atomic_store(&instance->process->clock.page->turns,
			     config->n_starts % 2 ? RR_TURNS_OF_OTHERS : RR_TURNS_OWN);
	/*
	 * Which numbers connections have depends on who else has connected: they are another run's,
	 * as a random value is, of ten digits.
	 */
	const uint64_t start = config->n_starts;
	struct rr_random random = { start };

	instance->last_id = (long long)(1000000000 + rr_random_below(&random, 1000000000));
	good = run_instance(instance, error);
	config->times->starting += rr_clock_s() - begun;
	return good;
}

void rr_instance_free(struct rr_instance *instance)
{
	double begun;

	if (!instance)
		return;
	begun = rr_clock_s();
	rr_process_free(instance->process);
	instance->config->times->ending += rr_clock_s() - begun;
	for (int i = 0; i < RR_RUN_ORDINALS; i++)
		rr_lane_release(&instance->lanes[i]);
	rr_renaming_release(&instance->inward);
	rr_renaming_release(&instance->outward);
	free(instance->loaded);
	free(instance);
}

size_t rr_instance_client(const struct rr_instance *instance)
{
	return instance->client;
}

bool rr_instance_has_shim(const struct rr_instance *instance)
{
	const struct rr_program_page *page = instance->process->clock.page;

	return atomic_load(&page->has_shim) && !atomic_load(&page->has_go);
}

uint64_t rr_instance_drawn(const struct rr_instance *instance)
{
	return atomic_load(&instance->process->clock.page->n_drawn);
}

bool rr_instance_asks_pids(const struct rr_instance *instance)
{
	return atomic_load(&instance->process->clock.page->asks_pids);
}

bool rr_instance_names_pid_file(const struct rr_instance *instance)
{
	return atomic_load(&instance->process->clock.page->names_pid_file);
}

/* Does the kernel's time go on for it while it is kept waiting? */
static bool has_kernel_time(const struct rr_program_page *page)
{
	return atomic_load(&page->has_go) || atomic_load(&page->has_timer);
}

/* Time passes by itself for who reads the clock again and again while it waits. */
bool rr_instance_is_as_begun(const struct rr_instance *instance)
{
	const struct rr_program_page *page = instance->process->clock.page;

	return !has_kernel_time(page) && atomic_load(&page->passed_ns) == 0;
}

bool rr_instance_can_stand(struct rr_instance *instance)
{
	return rr_instance_has_shim(instance) && !has_kernel_time(instance->process->clock.page) &&
	       is_owed((void *)instance, INT64_MAX);
}

bool rr_instance_has_uv(const struct rr_instance *instance)
{
	return atomic_load(&instance->process->clock.page->has_uv);
}

bool rr_instance_reads_day(const struct rr_instance *instance)
{
	return atomic_load(&instance->process->clock.page->reads_day);
}

static bool only_listens(const struct rr_instance *instance)
{
	bool listens = false;

	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct rr_lane *lane = &instance->lanes[i];

		if (lane->is_used && lane->n > 0)
			return false;
		listens |= lane->is_used && rr_lane_is_subscribed(lane);
	}
	return listens;
}

/* Node has timers of its own, by which it looks after its memory, and which come when they like: one
 * that still only listens has waited for nothing that anybody sees. It goes on waiting. */
static bool wait_in_vain(struct rr_instance *instance, struct rr_error *error)
{
	struct rr_program_clock *clock = &instance->process->clock;
	const int64_t until_ns = instance->heard_ns + VAIN_NS;

	while (rr_instance_has_uv(instance) && only_listens(instance) &&
	       rr_program_clock_left_ns(clock) <= until_ns - atomic_load(&clock->page->passed_ns)) {
		if (!rr_program_clock_wake(clock) || !run_instance(instance, error))
			return false;
	}
	return true;
}

bool rr_instance_feed(struct rr_instance *instance, const struct rr_input *input, uint8_t number,
		      int64_t passed_ns, struct rr_error *error)
{
	struct rr_lane *lane = &instance->lanes[number];
	const bool is_message = input->kind == RR_INPUT_MESSAGE || input->kind == RR_INPUT_TIMEOUT;
	const double begun = rr_clock_s();
	bool is_reply, good;

	if (!lane->is_used || !(is_message ? rr_lane_is_subscribed(lane) : lane->n > 0))
		return rr_error_set(error, RR_ERROR_INTERNAL, "client %s is not owed a reply",
				    instance->plan.name);
	is_reply = input->kind == RR_INPUT_REPLY &&
		   rr_lane_request(lane, 0)->kind == RR_SENT_COMMAND;
	instance->was_inside = instance->has_entered = instance->has_begun = false;
	instance->n_owed = count_owed(instance);
	instance->heard_ns = rr_program_clock_tell(&instance->process->clock, passed_ns);
	if (input->kind == RR_INPUT_TIMEOUT) {
		/* Nothing has come until the first of those who wait so long goes on. */
		if (!rr_program_clock_wake(&instance->process->clock))
			return rr_error_set(error, RR_ERROR_INTERNAL,
					    "client %s waits for no time-out", instance->plan.name);
	} else if (input->kind == RR_INPUT_REPLY) {
		instance->has_begun = rr_lane_request(lane, 0)->kind == RR_SENT_REQUEST;
		instance->n_under_way += instance->has_begun;
		instance->is_over |= rr_lane_request(lane, 0)->kind == RR_SENT_END;
		rr_lane_request(lane, 0)->answer = (uint32_t)input->value;
		flush_lane(instance, lane);
	} else if (input->kind == RR_INPUT_MESSAGE) {
		send_reply(instance, lane, NULL, (uint32_t)input->value);
	} else {
		/* No reply will come: the connection is closed. */
		if (lane->connection >= 0)
			rr_process_cut(instance->process, lane->connection);
		rr_lane_clear(lane);
	}
	good = run_instance(instance, error) &&
	       (input->kind != RR_INPUT_TIMEOUT || wait_in_vain(instance, error));
	note_rest(instance, is_reply);
	instance->config->times->running += rr_clock_s() - begun;
	return good;
}

/* ---- What it waits for and has done, as a search sees it ------------------------------- */

static void add_stop(struct rr_run_view *view, struct rr_stop stop)
{
	if (view->n_threads == RR_RUN_THREADS)
		view->is_too_much = true;
	else
		view->stops[view->n_threads++] = stop;
}

struct rr_ending rr_instance_ending(const struct rr_instance *instance)
{
	const struct rdl_word output = rr_process_output(instance->process);

	return (struct rr_ending){ .status = instance->process->status,
				   .output = output.text,
				   .length = output.length };
}

/* How it ended, as a number. What it printed has its random values renamed. */
static uint32_t keep_ending(const struct rr_instance *instance)
{
	struct rr_ending ending = rr_instance_ending(instance);
	struct rr_terms *terms = terms_of(instance);

	if (instance->inward.n) {
		const struct rdl_reply printed = { .type = RDL_REPLY_STRING,
						   .text = ending.output,
						   .length = ending.length };
		const uint32_t renamed = rr_rename_reply(&instance->inward, terms,
							 rr_terms_reply(terms, &printed));

		ending.output = terms->reply[renamed].reply.text;
		ending.length = terms->reply[renamed].reply.length;
	}
	return rr_endings_put(instance->config->endings, ending);
}

struct rr_run_view rr_instance_view(struct rr_instance *instance)
{
	const bool is_inside = instance->is_inside || instance->was_inside;
	struct rr_run_view view = { .is_inside = is_inside,
				    .is_holding = is_inside,
				    .slept_ns = instance->slept_ns,
				    .has_entered = instance->has_entered,
				    .has_read = instance->has_read };
	struct rr_ending ending;

	for (uint8_t i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct rr_lane *lane = &instance->lanes[i];
		/* Of very many commands the first are enough, as long as each lane has room for
		 * one. */
		const uint32_t room = RR_RUN_SENT - (RR_RUN_ORDINALS - 1U - i);

		if (!lane->is_used || lane->n == 0)
			continue;
		add_stop(&view, (struct rr_stop){ .kind = RR_STOP_RECEIVE, .lane = i });
		for (size_t j = 0; j < lane->n && view.n_sent < room; j++) {
			const struct rr_request *request = rr_lane_request(lane, j);

			if (request->answer == RR_NO_ID)
				view.sent[view.n_sent++] =
					(struct rr_sent){ .lane = i,
							  .is_inside = request->is_inside,
							  .is_waiting = request->is_waiting,
							  .kind = request->kind,
							  .command = request->command };
		}
	}
	/*
	 * Where it is subscribed a message may come, also before a reply. A time-out may be over at
	 * any time, as long as the program is owed no reply.
	 */
	const bool may_time_out = view.n_threads == 0 &&
				  rr_program_clock_left_ns(&instance->process->clock) != INT64_MAX;

	for (uint8_t i = 0; i < RR_RUN_ORDINALS; i++) {
		const struct rr_lane *lane = &instance->lanes[i];

		if (lane->is_used && rr_lane_is_subscribed(lane))
			add_stop(&view,
				 (struct rr_stop){ .kind = RR_STOP_LISTEN,
						   .lane = i,
						   .duration_ns = may_time_out ? 0 : RR_NEVER });
	}
	if (instance->app)
		view.tally.ending = keep_ending(instance);
	if (view.n_threads > 0)
		return view;
	view.n_threads = 1;
	view.stops[0].kind = RR_STOP_ENDED;
	view.is_inside = view.is_holding = false;
	ending = rr_instance_ending(instance);
	view.tally.ok = ending.status == 0 &&
			!rr_ending_is_declared(instance->config->refused, ending);
	view.tally.failed = !view.tally.ok;
	view.tally.ending = keep_ending(instance);
	return view;
}

static void rename_sent(struct rr_instance *instance, const struct rr_renaming *renaming)
{
	for (int i = 0; i < RR_RUN_ORDINALS; i++) {
		struct rr_lane *lane = &instance->lanes[i];

		for (size_t j = 0; j < lane->n; j++) {
			struct rr_request *request = rr_lane_request(lane, j);

			request->command = rr_rename_command(renaming, terms_of(instance),
							     request->command);
		}
	}
}

bool rr_instance_rename(struct rr_instance *instance, struct rdl_word canonical,
			struct rdl_word actual)
{
	if (rr_renaming_has(&instance->inward, actual) ||
	    rr_renaming_has(&instance->outward, canonical))
		return false;
	rr_renaming_add(&instance->inward, actual, canonical);
	rr_renaming_add(&instance->outward, canonical, actual);
	rename_sent(instance, &instance->inward);
	return true;
}

bool rr_instance_exchange(struct rr_instance *instance, struct rdl_word canonical,
			  struct rdl_word actual)
{
	struct rr_renaming both = { 0 };

	if (rr_renaming_has(&instance->inward, actual) ||
	    rr_renaming_has(&instance->inward, canonical))
		return false;
	rr_renaming_add(&both, actual, canonical);
	rr_renaming_add(&both, canonical, actual);
	rename_sent(instance, &both);
	rr_renaming_release(&both);
	rr_renaming_add(&instance->inward, actual, canonical);
	rr_renaming_add(&instance->inward, canonical, actual);
	rr_renaming_add(&instance->outward, actual, canonical);
	rr_renaming_add(&instance->outward, canonical, actual);
	return true;
}

bool rr_instance_drop_exchange(struct rr_instance *instance, struct rdl_word canonical)
{
	const struct rdl_word own = rr_renaming_of(&instance->outward, canonical);
	const struct rdl_word actual = { rr_memdup(own.text, own.length), own.length };
	struct rr_renaming none = { 0 };
	/* What is exchanged has a pair in both directions. */
	const bool is_exchanged = rr_renaming_drop(&instance->inward, &none, canonical);

	if (is_exchanged) {
		rr_renaming_drop(&instance->inward, &none, actual);
		rr_renaming_drop(&instance->outward, &none, canonical);
		rr_renaming_drop(&instance->outward, &none, actual);
	}
	free((char *)actual.text);
	return is_exchanged;
}

struct rdl_word rr_instance_own(const struct rr_instance *instance, struct rdl_word canonical)
{
	return rr_renaming_of(&instance->outward, canonical);
}

void rr_instance_forget(struct rr_instance *instance, struct rdl_word canonical)
{
	struct rdl_word actual = rr_renaming_of(&instance->outward, canonical);
	char *own = rr_memdup(actual.text, actual.length);
	struct rdl_word shifted = rr_token_of_client(canonical, FORGOTTEN,
						     instance->config->process.start_ns);
	char *text = rr_asprintf("%.*s.%u", (int)shifted.length, shifted.text,
				 ++instance->n_forgotten);
	const struct rdl_word other = { text, strlen(text) };

	rr_renaming_drop(&instance->outward, &instance->inward, canonical);
	actual.text = own;
	rr_renaming_add(&instance->inward, actual, other);
	rr_renaming_add(&instance->outward, other, actual);
	free((char *)shifted.text);
	free(text);
	free(own);
}

bool rr_instance_renames(const struct rr_instance *instance, struct rdl_word canonical)
{
	return rr_renaming_has(&instance->outward, canonical);
}
