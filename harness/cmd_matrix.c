/* SPDX-License-Identifier: MIT */
/* redrace matrix: every strategy under every hazard. */
#include <stdio.h>
#include <stdlib.h>

#include "commands.h"
#include "base/files.h"
#include "matrix/matrix_options.h"

static enum rr_exit write_file(const char *path, rr_matrix_print *print,
			       const struct rr_matrix *matrix)
{
	char *text = NULL;
	size_t length;
	FILE *file = open_memstream(&text, &length);
	enum rr_exit code;

	if (!file)
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	print(matrix, file);
	code = fclose(file) == 0 ?
		       rr_files_replace(path, text, length) :
		       rr_complain(RR_EXIT_INTERNAL, "out of memory");
	free(text);
	return code;
}

static enum rr_exit write_files(const struct rr_matrix_options *options,
				const struct rr_matrix *matrix)
{
	enum rr_exit code = RR_EXIT_OK;

	if (options->save)
		code = rr_matrix_save(matrix, options->save);
	for (size_t i = 0; i < options->n_outputs; i++)
		code = rr_exit_worse(code,
				     write_file(options->outputs[i].path,
						options->outputs[i].print,
						matrix));
	return code;
}

/* One that was called off is shown, and replaces no file. */
static enum rr_exit compute(const struct rr_matrix_options *options,
			    const struct rr_cluster_options *servers,
			    struct rr_signals *signals)
{
	struct rr_matrix matrix;
	enum rr_exit code;

	if (!rr_matrix_init(&matrix, options->strategies,
			    options->n_strategies, options->hazards,
			    options->most))
		return rr_complain(RR_EXIT_INTERNAL, "out of memory");
	code = rr_matrix_run(&matrix, servers, (int)options->jobs, signals);
	options->print(&matrix, stdout);
	if (code != RR_EXIT_INTERRUPTED)
		code = rr_exit_worse(code, write_files(options, &matrix));
	rr_matrix_release(&matrix);
	return code;
}

static enum rr_exit replay(const char *folder,
			   const struct rr_cluster_options *servers)
{
	struct rr_session session;
	struct rr_cluster cluster;
	char error[RR_CLUSTER_ERROR];
	enum rr_exit code = rr_session_open(&session);

	if (code != RR_EXIT_OK)
		return code;
	code = rr_cluster_open(&cluster, &session, servers, error);
	if (code == RR_EXIT_OK)
		code = rr_matrix_replay(folder, &cluster);
	else
		rr_complain(code, "%s", error);
	rr_cluster_close(&cluster);
	rr_session_close(&session);
	return code;
}

enum rr_exit rr_cmd_matrix(int argc, char **argv, struct rr_error *error)
{
	struct rr_matrix_options options;
	struct rr_signals signals;
	enum rr_exit code;

	(void)error;
	rr_matrix_options_parse(&options, argc, argv);
	const struct rr_cluster_options servers = {
		.program = options.redis_server,
		.clock = RR_CLUSTER_FROZEN,
		.cpu = -1,
	};
	if (options.replay)
		return replay(options.replay, &servers);
	if (!rr_signals_open(&signals))
		return rr_complain(RR_EXIT_INTERNAL, "cannot watch signals");
	code = compute(&options, &servers, &signals);
	rr_signals_close(&signals);
	return code;
}
