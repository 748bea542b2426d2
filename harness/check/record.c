/* SPDX-License-Identifier: MIT */
/*
 * The verdict of a check, kept for the next one in a file, together with all that it depends
 * on: redrace, the server, the machine, the options, the environment, and every file that the programs
 * have looked at (party/opened.h). It is used as long as all of that is the same, and is not believed even
 * then: the schedule of a finding is replayed with the real programs and must end in the same finding,
 * and after a yes the skeptic runs serial executions and three schedules. If either differs, the
 * record goes and the check is made from nothing. No byte of a record is sent to a server.
 *
 * Kept are findings, and yeses with which the skeptic agrees. Nothing is kept where it is not known on
 * what the programs depend, and where a file is read and written.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/files.h"
#include "base/machine.h"
#include "base/memory.h"
#include "base/text.h"
#include "party/party.h"
#include "verdict.h"

/* Schedules that the skeptic runs for a yes of a record. */
enum { SCHEDULES_AGAIN = 3 };

/* ---- The file ------------------------------------------------------------------------------- */

/*
 * In a directory that the user names, or in $XDG_CACHE_HOME/redrace or ~/.cache/redrace, one file for
 * each key. A file is replaced as a whole, so that two checks may keep the same at the same time, and only its
 * owner may read it. All files together stay below CACHE_MOST bytes: those go that were not used for
 * longest. What cannot be read or written is not there: nothing depends on it.
 */
enum { CACHE_MOST = 64 * 1024 * 1024, CACHE_FILE_MOST = 16 * 1024 * 1024 };

/* A file is that line, the digest of what comes after it, the key and the content. */
static const char first_line[] = "redrace verdict 1\n";

enum { HEAD = sizeof(first_line) - 1 + sizeof(uint64_t) };

/* The directory of all files; `directory` NULL: the user's. False: HOME is not set. */
static bool cache_directory(const char *directory, char path[RR_PATH_SIZE])
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	int n;

	/* An empty variable is as none; so is a relative path. */
	if (directory)
		n = snprintf(path, RR_PATH_SIZE, "%s%s", directory[0] == '/' ? "" : "./",
			     directory);
	else if (cache && cache[0] == '/')
		n = snprintf(path, RR_PATH_SIZE, "%s/redrace", cache);
	else if (home && home[0] == '/')
		n = snprintf(path, RR_PATH_SIZE, "%s/.cache/redrace", home);
	else
		return false;
	return n < RR_PATH_SIZE;
}

/* Parts of a key. The name of a file has a digest of each, so that one of the same programs is found that
 * is of other options, and then one of the whole. */
enum part { PROGRAMS, OPTIONS, ENVIRONMENT, MACHINE, PARTS };

enum { PART_DIGITS = 8, NAME_SIZE = PARTS * (PART_DIGITS + 1) + 16 + sizeof("/.check") };

/* Makes it, so that only its owner may look into it. False: it cannot be. */
static bool make_cache_directory(const char *directory)
{
	const mode_t before = umask(0077);
	struct rr_error error = { 0 };
	const bool good = rr_files_make_directory(directory, &error);

	umask(before);
	return good;
}

/* A whole file, malloc'd; NULL: there is none. */
static char *read_file(const char *path, size_t *length)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat info;
	char *text = NULL;
	ssize_t n = 0;

	*length = 0;
	if (fd >= 0 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode) &&
	    info.st_size <= CACHE_FILE_MOST) {
		text = rr_malloc((size_t)info.st_size + 1);
		while (*length < (size_t)info.st_size &&
		       (n = read(fd, text + *length, (size_t)info.st_size - *length)) > 0)
			*length += (size_t)n;
	}
	if (fd >= 0)
		close(fd);
	return text;
}

/* What is kept there under that key, malloc'd; *content is a part of it. NULL: nothing. *is_broken:
 * there is a file, but not a whole one. */
static char *read_cache(const char *path, const void *key, size_t length, struct rr_bytes *content,
			bool *is_broken)
{
	size_t n, n_key;
	char *text = read_file(path, &n);
	uint64_t digest = 0;
	const void *its_key;

	if (text && n >= HEAD)
		memcpy(&digest, text + strlen(first_line), sizeof(digest));
	*is_broken = text && (n < HEAD || memcmp(text, first_line, strlen(first_line)) != 0 ||
			      digest != rr_bytes_digest(0, text + HEAD, n - HEAD));
	if (text && !*is_broken) {
		*content = (struct rr_bytes){ (unsigned char *)text + HEAD,
					      (unsigned char *)text + n };
		its_key = rr_bytes_take(content, &n_key);
		if (n_key == length && memcmp(its_key, key, length) == 0)
			return text;
	}
	free(text);
	return NULL;
}

struct kept_file {
	char *path;
	off_t size;
	int64_t used_ns;
};

static int compare_use(const void *a, const void *b)
{
	const int64_t one = ((const struct kept_file *)a)->used_ns;
	const int64_t other = ((const struct kept_file *)b)->used_ns;

	return (one < other) - (one > other);
}

/* Those that were not used for longest go. */
static void make_room(const char *directory)
{
	size_t n = 0, n_files = 0;
	char **names = rr_files_list(directory, ".check", &n);
	struct kept_file *files = rr_calloc(n + 1, sizeof(*files));
	off_t size = 0;

	for (size_t i = 0; i < n; i++) {
		struct kept_file *file = &files[n_files];
		struct stat info;

		file->path = rr_asprintf("%s/%s", directory, names[i]);
		if (lstat(file->path, &info) == 0 && S_ISREG(info.st_mode)) {
			file->size = info.st_size;
			file->used_ns = rr_time_ns(info.st_mtim);
			n_files++;
		} else {
			free(file->path);
		}
	}
	qsort(files, n_files, sizeof(*files), compare_use);
	for (size_t i = 0; i < n_files; i++) {
		size += files[i].size;
		if (size > CACHE_MOST)
			unlink(files[i].path);
		free(files[i].path);
	}
	free(files);
	rr_files_free_list(names, n);
}

/* Keeps it, and makes room. False: it cannot be. */
static bool write_cache(const char *path, const void *key, size_t length, const char *content)
{
	const mode_t before = umask(0077);
	char *directory = rr_strndup(path, (size_t)(strrchr(path, '/') - path));
	struct rr_error error = { 0 };
	struct rr_draft draft;
	uint64_t digest = 0;
	bool good;

	rr_draft_open(&draft);
	fputs(first_line, draft.out);
	fwrite(&digest, sizeof(digest), 1, draft.out);
	rr_bytes_put(draft.out, key, length);
	fputs(content, draft.out);
	fclose(draft.out);
	digest = rr_bytes_digest(0, draft.text + HEAD, draft.length - HEAD);
	memcpy(draft.text + strlen(first_line), &digest, sizeof(digest));
	good = draft.length <= CACHE_FILE_MOST && make_cache_directory(directory) &&
	       rr_files_replace(path, draft.text, draft.length, &error);
	umask(before);
	if (good)
		make_room(directory);
	free(directory);
	free(draft.text);
	return good;
}

/* ---- What a verdict depends on, as far as that is known before programs run -------------------- */

static void put_text(FILE *out, const char *text)
{
	rr_bytes_put(out, text ? text : "", text ? strlen(text) + 1 : 0);
}

/* The programs, by their commands. */
static void put_programs(FILE *out, const struct rr_check_options *options)
{
	for (size_t i = 0; options->command && options->command[i]; i++)
		put_text(out, options->command[i]);
	rr_bytes_put_number(out, (int64_t)options->n_named);
	for (size_t i = 0; i < options->n_named; i++) {
		put_text(out, options->named[i].name);
		put_text(out, options->named[i].shell[2]);
	}
	put_text(out, options->app);
	rr_bytes_put_number(out, (int64_t)options->n_requests);
	for (size_t i = 0; i < options->n_requests; i++) {
		rr_bytes_put_number(out, options->is_line[i]);
		put_text(out, options->requests[i]);
	}
}

/* How they are run, what the data are at first, and what is right. */
static void put_options(FILE *out, const struct rr_check *check)
{
	const struct rr_check_options *options = check->options;
	const struct rr_explore_config *search = &options->search;
	const int64_t numbers[] = {
		options->n_clients,
		options->n_apps,
		options->patience_s,
		options->holds_day,
		options->data_only,
		options->accepts_bounded,
		search->rounds,
		search->ttl_ms,
		(int64_t)search->most,
		(int64_t)search->audit,
		search->compare.is_partial,
		search->shows_all,
		search->compare.restarts,
		search->compare.allows_repeats,
		search->compare.strict_exits,
		options->skeptic,
		options->seed,
		options->fixes_pids,
	};

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		rr_bytes_put_number(out, numbers[i]);
	for (int i = 0; i < RR_BUDGETS; i++)
		rr_bytes_put_number(out, search->budget.of[i]);
	put_text(out, options->ready);
	put_text(out, options->build);
	rr_bytes_put_number(out, (int64_t)options->n_redis_at);
	for (size_t i = 0; i < options->n_redis_at; i++)
		put_text(out, options->redis_at[i]);
	rr_bytes_put_number(out, (int64_t)options->n_outside);
	for (size_t i = 0; i < options->n_outside; i++)
		put_text(out, options->outside[i]);
	put_text(out, options->fresh);
	put_text(out, options->setup);
	put_text(out, check->cookies);
	put_text(out, options->refused);
	put_text(out, options->checker[0] ? options->checker[2] : NULL);
	put_text(out, options->redis_server);
	rr_bytes_put_number(out, (int64_t)options->n_finals);
	for (size_t i = 0; i < options->n_finals; i++) {
		put_text(out, options->finals[i].command);
		put_text(out, options->finals[i].value);
	}
	rr_bytes_put_number(out, (int64_t)search->compare.n_ignored);
	for (size_t i = 0; i < search->compare.n_ignored; i++)
		put_text(out, options->ignored[i]);
	rr_bytes_put_number(out, (int64_t)options->n_allowed);
	for (size_t i = 0; i < options->n_allowed; i++)
		put_text(out, options->allowed[i]);
	rr_bytes_put_number(out, (int64_t)check->given.init.n);
	for (size_t i = 0; i < check->given.init.n; i++) {
		const struct rdl_command *command = &check->given.init.all[i];

		rr_bytes_put_number(out, (int64_t)command->n_words);
		for (size_t j = 0; j < command->n_words; j++)
			rr_bytes_put(out, command->words[j].text, command->words[j].length);
	}
}

/* The file that a process runs. */
static void add_program_of(struct rr_opened *opened, const char *process)
{
	char link[40], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%s/exe", process);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	rr_opened_add(opened, path);
}

/* ---- Using one ------------------------------------------------------------------------------ */

void rr_record_open(struct rr_check *check)
{
	const struct rr_check_options *options = check->options;
	struct rr_record *record = &check->record;
	char path[RR_PATH_SIZE];

	if (options->no_cache) {
		snprintf(record->why, sizeof(record->why), "--no-cache");
	} else if (options->search.schedule || options->game || options->search.dot ||
		   options->search.json) {
		snprintf(record->why, sizeof(record->why),
			 "with --replay, --game or --graph each check is made");
	} else if (!cache_directory(options->cache, path)) {
		snprintf(record->why, sizeof(record->why), "there is no HOME");
	} else {
		/* Before programs list the directory above. */
		record->may_be_kept = make_cache_directory(path);
		if (!record->may_be_kept)
			snprintf(record->why, sizeof(record->why), "%.300s cannot be written",
				 path);
	}
}

static void put_machine(FILE *out, const struct rr_check *check)
{
	struct utsname kernel;
	const mode_t mask = umask(0);
	char directory[PATH_MAX];
	struct rlimit limit;

	umask(mask);
	memset(&kernel, 0, sizeof(kernel));
	uname(&kernel);
	put_text(out, kernel.sysname);
	put_text(out, kernel.release);
	put_text(out, kernel.version);
	put_text(out, kernel.machine);
	rr_bytes_put_number(out, sysconf(_SC_NPROCESSORS_ONLN));
	rr_bytes_put_number(out, rr_placement_count());
	for (int i = 0; i < RLIM_NLIMITS; i++) {
		if (getrlimit((enum __rlimit_resource)i, &limit) == 0) {
			rr_bytes_put_number(out, (int64_t)limit.rlim_cur);
			rr_bytes_put_number(out, (int64_t)limit.rlim_max);
		}
	}
	rr_bytes_put_number(out, mask);
	rr_bytes_put_number(out, getuid());
	rr_bytes_put_number(out, geteuid());
	rr_bytes_put_number(out, getgid());
	rr_bytes_put_number(out, getegid());
	put_text(out, getcwd(directory, sizeof(directory)));
	put_text(out, check->preload);
}

/* Finds the file of the record, after --setup: what that leaves is in its name. */
static void find_record(struct rr_check *check)
{
	struct rr_record *record = &check->record;
	char path[RR_PATH_SIZE], name[NAME_SIZE];
	size_t length = 0;
	struct rr_draft key;

	rr_draft_open(&key);
	for (int i = 0; i < PARTS; i++) {
		const long begun = ftell(key.out);

		switch ((enum part)i) {
		case PROGRAMS:
			put_programs(key.out, check->options);
			break;
		case OPTIONS:
			put_options(key.out, check);
			break;
		case ENVIRONMENT:
			rr_variables_write(key.out, check->left_out);
			break;
		case MACHINE:
		case PARTS:
			put_machine(key.out, check);
			break;
		}
		fflush(key.out);
		length += (size_t)snprintf(
			name + length, sizeof(name) - length, "%0*x-", PART_DIGITS,
			(unsigned)rr_bytes_digest(0, key.text + begun,
						  (size_t)(ftell(key.out) - begun)));
	}
	fclose(key.out);
	record->key = key.text;
	record->n_key = key.length;
	snprintf(name + length, sizeof(name) - length, "%016llx.check",
		 (unsigned long long)rr_bytes_digest(0, record->key, record->n_key));
	if (cache_directory(check->options->cache, path) &&
	    strlen(path) + sizeof(name) < sizeof(path))
		record->path = rr_asprintf("%s/%s", path, name);
}

/* ---- Why there is none that can be used ------------------------------------------------------ */

/* Adds that something changed; `what`: a sentence, about `file` or NULL. */
static void note_change(struct rr_record *record, const char *id, const char *what,
			const char *file)
{
	if (!record->changed)
		record->changed = json_array();
	json_array_append_new(record->changed, json_string(id));
	rr_add_text(record->again, sizeof(record->again), "%s%s changed%s%s",
		    record->again[0] ? ", " : "", what, file ? ": " : "", file ? file : "");
}

/* A verdict of the same programs is there that differs in the fewest parts of its key. */
static void note_nearest(struct rr_record *record)
{
	static const struct {
		const char *id, *what;
	} parts[PARTS] = {
		[OPTIONS] = { "options", "the options" },
		[ENVIRONMENT] = { "environment", "the environment" },
		[MACHINE] = { "machine", "the machine, a limit or the working directory" },
	};
	const char *own = strrchr(record->path, '/') + 1;
	char *directory = rr_strndup(record->path, (size_t)(own - 1 - record->path));
	const size_t size = PART_DIGITS + 1;
	unsigned nearest = 0;
	int fewest = PARTS;
	size_t n = 0;
	char **names = rr_files_list(directory, ".check", &n);

	for (size_t i = 0; i < n; i++) {
		unsigned differing = 0;
		int n_differing = 0;

		for (size_t j = 0; j < PARTS && strlen(names[i]) == strlen(own); j++) {
			const bool is_other = memcmp(names[i] + j * size, own + j * size, size) !=
					      0;

			differing |= (unsigned)is_other << j;
			n_differing += is_other;
		}
		if (differing && !(differing & 1U << PROGRAMS) && n_differing < fewest) {
			nearest = differing;
			fewest = n_differing;
		}
	}
	for (int i = OPTIONS; i < PARTS; i++) {
		if (nearest >> i & 1)
			note_change(record, parts[i].id, parts[i].what, NULL);
	}
	rr_files_free_list(names, n);
	free(directory);
}

/* Is it redrace's own program, or a library of it? */
static bool is_own_file(const struct rr_check *check, const char *path)
{
	char own[PATH_MAX];
	const ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[n > 0 ? n : 0] = '\0';
	return strcmp(path, own) == 0 || strcmp(path, check->preload) == 0 ||
	       strcmp(path, check->node_preload) == 0 || strcmp(path, check->apps.driver) == 0;
}

static void note_changed_file(struct rr_check *check, const char *path)
{
	const char *server = strrchr(check->options->redis_server, '/');
	const char *name = strrchr(path, '/');

	server = server ? server + 1 : check->options->redis_server;
	if (is_own_file(check, path))
		note_change(&check->record, "redrace", "redrace", path);
	else if (name && strcmp(name + 1, server) == 0)
		note_change(&check->record, "server", "the server", path);
	else
		note_change(&check->record, "program", "the program", path);
}

/* The verdict that was kept, of the same files. NULL: there is none. */
static json_t *read_record(struct rr_check *check)
{
	struct rr_record *record = &check->record;
	const char *changed = NULL;
	struct rr_bytes content;
	bool is_broken;
	char *text = read_cache(record->path, record->key, record->n_key, &content, &is_broken);
	json_t *json = text ? json_loadb((const char *)content.at,
					 (size_t)(content.end - content.at), 0, NULL) :
			      NULL;

	if (is_broken || (text && !json))
		snprintf(record->remark, sizeof(record->remark),
			 "The verdict that was kept is broken, and was not used.");
	free(text);
	snprintf(record->why, sizeof(record->why),
		 record->remark[0] ? "the file is broken" : "nothing was kept before");
	record->earlier = record->remark[0] ? "broken" : json ? "changed" : "none";
	if (json && rr_opened_are_same(json_object_get(json, "files"), &changed))
		return json;
	if (changed) {
		snprintf(record->why, sizeof(record->why), "%.300s has changed", changed);
		note_changed_file(check, changed);
	} else if (!json && !record->remark[0]) {
		note_nearest(record);
	}
	json_decref(json);
	return NULL;
}

/* A text without signs that a terminal would obey. NULL: it is none. */
static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	for (const unsigned char *at = (const unsigned char *)text; at && *at; at++) {
		if ((*at < ' ' && *at != '\n') || *at == 0x7f || (*at == 0xc2 && at[1] < 0xa0))
			return NULL;
	}
	return text;
}

static unsigned long number_of(const json_t *object, const char *name)
{
	const json_int_t number = json_integer_value(json_object_get(object, name));

	return number > 0 ? (unsigned long)number : 0;
}

/* Replays the schedule with the real programs. Its steps are names of what the programs do, and chosen
 * among that. False: it does not end in the finding that was kept. */
static bool replay(struct rr_check *check, const json_t *content, struct rr_explore_result *result)
{
	const json_t *counts = json_object_get(content, "counts");
	const char *mend = text_of(content, "mend"), *serial = text_of(content, "serial");
	struct rr_explore_config config = rr_check_search(check);
	json_t *names;
	bool is_same;

	config.schedule = text_of(content, "schedule");
	config.was_verified = true;
	if (!config.schedule || !rr_explore(&check->cluster, &config, result))
		return false;
	check->result = result;
	/* One schedule need not show all that was found. */
	is_same = result->n_findings == 1 && result->found &&
		  result->findings[0].found == number_of(content, "shown");
	result->found = (unsigned)number_of(content, "found");
	names = rr_checked_findings(check, false);
	is_same = is_same && json_equal(names, json_object_get(content, "names"));
	json_decref(names);
	if (!is_same)
		return false;
	result->states = number_of(counts, "states");
	result->transitions = number_of(counts, "transitions");
	result->finals = number_of(counts, "finals");
	result->wrong = number_of(counts, "wrong");
	result->explored = number_of(counts, "is_cut") ? RR_EXPLORED_FOUND : RR_EXPLORED_ALL;
	if (mend && !result->mend)
		result->mend = rr_strdup(mend);
	if (serial && !result->serial)
		result->serial = rr_strdup(serial);
	return true;
}

/* The skeptic looks at a yes again. False: it does not agree. */
static bool ask_skeptic(struct rr_check *check, const json_t *content,
			struct rr_explore_result *result)
{
	if (!text_of(content, "text") || !text_of(content, "verbose") ||
	    !json_is_object(json_object_get(content, "properties")))
		return false;
	*result = (struct rr_explore_result){ .explored = RR_EXPLORED_ALL };
	result->day = (enum rr_explored_day)(number_of(content, "day") % 3);
	check->result = result;
	rr_check_run_skeptic(check, 0, SCHEDULES_AGAIN, 1);
	result->seconds = check->skeptic.seconds;
	if (check->skeptic.verdict != RR_SKEPTIC_AGREES && !check->session.signals.interrupted) {
		/* Which values are random only a second run of a serial execution tells. */
		rr_skeptic_release(&check->skeptic);
		rr_check_run_skeptic(check, 0, SCHEDULES_AGAIN, RR_SKEPTIC_RUNS);
		result->seconds += check->skeptic.seconds;
	}
	/* All that the check had touched was allowed. */
	return check->skeptic.verdict == RR_SKEPTIC_AGREES && !rr_checked_has_outside(check);
}

bool rr_record_use(struct rr_check *check)
{
	struct rr_record *record = &check->record;
	bool holds;

	if (!record->may_be_kept)
		return false;
	find_record(check);
	record->content = record->path ? read_record(check) : NULL;
	if (!record->content)
		return false;
	if (number_of(record->content, "fixes_pids"))
		check->pids = RR_PIDS_FIXED;
	holds = number_of(record->content, "found") ?
			replay(check, record->content, check->explored) :
			ask_skeptic(check, record->content, check->explored);
	if (check->session.signals.interrupted) {
		check->result = check->explored;
		return true;
	}
	record->is_used = holds;
	record->why[0] = '\0';
	record->earlier = holds ? "used" : "refuted";
	if (holds) {
		snprintf(record->remark, sizeof(record->remark),
			 "This is the verdict of an earlier check: nothing that it depends on has "
			 "changed. %s",
			 check->result->found ? "Its schedule was replayed." :
						"The skeptic has looked again.");
		return true;
	}
	unlink(record->path);
	snprintf(
		record->remark, sizeof(record->remark),
		"The programs did not do again what the verdict of an earlier check says, although "
		"no file has changed: the check was made from nothing.");
	json_decref(record->content);
	record->content = NULL;
	check->pids = check->options->fixes_pids ? RR_PIDS_FIXED : RR_PIDS_OF_KERNEL;
	rr_skeptic_release(&check->skeptic);
	rr_explore_release(check->explored);
	check->result = NULL;
	return false;
}

json_t *rr_record_refused(const struct rr_record *record)
{
	json_t *all = record->is_used ? json_object_get(record->content, "refused") : NULL;
	const json_t *refused;
	size_t i;

	json_array_foreach(all, i, refused) {
		if (!text_of(refused, "client") || !text_of(refused, "how") ||
		    !text_of(refused, "last_line"))
			return NULL;
	}
	return json_is_array(all) ? json_deep_copy(all) : NULL;
}

json_t *rr_record_outside(const struct rr_record *record)
{
	json_t *all = record->is_used ? json_object_get(record->content, "outside") : NULL;
	const json_t *thing, *client;
	size_t i, k;

	json_array_foreach(all, i, thing) {
		if (!text_of(thing, "kind") || !text_of(thing, "name"))
			return NULL;
		json_array_foreach(json_object_get(thing, "clients"), k, client) {
			if (!json_is_string(client))
				return NULL;
		}
	}
	return json_is_array(all) ? json_deep_copy(all) : NULL;
}

const char *rr_record_text(const struct rr_record *record, bool is_verbose)
{
	return record->is_used ? text_of(record->content, is_verbose ? "verbose" : "text") : NULL;
}

json_t *rr_record_properties(const struct rr_record *record)
{
	return record->is_used ? json_deep_copy(json_object_get(record->content, "properties")) :
				 NULL;
}

/* ---- Keeping one ---------------------------------------------------------------------------- */

/* Why this verdict is not kept; NULL: it may be. *is_theirs: because of what the programs do. */
static const char *why_not(struct rr_check *check, bool *is_theirs)
{
	const struct rr_explore_result *result = check->result;
	const bool is_yes = !result->found && rr_checked_exit(check) == RR_EXIT_OK;

	*is_theirs = false;
	if (!result->found && !is_yes)
		return "the verdict is inconclusive";
	if (is_yes &&
	    (result->explored != RR_EXPLORED_ALL || check->skeptic.verdict != RR_SKEPTIC_AGREES))
		return "the skeptic was not asked, or does not agree";
	if (result->found && (result->n_findings != 1 || !result->findings[0].words))
		return "there are several findings";
	if (result->found && result->day != RR_DAY_GOES_ON && !check->options->holds_day)
		return "the time of day stood still in the search alone: --hold-clock";
	if (check->n_searches > 1)
		return "the programs take choices at random";
	if (check->unwatched)
		return "the kernel does not say which files the programs look at";
	*is_theirs = true;
	if (rr_programs_figures(check->programs).has_own_clock)
		return "a program is static, or in Go: its clock and its files are its own";
	return check->opened.why[0] ? check->opened.why : NULL;
}

static json_t *finding_as_json(const struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;

	return json_pack("{s:i, s:i, s:s, s:o, s:o, s:s?, s:s?, s:{s:I, s:I, s:I, s:I, s:b}}",
			 "found", (int)result->found, "shown", (int)result->findings[0].found,
			 "schedule", result->findings[0].words, "names",
			 rr_checked_findings(check, false), "refused", rr_checked_refused(check),
			 "mend", result->mend, "serial", result->serial, "counts", "states",
			 (json_int_t)result->states, "transitions", (json_int_t)result->transitions,
			 "finals", (json_int_t)result->finals, "wrong", (json_int_t)result->wrong,
			 "is_cut", result->explored == RR_EXPLORED_FOUND);
}

/* In words for people who want all of them, and for others. */
static json_t *yes_as_json(const struct rr_check *check)
{
	json_t *json = json_pack("{s:i, s:i, s:o}", "found", 0, "day", (int)check->result->day,
				 "properties", rr_checked_properties(check));

	for (int is_verbose = 0; is_verbose < 2; is_verbose++) {
		struct rr_check_options options = *check->options;
		struct rr_check printed = *check;
		json_t *words;
		char *text;
		FILE *out = rr_open_text(&text);

		options.verbose = is_verbose;
		printed.options = &options;
		rr_checked_print_verdict(out, &printed);
		fclose(out);
		words = json_string(text);
		free(text);
		if (!words) {
			json_decref(json);
			return NULL;
		}
		json_object_set_new(json, is_verbose ? "verbose" : "text", words);
	}
	return json;
}

void rr_record_keep(struct rr_check *check)
{
	struct rr_record *record = &check->record;
	bool is_theirs;
	const char *why;
	json_t *content, *files;
	char *text;

	if (!record->path || record->is_used)
		return;
	/* redrace itself, its parts, and the server. */
	char process[20];

	add_program_of(&check->opened, "self");
	rr_opened_add(&check->opened, check->preload);
	rr_opened_add(&check->opened, check->node_preload);
	rr_opened_add(&check->opened, check->apps.driver);
	if (check->cluster.n_servers > 0 && check->cluster.servers[0].process.pid > 0) {
		snprintf(process, sizeof(process), "%d",
			 (int)check->cluster.servers[0].process.pid);
		add_program_of(&check->opened, process);
	}
	why = why_not(check, &is_theirs);
	files = why ? NULL : rr_opened_as_json(&check->opened, check->begun_ns);
	why = why || files ? why : check->opened.why;
	content = why ? NULL : check->result->found ? finding_as_json(check) : yes_as_json(check);
	if (content)
		json_object_set_new(content, "fixes_pids",
				    json_integer(check->pids == RR_PIDS_FIXED));
	if (!why && !content) {
		json_decref(files);
		why = "it is not a text in UTF-8";
	}
	if (why) {
		snprintf(record->why, sizeof(record->why), "%s", why);
		record->is_refused = is_theirs;
		return;
	}
	json_object_set_new(content, "files", files);
	json_object_set_new(content, "outside", rr_checked_outside(check));
	text = json_dumps(content, JSON_INDENT(1) | JSON_SORT_KEYS);
	if (!text || !write_cache(record->path, record->key, record->n_key, text))
		snprintf(record->why, sizeof(record->why), "%.300s cannot be written",
			 record->path);
	else
		record->why[0] = '\0';
	free(text);
	json_decref(content);
}

void rr_record_release(struct rr_record *record)
{
	free(record->path);
	free(record->key);
	json_decref(record->content);
	json_decref(record->changed);
}
