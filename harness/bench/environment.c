/* SPDX-License-Identifier: MIT */
/* env.json: what a result was measured with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/memory.h"
#include "results.h"
#include "version.h"

/* The first line of a file, or what follows `field` and a colon in it. */
static json_t *json_of_line(const char *path, const char *field)
{
	FILE *file = fopen(path, "re");
	char line[512];
	json_t *found = NULL;

	while (file && !found && fgets(line, sizeof(line), file)) {
		const char *from = line;

		line[strcspn(line, "\n")] = '\0';
		if (field && strncmp(line, field, strlen(field)) != 0)
			continue;
		if (field && strchr(line, ':'))
			from = strchr(line, ':') + 1;
		found = json_string(from + strspn(from, " \t"));
	}
	if (file)
		fclose(file);
	return found ? found : json_null();
}

static json_t *json_of_info(const char *info, const char *field)
{
	const char *found = info ? strstr(info, field) : NULL;

	if (!found)
		return json_null();
	found += strlen(field);
	return json_stringn(found, strcspn(found, "\r\n"));
}

static json_t *json_of_server(const struct rr_cluster *cluster)
{
	struct rdl_link *link = rdl_link_new(rr_cluster_address(cluster, 0), RR_TIMEOUT_MS);
	struct rdl_reply reply = { .type = RDL_REPLY_NIL };
	json_t *object;

	if (link)
		rdl_run(link, &reply, "INFO server");
	object = json_pack("{s:o, s:o, s:o, s:o, s:o, s:b, s:i}", "redis_version",
			   json_of_info(reply.text, "redis_version:"), "server_name",
			   json_of_info(reply.text, "server_name:"), "valkey_version",
			   json_of_info(reply.text, "valkey_version:"), "build_id",
			   json_of_info(reply.text, "redis_build_id:"), "multiplexing",
			   json_of_info(reply.text, "multiplexing_api:"), "private",
			   cluster->is_private, "servers", (int)cluster->n_servers);
	rdl_link_free(link);
	return object;
}

/* A number that is the same whenever this machine is measured, and tells nothing else of it: its id
 * (machine-id(5)) must not be published. FNV-1a. */
static json_t *json_of_identity(void)
{
	FILE *file = fopen("/etc/machine-id", "re");
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	char id[64] = "redrace", text[24];
	const bool is_known = file && fgets(id + 7, sizeof(id) - 7, file) && id[7] != '\n';

	if (file)
		fclose(file);
	if (!is_known)
		return json_null();
	for (const char *c = id; *c && *c != '\n'; c++)
		hash = (hash ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)hash);
	return json_string(text);
}

/* What this machine does not tell is null. */
static json_t *json_of_machine(void)
{
	struct utsname name;

	uname(&name);
	return json_pack(
		"{s:o, s:o, s:i, s:i, s:o, s:s, s:s, s:o}", "id", json_of_identity(), "cpu",
		json_of_line("/proc/cpuinfo", "model name"), "cores",
		(int)sysconf(_SC_NPROCESSORS_ONLN), "cores_allowed", rr_placement_count(),
		"governor",
		json_of_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", NULL),
		"kernel", name.release, "architecture", name.machine, "clock_source",
		json_of_line("/sys/devices/system/clocksource/clocksource0/current_clocksource",
			     NULL));
}

/* Text as JSON, whatever bytes it is made of: what is no UTF-8 becomes '?'. */
static json_t *json_of_text(const char *text)
{
	json_t *value = json_string(text);
	char *plain = value || !text ? NULL : rr_strdup(text);

	if (!plain)
		return value ? value : json_null();
	for (char *c = plain; *c; c++) {
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	}
	value = json_string(plain);
	free(plain);
	return value;
}

static bool write_environment(const struct rr_results *results, struct rr_error *error)
{
	struct rr_draft draft;

	rr_draft_open(&draft);
	json_dumpf(results->environment, draft.out, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	return rr_results_replace(results, "env.json", &draft, error);
}

bool rr_results_environment(struct rr_results *results, const struct rr_cluster *cluster,
			    const char *command_line, struct rr_error *error)
{
	const struct rr_bench_options *options = results->options;
	json_t *settings = json_pack(
		"{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:s, s:s}", "processes",
		(json_int_t)options->processes, "increments", (json_int_t)options->increments,
		"repeats", (json_int_t)options->repeats, "warmup", (json_int_t)options->warmup,
		"seed", (json_int_t)options->seed, "ttl_ms", (json_int_t)options->ttl_ms, "hold_us",
		(json_int_t)options->hold_us, "keys", (json_int_t)options->keys, "dead_holder",
		options->dead_holder, "persistence",
		options->n_redis ? "own" : rr_persistence_names[options->persistence], "placement",
		results->placement);
	json_t *build = json_pack("{s:s, s:s, s:b, s:s, s:s, s:s}", "version", RR_VERSION, "commit",
				  RR_COMMIT, "dirty", RR_DIRTY, "compiler", __VERSION__, "flags",
				  RR_FLAGS, "hiredis", RR_HIREDIS);
	json_t *root = json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "run_id", results->run_id,
				 "command_line", json_of_text(command_line), "settings", settings,
				 "server", json_of_server(cluster), "machine", json_of_machine(),
				 "build", build);

	results->environment = root;
	return write_environment(results, error);
}

bool rr_results_disturbance(struct rr_results *results, struct rr_error *error)
{
	json_object_set_new(results->environment, "disturbance",
			    rr_disturbance_as_json(&results->disturbance));
	return write_environment(results, error);
}
