/* SPDX-License-Identifier: MIT */
/* Servers side by side: what is done with each of them. */
#include "versions.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/bench.h"
#include "compare.h"
#include "strategy.h"

enum { INCREMENTS = 3000 };

const char *const rr_versions_timed[RR_VERSIONS_TIMED] = {
	"incr", "lua-incr", "multi-watch", "set-nx-ex", "lua-delifequals", "native-cad",
};

/* ---- Which there are -------------------------------------------------------- */

bool rr_versions_add(struct rr_versions *versions, const char *program, struct rr_error *error)
{
	struct rr_version *version = &versions->all[versions->n];

	if (versions->n == RR_VERSIONS_MAX)
		return rr_error_set(error, RR_ERROR_USAGE, "at most %d servers are compared",
				    RR_VERSIONS_MAX);
	if (strlen(program) >= sizeof(version->program))
		return rr_error_set(error, RR_ERROR_USAGE, "the path of a server is too long");
	*version = (struct rr_version){ .cad = "no" };
	strcpy(version->program, program);
	versions->n++;
	return true;
}

/* The newest of a series has another name besides, which is a link. */
static int is_one_server(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && entry->d_type != DT_LNK;
}

bool rr_versions_add_unpacked(struct rr_versions *versions, struct rr_error *error)
{
	char folder[PATH_MAX - 300], path[PATH_MAX];
	struct dirent **entries = NULL;
	const ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 16);
	bool good = true;
	int n;

	if (length <= 0)
		return true;
	folder[length] = '\0';
	strcpy(strrchr(folder, '/'), "/servers");
	n = scandir(folder, &entries, is_one_server, versionsort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s/redis-server", folder, entries[i]->d_name);
		if (good && access(path, X_OK) == 0)
			good = rr_versions_add(versions, path, error);
		free(entries[i]);
	}
	free(entries);
	return good;
}

static const struct rr_strategy *native_cad(void)
{
	return rr_strategy_find("native-cad");
}

/* ---- Claims and cells ------------------------------------------------------- */

static bool check_claims_of(struct rr_versions *versions, struct rr_version *version, int n_workers,
			    struct rr_signals *signals, struct rr_error *error)
{
	if (!rr_jobs_collect(&version->jobs, version->program, &versions->choice, error))
		return false;
	if (!rr_jobs_run(&version->jobs, n_workers, signals, error))
		return false;
	return rr_judge(&version->rows, &version->jobs, &versions->choice) ||
	       rr_error_no_memory(error);
}

static bool choose_strategies(struct rr_versions *versions, struct rr_error *error)
{
	versions->searched = calloc(rr_n_strategies, sizeof(*versions->searched));
	if (!versions->searched)
		return rr_error_no_memory(error);
	versions->searched[versions->n_searched++] = native_cad();
	for (size_t i = 0; versions->all_strategies && i < rr_n_strategies; i++) {
		if (rr_strategies[i] != native_cad())
			versions->searched[versions->n_searched++] = rr_strategies[i];
	}
	return true;
}

static bool search_cells_of(const struct rr_versions *versions, struct rr_version *version,
			    int n_workers, struct rr_signals *signals, struct rr_error *error)
{
	const struct rr_cluster_options servers = {
		.program = version->program,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};

	if (!rr_matrix_init(&version->matrix, versions->searched, versions->n_searched,
			    (unsigned)RR_ALL_HAZARDS, 0))
		return rr_error_no_memory(error);
	return rr_matrix_run(&version->matrix, &servers, n_workers, signals, error);
}

/* ---- Costs ------------------------------------------------------------------ */

/* Where one is timed. */
struct place {
	struct rr_cluster cluster;
	bool is_open;
};

static void find_means(struct rr_version *version, struct rl_link *link)
{
	enum rl_release_method method;

	rl_link_learn_release(link);
	method = rl_link_release_method(link);
	if (method == RL_RELEASE_DELEX || method == RL_RELEASE_DELIFEQ)
		snprintf(version->cad, sizeof(version->cad), "%s", rl_release_method_name(method));
	else if (!native_cad()->lacks(link, "spare"))
		snprintf(version->cad, sizeof(version->cad), "SET ... IFEQ");
}

static bool open_place(struct place *place, struct rr_version *version, struct rr_session *session,
		       struct rr_error *error)
{
	const struct rr_cluster_options options = {
		.program = version->program,
		.clock = RR_CLUSTER_REAL,
		.cpu = -1,
	};
	struct rl_link *link;

	if (!rr_cluster_open(&place->cluster, session, &options, error))
		return false;
	place->is_open = true;
	if (!rr_cluster_need(&place->cluster, 1, error))
		return false;
	link = rl_link_new(rr_cluster_address(&place->cluster, 0), 2000);
	if (!link)
		return rr_error_no_memory(error);
	find_means(version, link);
	rl_link_free(link);
	return true;
}

/* Of the processor's time, for the clock's is shared with whatever else runs. */
static double increments_per_cpu_s(const struct rr_measurement *measurement)
{
	const int64_t ns = measurement->client_user_ns + measurement->client_sys_ns +
			   measurement->server_cpu_ns;

	return ns > 0 ? (double)measurement->ok * 1e9 / (double)ns : 0;
}

/* False: called off, or the server is gone. */
static bool time_strategy(const struct place *place, struct rr_session *session,
			  const struct rr_strategy *strategy, double *rate, struct rr_error *error)
{
	const struct rr_run run = {
		.strategy = strategy,
		.cluster = &place->cluster,
		.prefix = session->prefix,
		.threads = 1, /* refused clients would be a matter of luck */
		.processes = 1,
		.increments = INCREMENTS,
		.warmup = INCREMENTS / 10,
		.keys = 1,
		.ttl_ms = 10000,
		.seed = 1,
	};
	struct rr_measurement measurement;

	*rate = 0;
	if (!rr_bench_run(&run, &session->signals, NULL, &measurement, NULL, error))
		return rr_error_set_aside(error, RR_ERROR_SKIPPED);
	*rate = increments_per_cpu_s(&measurement);
	return true;
}

/* A strategy that this server lacks commands for has no rate. */
static bool is_timed(const struct rr_version *version, const struct rr_strategy *strategy)
{
	return strategy != native_cad() || strcmp(version->cad, "no") != 0;
}

/* One strategy once on each server. */
static bool time_turn(struct rr_versions *versions, const struct place *places,
		      struct rr_session *session, int s, int repeat, struct rr_error *error)
{
	const struct rr_strategy *strategy = rr_strategy_find(rr_versions_timed[s]);

	for (size_t i = 0; i < versions->n; i++) {
		struct rr_version *version = &versions->all[i];

		if (is_timed(version, strategy) &&
		    !time_strategy(&places[i], session, strategy, &version->rates[s][repeat],
				   error))
			return false;
	}
	return true;
}

/* The servers take turns, so that what else the machine does meets all. */
static bool time_all(struct rr_versions *versions, struct place *places, struct rr_session *session,
		     struct rr_error *error)
{
	for (int repeat = 0; repeat < RR_VERSIONS_REPEATS; repeat++) {
		for (int s = 0; s < RR_VERSIONS_TIMED; s++) {
			if (!time_turn(versions, places, session, s, repeat, error))
				return false;
		}
	}
	return true;
}

static bool measure_costs(struct rr_versions *versions, struct rr_error *error)
{
	struct place *places = calloc(versions->n, sizeof(*places));
	struct rr_session session;
	bool good;

	if (!places)
		return rr_error_no_memory(error);
	good = rr_session_open(&session, error);
	for (size_t i = 0; good && i < versions->n; i++)
		good = open_place(&places[i], &versions->all[i], &session, error);
	good = good && time_all(versions, places, &session, error);
	for (size_t i = 0; i < versions->n; i++) {
		if (places[i].is_open)
			rr_cluster_close(&places[i].cluster);
	}
	rr_session_close(&session);
	free(places);
	return good;
}

/* ---- The whole -------------------------------------------------------------- */

static bool search_all_servers(struct rr_versions *versions, int n_workers, struct rr_error *error)
{
	struct rr_signals signals;
	bool good = true;

	if (!rr_signals_open(&signals))
		return rr_error_set(error, RR_ERROR_INTERNAL, "cannot watch signals");
	for (size_t i = 0; good && i < versions->n; i++) {
		struct rr_version *version = &versions->all[i];

		good = check_claims_of(versions, version, n_workers, &signals, error) &&
		       search_cells_of(versions, version, n_workers, &signals, error);
		memcpy(version->name, version->jobs.version, sizeof(version->name));
		if (good && !version->name[0])
			good = rr_error_set(error, RR_ERROR_REDIS, "cannot start '%.200s'",
					    version->program);
	}
	rr_signals_close(&signals);
	return good;
}

bool rr_versions_run(struct rr_versions *versions, int n_workers, struct rr_error *error)
{
	return choose_strategies(versions, error) &&
	       search_all_servers(versions, n_workers, error) && measure_costs(versions, error);
}

void rr_versions_free(struct rr_versions *versions)
{
	for (size_t i = 0; i < versions->n; i++) {
		rr_claim_rows_free(&versions->all[i].rows);
		rr_matrix_release(&versions->all[i].matrix);
		rr_jobs_free(&versions->all[i].jobs);
	}
	free(versions->searched);
	free(versions->choice.claims);
}

enum rr_exit rr_versions_exit(const struct rr_versions *versions)
{
	enum rr_exit code = RR_EXIT_OK;

	for (size_t i = 0; i < versions->n; i++) {
		const struct rr_version *version = &versions->all[i];
		const enum rr_exit cells = rr_matrix_exit(&version->matrix);

		code = rr_exit_worse(code, rr_claim_rows_exit(&version->rows));
		if (cells != RR_EXIT_SKIPPED)
			code = rr_exit_worse(code, cells);
	}
	return code;
}
