/* SPDX-License-Identifier: MIT */
/* What goes to disk and to the terminal. */
#include "../support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files.h"
#include "bench/results.h"

/* A finished run made up from round figures. */
static struct rr_finished *finished(const char *name, int threads,
				    long long final, int64_t wall_ns)
{
	struct rr_finished *f = calloc(1, sizeof(*f));
	struct rr_measurement *m = &f->measurement;

	f->repeat = f->order_idx = 1;
	m->strategy = rr_strategy_find(name);
	m->threads = threads;
	m->processes = 1;
	m->ttl_ms = 10000;
	m->promise = rr_promise_for(m->strategy, threads, 1);
	m->attempted = m->ok = 100000;
	m->final_value = final;
	m->wall_ns = wall_ns;
	m->commands = 100000 * m->strategy->cost.round_trips;
	m->times.p99 = 99000;
	rr_measurement_judge(m);
	return f;
}

Test(table, is_as_documented)
{
	struct rr_bench_options options = { .n_strategies = 4,
					    .threads = { 2 },
					    .n_threads = 1 };
	struct rr_finished *all[5];
	struct rr_results results = { .options = &options,
				      .finished = all,
				      .n_finished = 5,
				      .rows = -1 };
	char *actual = NULL;
	size_t size;
	FILE *file = open_memstream(&actual, &size);

	options.strategies[0] = rr_strategy_find("none");
	options.strategies[1] = rr_strategy_find("local-mutex");
	options.strategies[2] = rr_strategy_find("local-mutex-per-op");
	options.strategies[3] = rr_strategy_find("redlock");
	all[0] = finished("none", 2, 65141, 4000000000);
	all[1] = finished("local-mutex", 2, 100000, 3000000000);
	all[2] = finished("local-mutex-per-op", 2, 100000, 3500000000);
	all[3] = finished("redlock", 2, 99998, 20000000000);
	all[4] = finished("redlock", 2, 100000, 10000000000);
	rr_results_table(&results, file);
	fclose(file);
	support_assert_golden("table.txt", actual);
	for (int i = 0; i < 5; i++)
		free(all[i]);
	free(actual);
}

/* ---- Files ------------------------------------------------------------------- */

static char directory[SUPPORT_DIRECTORY], path[SUPPORT_DIRECTORY + 16];

static void make_place(void)
{
	support_capture_errors();
	support_directory(directory);
	snprintf(path, sizeof(path), "%s/runs.csv", directory);
}

static void remove_place(void)
{
	support_remove(directory);
}

TestSuite(files, .init = make_place, .fini = remove_place);

Test(files, rows_are_appended_under_one_header)
{
	char text[64];
	FILE *file;
	size_t n;
	int fd;

	for (int i = 0; i < 2; i++) {
		fd = rr_files_open_rows(path, "a,b\n");
		cr_assert_geq(fd, 0);
		cr_assert_eq(rr_files_append_row(fd, path, "1,2\n"),
			     RR_EXIT_OK);
		close(fd);
	}
	file = fopen(path, "re");
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	cr_assert_str_eq(text, "a,b\n1,2\n1,2\n");
	cr_assert_lt(rr_files_open_rows(path, "c,d\n"), 0);
	support_assert_error("has other columns than this version writes");
}

Test(files, a_row_that_does_not_fit_is_taken_back)
{
	struct stat info;
	const struct rlimit limit = { 6, RLIM_INFINITY };
	int fd;

	fd = rr_files_open_rows(path, "a,b\n");
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	cr_assert_eq(rr_files_append_row(fd, path, "1,2\n"), RR_EXIT_FILE);
	support_assert_error("No space left on device");
	cr_assert_eq(fstat(fd, &info), 0);
	cr_assert_eq(info.st_size, 4, "half a row was left");
	close(fd);
}

Test(files, replacing_leaves_one_file)
{
	cr_assert_eq(rr_files_replace(path, "one", 3), RR_EXIT_OK);
	cr_assert_eq(rr_files_replace(path, "two", 3), RR_EXIT_OK);
	unlink(path);
	cr_assert_eq(rmdir(directory), 0, "something else was left there");
}

/* As root's --output /dev/stdout must not put a file there. */
Test(files, links_and_devices_are_written_through)
{
	char target[SUPPORT_DIRECTORY + 16], to[SUPPORT_DIRECTORY + 16];

	snprintf(target, sizeof(target), "%s/target", directory);
	cr_assert_eq(symlink(target, path), 0);
	cr_assert_eq(rr_files_replace(path, "one", 3), RR_EXIT_OK);
	cr_assert_gt(readlink(path, to, sizeof(to)), 0);
	cr_assert_eq(access(target, F_OK), 0);
	unlink(path);
	cr_assert_eq(symlink("/dev/full", path), 0);
	cr_assert_eq(rr_files_replace(path, "one", 3), RR_EXIT_FILE);
	support_assert_error("No space left on device");
	cr_assert_gt(readlink(path, to, sizeof(to)), 0);
}

Test(files, a_directory_that_cannot_be_made_is_complained_of)
{
	cr_assert_eq(rr_files_make_directory("/proc/nothing/here"),
		     RR_EXIT_FILE);
	support_assert_error("cannot create '/proc/nothing/here'");
	cr_assert_eq(rr_files_make_directory("/dev/null"), RR_EXIT_FILE);
	support_assert_error("cannot create '/dev/null'");
}
