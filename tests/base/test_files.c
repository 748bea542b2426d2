/* SPDX-License-Identifier: MIT */
/* Files on disk: whole or not at all. */
#include "../support.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/csv.h"
#include "base/files.h"

static char directory[SUPPORT_DIRECTORY], path[SUPPORT_DIRECTORY + 16];
static struct rr_error error;

static void make_place(void)
{
	error = (struct rr_error){ 0 };
	support_directory(directory);
	snprintf(path, sizeof(path), "%s/runs.csv", directory);
}

static void remove_place(void)
{
	support_remove(directory);
}

/* The error says this, and is forgotten. */
static void assert_error(const char *part)
{
	cr_assert_eq(error.kind, RR_ERROR_FILE);
	cr_assert_not_null(strstr(error.text, part), "%s", error.text);
	error = (struct rr_error){ 0 };
}

TestSuite(files, .init = make_place, .fini = remove_place);

Test(files, rows_are_appended_under_one_header)
{
	char text[64];
	FILE *file;
	size_t n;
	int fd;

	for (int i = 0; i < 2; i++) {
		fd = rr_csv_open_rows(path, "a,b\n", &error);
		cr_assert_geq(fd, 0);
		cr_assert(rr_csv_append_row(fd, path, "1,2\n", &error));
		close(fd);
	}
	file = fopen(path, "re");
	n = fread(text, 1, sizeof(text) - 1, file);
	text[n] = '\0';
	fclose(file);
	cr_assert_str_eq(text, "a,b\n1,2\n1,2\n");
	cr_assert_lt(rr_csv_open_rows(path, "c,d\n", &error), 0);
	assert_error("has other columns than this version writes");
}

Test(files, a_row_that_does_not_fit_is_taken_back)
{
	struct stat info;
	const struct rlimit limit = { 6, RLIM_INFINITY };
	int fd;

	fd = rr_csv_open_rows(path, "a,b\n", &error);
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	cr_assert_not(rr_csv_append_row(fd, path, "1,2\n", &error));
	assert_error("No space left on device");
	cr_assert_eq(fstat(fd, &info), 0);
	cr_assert_eq(info.st_size, 4, "half a row was left");
	close(fd);
}

/* A full disk: the next bench there must not find a log without columns. */
Test(files, a_log_whose_header_does_not_fit_is_not_left)
{
	const struct rlimit limit = { 2, RLIM_INFINITY };

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	cr_assert_lt(rr_csv_open_rows(path, "a,b\n", &error), 0);
	assert_error("No space left on device");
	cr_assert_neq(access(path, F_OK), 0, "a file without columns was left");
}

Test(files, replacing_leaves_one_file)
{
	cr_assert(rr_files_replace(path, "one", 3, &error));
	cr_assert(rr_files_replace(path, "two", 3, &error));
	unlink(path);
	cr_assert_eq(rmdir(directory), 0, "something else was left there");
}

static char target[SUPPORT_DIRECTORY + 16];

/* A link at `path` to `target`, which holds "old". */
static void plant_link(void)
{
	FILE *file;

	snprintf(target, sizeof(target), "%s/target", directory);
	file = fopen(target, "we");
	fputs("old", file);
	fclose(file);
	cr_assert_eq(symlink(target, path), 0);
}

static void assert_target_is_as_it_was(void)
{
	struct stat info;

	cr_assert_eq(stat(target, &info), 0);
	cr_assert_eq(info.st_size, 3, "a link was followed");
}

/* Somebody else may have planted it in a directory that all can write to. */
Test(files, links_are_replaced_and_not_followed)
{
	struct stat info;

	plant_link();
	cr_assert(rr_files_replace(path, "other", 5, &error));
	cr_assert_eq(lstat(path, &info), 0);
	cr_assert(S_ISREG(info.st_mode), "the link is still there");
	assert_target_is_as_it_was();
	unlink(path);
	plant_link();
	cr_assert_lt(rr_csv_open_rows(path, "a,b\n", &error), 0);
	assert_error("is a link or no file");
	assert_target_is_as_it_was();
	cr_assert(rr_files_link(path, "elsewhere", &error));
	assert_target_is_as_it_was();
	cr_assert_not(rr_files_make_new_directory(path, &error));
	assert_error("File exists");
}

/* /dev/shm is a directory like others, and everybody can write to it. */
Test(files, not_all_that_is_below_dev_is_a_device)
{
	struct stat info;

	if (access("/dev/shm", W_OK) != 0)
		cr_skip_test("no /dev/shm");
	snprintf(path, sizeof(path), "/dev/shm/rr-test-files-%d", (int)getpid());
	plant_link();
	cr_assert(rr_files_replace(path, "other", 5, &error), "%s", error.text);
	cr_assert_eq(lstat(path, &info), 0);
	unlink(path);
	cr_assert(S_ISREG(info.st_mode), "the link is still there");
	assert_target_is_as_it_was();
	cr_assert(rr_files_replace(path, "new", 3, &error), "%s", error.text);
	unlink(path);
}

/* As root's --output /dev/stdout must not put a file there. */
Test(files, devices_and_pipes_are_written_to)
{
	char read_back[8] = "";
	struct stat info;
	int reader;

	cr_assert_not(rr_files_replace("/dev/full", "one", 3, &error));
	assert_error("No space left on device");
	cr_assert_eq(symlink("/dev/full", path), 0);
	cr_assert_not(rr_files_replace(path, "one", 3, &error));
	assert_error("No space left on device");
	unlink(path);
	cr_assert_eq(mkfifo(path, 0600), 0);
	reader = open(path, O_RDWR | O_CLOEXEC);
	cr_assert(rr_files_replace(path, "one", 3, &error));
	cr_assert_eq(read(reader, read_back, 3), 3);
	cr_assert_eq(lstat(path, &info), 0);
	cr_assert(S_ISFIFO(info.st_mode));
	cr_assert_lt(rr_csv_open_rows(path, "a,b\n", &error), 0);
	assert_error("is a link or no file");
	close(reader);
}

/* A page is more than a pipe holds: whoever reads it slowly gets all of it. */
Test(files, pipes_are_given_up_when_nobody_reads_what_is_in_them)
{
	static char text[3 * 4096];
	char read_back[4096];
	int reader;

	cr_assert_eq(mkfifo(path, 0600), 0);
	cr_assert_geq(reader = open(path, O_RDWR | O_CLOEXEC), 0);
	cr_assert_geq(fcntl(reader, F_SETPIPE_SZ, 4096), 4096);
	cr_assert_not(rr_files_append(path, text, sizeof(text), &error));
	assert_error("the process that has opened this pipe has read nothing in 5 s");
	if (fork() == 0) {
		for (int i = 0; i < 4; i++) {
			usleep(300000);
			if (read(reader, read_back, sizeof(read_back)) <= 0)
				break;
		}
		_exit(0);
	}
	cr_assert(rr_files_replace(path, text, sizeof(text), &error), "%s", error.text);
	close(reader);
}

/* What is beside it may have a longer name. */
Test(files, a_name_may_be_as_long_as_names_are)
{
	char name[RR_PATH_SIZE];

	snprintf(name, sizeof(name), "%s/%0255d", directory, 7);
	cr_assert(rr_files_replace(name, "one", 3, &error), "%s", error.text);
	snprintf(name, sizeof(name), "%s/%0256d", directory, 7);
	cr_assert_not(rr_files_replace(name, "one", 3, &error));
	assert_error("File name too long");
}

Test(files, a_directory_that_cannot_be_made_is_complained_of)
{
	cr_assert_not(rr_files_make_directory("/proc/nothing/here", &error));
	assert_error("cannot create '/proc/nothing/here'");
	cr_assert_not(rr_files_make_directory("/dev/null", &error));
	assert_error("cannot create '/dev/null'");
}
