/* SPDX-License-Identifier: MIT */
/*
 * Command lines of `bench` and `explore`, words that a NUL ends; the first byte says
 * whose. The parser ends the program where a mistake is, with one line and 64 (or 74, for a file that cannot be written); here
 * it comes back. Numbers that were taken are within their limits.
 */
#include <setjmp.h>
#include <stdio.h>

#include "bench/bench.h"
#include "explore/explore.h"
#include "fuzz.h"

enum { WORDS_MAX = 24, ANSWERED = 1000 };

/* Where exit() leads while a command line is parsed: the linker puts this in its
 * place (tests/fuzz/run). */
static jmp_buf ended;
static bool is_parsing;
_Noreturn void __real_exit(int code);
_Noreturn void __wrap_exit(int code);

_Noreturn void __wrap_exit(int code)
{
	if (!is_parsing)
		__real_exit(code);
	longjmp(ended, code + ANSWERED);
}

static int split_input(char *text, size_t size, char *words[WORDS_MAX + 1])
{
	int n = 1;

	words[0] = "redrace fuzz";
	for (size_t at = 0; at < size && n < WORDS_MAX; n++) {
		words[n] = text + at;
		at += strlen(text + at) + 1;
	}
	words[n] = NULL;
	return n;
}

static void parse_bench(int argc, char **argv)
{
	struct rr_bench_options options = rr_bench_defaults();

	rr_command_line_parse(&rr_bench_command_line, &options, argc, argv);
	demand(options.increments >= 1 && options.repeats >= 1);
	demand(options.n_threads >= 1 && options.n_threads <= RR_SWEEP_MAX);
	for (size_t i = 0; i < options.n_threads; i++)
		demand(options.threads[i] >= 1);
	demand(options.n_redis <= RR_CLUSTER_SERVERS);
}

static void parse_explore(int argc, char **argv)
{
	struct rr_explore_options options = rr_explore_defaults();

	rr_command_line_parse(&rr_explore_command_line, &options, argc, argv);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = string_of(data, size), *words[WORDS_MAX + 1];
	const int n = size ? split_input(text + 1, size - 1, words) : 0;
	const int code = setjmp(ended);

	is_parsing = code == 0;
	if (code)
		demand(code == ANSWERED || code == ANSWERED + RR_EXIT_USAGE ||
		       code == ANSWERED + RR_EXIT_FILE);
	else if (size && data[0] % 2)
		parse_bench(n, words);
	else if (size)
		parse_explore(n, words);
	is_parsing = false;
	free(text);
	return 0;
}
