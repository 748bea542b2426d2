/* SPDX-License-Identifier: MIT */
/*
 * What schedules do: strategies are played on real servers as words say that are made of
 * the input, a byte each, and what happened is drawn in every format, saved, and played
 * again, when it has to be the same. What cannot be done is refused in one line.
 */
#include <stdio.h>
#include <unistd.h>

#include "cluster/cluster.h"
#include "draw/draw.h"
#include "fuzz.h"
#include "play/play.h"

enum { TEXT_SIZE = 8192, LONGEST = 400 };

int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct rr_workplace *place;
static char saved[64];

static void leave(void)
{
	unlink(saved);
	rr_workplace_free(place);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const struct rr_cluster_options options = { .program = "redis-server", .cpu = -1 };
	struct rr_error error = { 0 };

	(void)argc, (void)argv;
	place = rr_workplace_new(&options, &error);
	if (!place)
		fprintf(stderr, "%s\n", error.text);
	demand(place != NULL);
	snprintf(saved, sizeof(saved), "/tmp/rr-played-%d.race", (int)getpid());
	atexit(leave);
	return 0;
}

/* ---- The input as a schedule -------------------------------------------------------- */

/* %c is a client's name, %d a server's number. */
static const char *const words[] = {
	"%c",
	"%c",
	"%c",
	"%c",
	"%c'",
	"%c:sleep",
	"%c:wait",
	"%c:lock",
	"%c:unlock",
	"%c:clock",
	"%c:join",
	"%c:end",
	"%c:SET",
	"%c:GET",
	"%c:EVAL",
	"%c':EVAL",
	"%c:MULTI",
	"%c:EXEC",
	"%c:DEL",
	"tick:1ms",
	"tick:1s",
	"tick:10001ms",
	"tick:1000000s",
	"pause:%c:1us",
	"pause:%c:11s",
	"pause:%c:1000000s",
	"crash:%c",
	"lose-reply:%c",
	"lose-reply:%c:SET",
	"lose-reply:%c:EVAL",
	"restart:redis",
	"restart:data",
	"restart:n1",
	"restart:n5",
};

enum { N_WORDS = sizeof(words) / sizeof(words[0]) };

static void make_schedule(char text[TEXT_SIZE], const uint8_t *data, size_t size, size_t n_clients)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < size && used < TEXT_SIZE - 64; i++) {
		const char name = (char)('A' + (size_t)(data[i] / N_WORDS) % n_clients);

		used += (size_t)snprintf(text + used, TEXT_SIZE - used, words[data[i] % N_WORDS],
					 name);
		used += (size_t)snprintf(text + used, TEXT_SIZE - used, " ");
	}
}

/* ---- What is shown -------------------------------------------------------------------- */

static void draw_as(const struct rr_trace *trace, enum rr_format format, bool ascii)
{
	const struct rr_article article = { .id = "race", .command = "redrace play" };
	const struct rr_style style = { .ascii = ascii, .width = 80, .article = &article };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	demand(out != NULL);
	rr_draw(out, trace, format, &style);
	rr_draw_difference(out, trace);
	fclose(out);
	demand(size > 0);
	free(text);
}

static enum rr_exit show(void *context, const struct rr_trace *trace)
{
	(void)context;
	for (int format = 0; format < RR_FORMATS; format++) {
		if ((1U << format) & RR_PICTURE_FORMATS)
			draw_as(trace, (enum rr_format)format, format % 2);
	}
	demand(trace->as_written);
	return RR_EXIT_OK;
}

static void play_saved(void)
{
	struct rr_error error = { 0 };
	struct rr_race *race = rr_race_read(saved, &error);
	struct rr_trace trace;

	demand(race != NULL);
	demand(rr_player_play(race, &place->cluster, NULL, &trace, &error));
	if (!trace.as_written)
		rr_draw_difference(stderr, &trace);
	demand(trace.as_written);
	rr_trace_free(&trace);
	rr_race_free(race);
}

/* ---- The target ------------------------------------------------------------------------- */

static struct rr_guided_options options_of(const uint8_t data[3])
{
	const size_t n_clients = 1 + data[1] % RR_GUIDED_CLIENTS;

	return (struct rr_guided_options){
		.setup = { .strategy = rr_strategies[data[0] % rr_n_strategies],
			   .n_clients = n_clients,
			   .increments = data[2] / 8 == 31 ? RR_INCREMENTS_MAX : 1 + data[2] / 64,
			   .processes = data[2] & 1 ? 1 : (long)n_clients },
		.save = saved,
		.stops = data[2] & 2,
		.is_lenient = data[2] & 4,
	};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_guided_options options;
	struct rr_error error = { 0 };
	char schedule[TEXT_SIZE];

	if (size < 3 || size > LONGEST)
		return 0;
	options = options_of(data);
	make_schedule(schedule, data + 3, size - 3, options.setup.n_clients);
	options.schedule = schedule;
	unlink(saved);
	rr_play_strategy(&options, &place->cluster, show, NULL, &error);
	if (error.kind)
		fprintf(stderr, "%s\n", error.text);
	demand(error.kind == RR_ERROR_NONE || error.kind == RR_ERROR_USAGE ||
	       error.kind == RR_ERROR_SKIPPED);
	demand(!strchr(error.text, '\n'));
	if (!error.kind)
		play_saved();
	return 0;
}
