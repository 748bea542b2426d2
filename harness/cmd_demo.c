/* SPDX-License-Identifier: MIT */
/* redrace demo: a tour for a class, act by act, with pauses. */
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/option.h"
#include "base/text.h"
#include "bench/bench.h"
#include "cluster/cluster.h"
#include "commands.h"
#include "play/play.h"

enum { DEFAULT_SECONDS = 10, WORDS_MAX = 12, SCENES_MAX = 2, LIVE_LINES = 3 };

/* One thing that is shown: a command of this program, or counts while clients
 * count. */
struct scene {
	const char *words[WORDS_MAX]; /* the command's; none = counts */
	enum rr_exit exit;            /* that the command ends with */
	struct rr_live live;
	const char *after; /* what was seen, NULL = nothing more */
};

/* One act: two sentences, and what is shown. */
struct act {
	const char *name, *title, *text;
	struct scene scenes[SCENES_MAX];
	const char *needs;   /* a file; without it the act is left out */
	bool is_interactive; /* the first scene needs somebody at the keys;
			      * without, it is the second */
};

static const struct act acts[] = {
	{ .name = "counts",
	  .title = "Counts go wrong",
	  .text = "Two threads, each: GET the counter, add 1, SET it. Redis runs one command at a\n"
		  "time, and increments are lost all the same; with INCR none is.",
	  .scenes = { { .live = { "none", 2, 1, 0 },
			.after = "Each command was atomic. The two together were not." },
		      { .live = { "incr", 2, 1, 0 },
			.after =
				"Reading, adding and writing are one command: nothing can come in between." } } },
	{ .name = "how",
	  .title = "See how",
	  .text = "Both clients read the same value before either of them writes.\n"
		  "Time runs downwards; the column in the middle is what the server holds.",
	  .scenes = { { .words = { "play", "lost-update" } } } },
	{ .name = "scheduler",
	  .title = "Be the scheduler",
	  .text = "You decide which client goes next: lose an update, with a for A and b for B.\n"
		  "Then begin again (r) and find all the orders that lose none; q goes on.",
	  .scenes = { { .words = { "play", "--interactive", "none" } },
		      { .words = { "play", "--schedule", "A:GET B:GET A:SET B:SET", "none" } } },
	  .is_interactive = true },
	{ .name = "mutex",
	  .title = "A mutex of the program's own",
	  .text = "GET and SET again, inside a mutex. Within one process that is enough.\n"
		  "Then the same program is started twice: two processes, a mutex each.",
	  .scenes = { { .live = { "local-mutex", 2, 1, 0 } },
		      { .live = { "local-mutex", 1, 2, 0 },
			.after = "Each mutex was correct, and useless against the other." } } },
	{ .name = "crash",
	  .title = "A lock in Redis, and a holder that dies",
	  .text = "SETNX takes the lock for all processes, DEL releases it.\n"
		  "A holder that dies in between never releases it.",
	  .scenes = { { .words = { "play", "setnx-holder-dies" } } } },
	{ .name = "lease",
	  .title = "A lease that is too short",
	  .text = "So the lock gets a lease, and ends by itself. But a holder does not notice that\n"
		  "its lease has ended, and writes; a random value in the lock does not stop it.",
	  .scenes = { { .words = { "play", "token-keeps-overlap" } } } },
	{ .name = "delete",
	  .title = "Another client's lock",
	  .text = "Without a random value it is worse: a client that comes too late deletes the lock of\n"
		  "the next holder, and a third client comes in.",
	  .scenes = { { .words = { "play", "overrun-delete" } } } },
	{ .name = "proof",
	  .title = "The proof",
	  .text = "A test that finds nothing proves nothing: here all orders are looked at.\n"
		  "Without a lock some lose an update; with the right lock, and without faults,\n"
		  "none does.",
	  .scenes = { { .words = { "explore", "none" } },
		      { .words = { "explore", "lua-delifequals" } } } },
	{ .name = "program",
	  .title = "Your own program",
	  .text = "The same for any program in any language, unmodified: a shell script with\n"
		  "redis-cli. Final data that no serial order leaves are shown with the schedule.",
	  .scenes = { { .words = { "check", "--", "sh", "examples/check/counter.sh" },
			.exit = RR_EXIT_VIOLATED } },
	  .needs = "examples/check/counter.sh" },
};

enum { N_ACTS = sizeof(acts) / sizeof(acts[0]) };

/* ---- Options ------------------------------------------------------------- */

struct demo_options {
	const char *redis_server;
	long seconds;  /* of each live count, about */
	bool is_auto;  /* without pauses */
	unsigned acts; /* as bits; 0 = all */
};

static const char *act_name(size_t index)
{
	return index < N_ACTS ? acts[index].name : NULL;
}

static bool take_act(void *into, char *text, struct rr_error *error)
{
	struct demo_options *options = into;
	size_t index;

	if (!rr_take_name("act", text, act_name, "'redrace help demo' shows them", &index, error))
		return false;
	options->acts |= 1U << index;
	return true;
}

static const struct rr_option options_table[] = {
	{ .name = "auto",
	  .help = "go on without waiting for keys",
	  .at = offsetof(struct demo_options, is_auto) },
	{ .name = "seconds-each",
	  .help = "seconds that each of the four live counts takes (10)",
	  .at = offsetof(struct demo_options, seconds),
	  .min = 1,
	  .max = 600 },
	{ .common = RR_OPTION_REDIS_SERVER, .at = offsetof(struct demo_options, redis_server) },
};

static const struct rr_command_line demo_line = {
	.about =
		"A tour of ten minutes, act by act, with pauses: counts that go wrong, how they go wrong, locks and how they break, the proof, and your own program.\v"
		"The acts are counts, how, scheduler, mutex, crash, lease, delete, proof and program; only those are shown that are named.",
	.arguments = "[ACT...]",
	.name_at = act_name,
	.take_argument = take_act,
	.examples = "redrace demo --auto --seconds-each 2\n"
		    "redrace demo proof",
	RR_OPTIONS(options_table),
};

/* ---- Scenes -------------------------------------------------------------- */

struct tour {
	const struct demo_options *options;
	struct rr_session session;
	struct rr_cluster cluster; /* for the live counts, opened at the first */
	bool is_open;
	bool waits; /* for keys */
	bool has_quit;
	size_t n_lines; /* since the last key, or the beginning */
	struct rr_error *error;
};

static const char any_key[] = "press a key, q to end ";

static void wait_for_key(struct tour *tour, const char *prompt)
{
	fflush(stdout);
	if (tour->waits && !tour->has_quit)
		tour->has_quit = !rr_press_key(&tour->session, prompt);
	tour->n_lines = 0;
	if (tour->session.signals.interrupted)
		rr_error_interrupted(tour->error);
}

/* Prints as much of it as the terminal has room for, and continues at a key. */
static void print_paged(struct tour *tour, const char *text, size_t length)
{
	const size_t rows = rr_screen_rows();

	for (size_t i = 0; i < length && !tour->has_quit && !tour->error->kind; i++) {
		putchar(text[i]);
		tour->n_lines += text[i] == '\n';
		if (text[i] == '\n' && tour->waits && tour->n_lines + 1 >= rows)
			wait_for_key(tour, "press a key for more, q to end ");
	}
	fflush(stdout);
}

__attribute__((format(printf, 2, 3))) static void say(struct tour *tour, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	text = rr_vasprintf(format, arguments);
	va_end(arguments);
	print_paged(tour, text, strlen(text));
	free(text);
}

/* The words of the command, as one types them. */
static void print_tour_command(struct tour *tour, const char *const words[])
{
	say(tour, "\n$ redrace");
	for (; *words; words++)
		say(tour, strchr(*words, ' ') ? " \"%s\"" : " %s", *words);
	say(tour, "\n\n");
}

/* Shows what a command prints, until it has ended or the reader has had enough. */
static void show_output(struct tour *tour, int fd)
{
	struct pollfd output = { .fd = fd, .events = POLLIN };
	char chunk[4096];
	ssize_t n = 1;

	while (n > 0 && !tour->has_quit && rr_signals_wait(&tour->session.signals, 0)) {
		if (poll(&output, 1, 100) <= 0)
			continue;
		n = read(fd, chunk, sizeof(chunk));
		if (n > 0)
			print_paged(tour, chunk, (size_t)n);
	}
}

/* Runs this program again, with the same server as the tour, to its end; a signal ends it. At a
 * terminal its output is paged, but for a scene that has the keys itself. */
static enum rr_exit play_command(struct tour *tour, const struct scene *scene, bool has_keys)
{
	struct rr_signals *signals = &tour->session.signals;
	const char *words[WORDS_MAX + 4] = { "redrace", scene->words[0], "--redis-server",
					     tour->options->redis_server };
	const size_t n = tour->options->redis_server ? 4 : 2;
	const bool is_paged = tour->waits && !has_keys;
	enum rr_exit code = RR_EXIT_INTERNAL;
	bool is_told = false;
	int status, ends[2] = { -1, -1 };
	pid_t pid;

	memcpy(&words[n], &scene->words[1], sizeof(scene->words) - sizeof(scene->words[0]));
	print_tour_command(tour, words + 1);
	if (tour->has_quit)
		return RR_EXIT_OK;
	if (is_paged && pipe(ends) != 0)
		return rr_complain(RR_EXIT_INTERNAL, "no more pipes");
	pid = fork();
	if (pid == 0) {
		if (is_paged) {
			setenv("CLICOLOR_FORCE", "1", 1);
			dup2(ends[1], STDOUT_FILENO);
			close(ends[0]);
			close(ends[1]);
		}
		execv("/proc/self/exe", (char *const *)words);
		_exit(RR_EXIT_INTERNAL);
	}
	if (is_paged)
		close(ends[1]);
	if (pid < 0) {
		if (is_paged)
			close(ends[0]);
		return rr_complain(RR_EXIT_INTERNAL, "no more processes");
	}
	if (is_paged) {
		show_output(tour, ends[0]);
		close(ends[0]);
	}
	while (waitpid(pid, &status, WNOHANG) == 0) {
		if ((tour->has_quit || !rr_signals_wait(signals, 100)) && !is_told)
			is_told = kill(pid, SIGTERM) == 0;
		else if (tour->has_quit)
			usleep(10000);
	}
	if (has_keys)
		tour->n_lines = 0;
	if (tour->has_quit)
		return RR_EXIT_OK;
	if (WIFEXITED(status))
		code = (enum rr_exit)WEXITSTATUS(status);
	/* No reader is left: the command has said so. */
	tour->has_quit |= code == RR_EXIT_FILE;
	if (code == RR_EXIT_INTERRUPTED)
		rr_error_interrupted(tour->error);
	else if (code >= RR_EXIT_USAGE) /* the command has said why */
		return code;
	else if (code != scene->exit)
		return rr_complain(code ? code : RR_EXIT_VIOLATED,
				   "'%s' ended with %d instead of %d", scene->words[0], (int)code,
				   (int)scene->exit);
	return RR_EXIT_OK;
}

static enum rr_exit play_live(struct tour *tour, const struct scene *scene)
{
	const struct rr_cluster_options servers = {
		.program = tour->options->redis_server ? tour->options->redis_server :
							 "redis-server",
		.clock = RR_CLUSTER_REAL,
		.cpu = rr_placement_cpu(),
	};
	struct rr_live live = scene->live;

	live.seconds = tour->options->seconds;
	if (!tour->is_open &&
	    !rr_cluster_open(&tour->cluster, &tour->session, &servers, tour->error))
		return RR_EXIT_OK;
	tour->is_open = true;
	tour->n_lines += LIVE_LINES;
	return rr_live_count(&live, &tour->cluster, tour->error);
}

/* ---- Acts ---------------------------------------------------------------- */

static enum rr_exit play_act(struct tour *tour, const struct act *act)
{
	size_t from = act->is_interactive && !tour->waits ? 1 : 0;
	size_t to = act->is_interactive && tour->waits ? 1 : SCENES_MAX;
	enum rr_exit worst = RR_EXIT_OK;

	say(tour, "%zu. %s\n\n%s\n", (size_t)(act - acts) + 1, act->title, act->text);
	if (act->scenes[0].live.strategy && tour->options->acts)
		say(tour, "\n");
	if (act->needs && access(act->needs, R_OK) != 0) {
		say(tour, "\nLeft out: there is no %s here.\n\n", act->needs);
		return RR_EXIT_OK;
	}
	if (act->is_interactive)
		wait_for_key(tour, any_key);
	if (act->scenes[0].live.strategy && !tour->options->acts)
		print_tour_command(tour, (const char *const[]){ "demo", act->name, NULL });
	tour->has_quit |= fflush(stdout) != 0 || ferror(stdout); /* main says so */
	for (; from < to && (act->scenes[from].words[0] || act->scenes[from].live.strategy) &&
	       !tour->has_quit && !tour->error->kind;
	     from++) {
		const struct scene *scene = &act->scenes[from];
		const enum rr_exit code = scene->words[0] ?
						  play_command(tour, scene,
							       act->is_interactive && tour->waits) :
						  play_live(tour, scene);

		if (scene->after)
			say(tour, "%s\n", scene->after);
		say(tour, "\n");
		worst = rr_exit_worse(worst, code);
	}
	return worst;
}

static enum rr_exit play_tour(struct tour *tour)
{
	const unsigned chosen = tour->options->acts;
	enum rr_exit worst = RR_EXIT_OK;

	for (size_t i = 0; i < N_ACTS; i++) {
		if (chosen && !(chosen & 1U << i))
			continue;
		worst = rr_exit_worse(worst, play_act(tour, &acts[i]));
		if (tour->has_quit || tour->error->kind)
			return worst;
		if (!chosen && i + 1 < N_ACTS)
			wait_for_key(tour, any_key);
		if (tour->has_quit)
			return worst;
	}
	if (!chosen)
		puts("Next: docs/teaching.md has lessons; 'redrace list' has all strategies and races.");
	return worst;
}

static enum rr_exit run_demo(int argc, char **argv, struct rr_error *error)
{
	struct demo_options options = { .seconds = DEFAULT_SECONDS };
	struct tour tour = { .options = &options, .error = error };
	enum rr_exit code = RR_EXIT_OK;

	rr_command_line_parse(&demo_line, &options, argc, argv);
	tour.waits = !options.is_auto && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
	if (rr_session_open(&tour.session, error))
		code = play_tour(&tour);
	rr_cluster_close(&tour.cluster);
	rr_session_close(&tour.session);
	return code;
}

const struct rr_command rr_cmd_demo = {
	.name = "demo",
	.summary = "show a tour of ten minutes, with pauses",
	.line = &demo_line,
	.run = run_demo,
};
