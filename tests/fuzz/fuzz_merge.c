/* SPDX-License-Identifier: MIT */
/*
 * Results of two shards, as `merge` reads them: two files with a NUL between. What is
 * refused says why in one line; what is accepted becomes a whole that can be written,
 * and ends with a code that is documented.
 */
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/shard.h"
#include "fuzz.h"

static char paths[2][48];

static void remove_files(void)
{
	unlink(paths[0]);
	unlink(paths[1]);
	*strrchr(paths[0], '/') = '\0';
	rmdir(paths[0]);
}

static void make_paths(void)
{
	char directory[] = "/tmp/rr-fuzz-XXXXXX";

	demand(mkdtemp(directory) != NULL);
	snprintf(paths[0], sizeof(paths[0]), "%s/1.json", directory);
	snprintf(paths[1], sizeof(paths[1]), "%s/2.json", directory);
	atexit(remove_files);
}

static void write_file(const char *path, const uint8_t *data, size_t size)
{
	FILE *file = fopen(path, "we");

	demand(file && fwrite(data, 1, size, file) == size);
	demand(fclose(file) == 0);
}

static void demand_text(const struct rr_cases *whole)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);

	demand(out != NULL);
	rr_cases_summarise(whole, out);
	fclose(out);
	demand(size > 0);
	free(text);
	for (size_t i = 0; i < whole->n; i++)
		demand(whole->cases[i].suite && whole->cases[i].name &&
		       whole->cases[i].verdict < RR_CASE_VERDICTS);
}

static void demand_line(const struct rr_error *error)
{
	demand(error->kind && error->text[0] && !strchr(error->text, '\n'));
}

static void merge_files(const char *const *files)
{
	struct rr_error error = { 0 };
	enum rr_exit code = RR_EXIT_OK;
	struct rr_cases whole;

	if (rr_shards_merge(files, 2, &whole, &code, &error)) {
		demand_text(&whole);
		demand(rr_exit_is_known(code));
		rr_cases_release(&whole);
	} else {
		demand_line(&error);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const files[] = { paths[0], paths[1] };
	const uint8_t *end = memchr(data, 0, size);
	const size_t length = end ? (size_t)(end - data) : size;

	if (!paths[0][0])
		make_paths();
	write_file(paths[0], data, length);
	write_file(paths[1], end ? end + 1 : data, end ? size - length - 1 : size);
	merge_files(files);
	return 0;
}
