/* SPDX-License-Identifier: MIT */
/* Which cells a shard computes. */
#include <stdlib.h>

#include "cell.h"

enum { CELL_NAME = 120 };

/* As its case is called. */
static void name_of_cell(const struct rr_cell *cell, char name[CELL_NAME])
{
	snprintf(name, CELL_NAME, "matrix.%s %s", cell->strategy->name,
		 rr_hazard_texts[cell->hazard].name);
}

/* Names of cells, for whom all are equal in length. */
struct cell_names {
	size_t n;
	char (*names)[CELL_NAME];
	const char **list; /* the same, to be given on */
	int *owners;
};

static bool init_names(struct cell_names *names, size_t most)
{
	*names = (struct cell_names){
		.names = calloc(most + 1, sizeof(*names->names)),
		.list = calloc(most + 1, sizeof(*names->list)),
		.owners = calloc(most + 1, sizeof(*names->owners)),
	};
	return names->names && names->list && names->owners;
}

static void release_names(struct cell_names *names)
{
	free(names->names);
	free(names->list);
	free(names->owners);
}

static void add_name(struct cell_names *names, const struct rr_cell *cell, int owner)
{
	name_of_cell(cell, names->names[names->n]);
	names->list[names->n] = names->names[names->n];
	names->owners[names->n++] = owner;
}

/* Those that take longest come first, so that each shard gets some of each column
 * where no times are known. */
bool rr_matrix_deal(struct rr_matrix *matrix, const struct rr_shard *shard,
		    const struct rr_case_times *times)
{
	const size_t most = matrix->n_strategies * RR_HAZARDS;
	struct rr_cell **cells = calloc(most + 1, sizeof(struct rr_cell *));
	struct cell_names names;
	bool good = init_names(&names, most) && cells;
	const size_t n = good ? rr_matrix_order(matrix, cells) : 0;

	for (size_t i = 0; i < n; i++)
		add_name(&names, cells[i], 0);
	good = good && rr_shard_deal(shard, names.list, n, times, names.owners);
	for (size_t i = 0; good && i < n; i++) {
		if (names.owners[i] != shard->index)
			cells[i]->verdict = RR_CELL_ELSEWHERE;
	}
	release_names(&names);
	free(cells);
	return good;
}

static json_t *options_of_matrix(const struct rr_matrix *matrix, const struct rr_case_times *times)
{
	json_t *strategies = json_array(), *hazards = json_array();

	for (size_t i = 0; i < matrix->n_strategies; i++)
		json_array_append_new(strategies, json_string(matrix->strategies[i]->name));
	for (int i = rr_matrix_column(matrix, -1); i < RR_HAZARDS; i = rr_matrix_column(matrix, i))
		json_array_append_new(hazards, json_string(rr_hazard_texts[i].name));
	return json_pack("{s:o, s:o, s:I, s:s}", "strategies", strategies, "hazards", hazards,
			 "max_states", (json_int_t)matrix->most, "times", times->digest);
}

void rr_matrix_note_shard(const struct rr_matrix *matrix, const struct rr_shard *shard,
			  const struct rr_case_times *times, const struct rr_error *broken_off,
			  struct rr_cases *cases)
{
	const struct rr_cell *cell = NULL;
	struct cell_names names;

	if (!init_names(&names, matrix->n_strategies * RR_HAZARDS)) {
		cases->is_short_of_memory = true;
		release_names(&names);
		return;
	}
	while ((cell = rr_matrix_next(matrix, cell))) {
		const bool is_own = cell->verdict != RR_CELL_ELSEWHERE;

		if (cell->verdict != RR_CELL_NONE)
			add_name(&names, cell, is_own ? shard->index : 0);
	}
	rr_shard_note(cases, shard, options_of_matrix(matrix, times), names.list, names.n,
		      names.owners);
	rr_shard_note_exit(cases,
			   rr_exit_worse(rr_matrix_exit(matrix), rr_exit_of(broken_off->kind)));
	release_names(&names);
}
