/* SPDX-License-Identifier: MIT */
/* What differs among servers, as tables, and all of it as cases. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "explore/explore.h"
#include "versions.h"

enum { CELL_SIZE = 160 };

/* ---- Cells of tables -------------------------------------------------------- */

/* What became of a claim on a server, in a word or two. */
static const char *claim_cell(const struct rr_claim_row *row)
{
	static const char *const others[RR_STANDINGS] = {
		[RR_DIFFERS] = "not as recorded", [RR_NOT_AS_WRITTEN] = "not as recorded",
		[RR_NOT_SHOWN] = "not shown",     [RR_FAILED] = "not checked",
		[RR_OPEN] = "measured",           [RR_SKIPPED] = "skipped",
		[RR_UNFINISHED] = "not checked",
	};

	if (row->standing != RR_STANDS)
		return others[row->standing];
	if (row->recorded == RR_CLAIM_OUTDATED)
		return row->computed == RR_CLAIM_FALSE ? "false by now" : "true, and outdated";
	return row->is_computed ? rr_claim_verdict_name(row->recorded) : "measured";
}

/* What breaks in a cell of the matrix. */
static void matrix_cell(const struct rr_cell *cell, char text[CELL_SIZE])
{
	FILE *out = fmemopen(text, CELL_SIZE, "w");
	const char *between = "";

	text[0] = '\0';
	if (!out)
		return;
	for (int bit = 0; bit < RR_INVARIANTS; bit++) {
		if (cell->verdict != RR_CELL_BREAKS || !(cell->breaks & 1U << bit))
			continue;
		fprintf(out, "%s%s", between, rr_invariant_name(bit));
		between = ", ";
	}
	if (cell->verdict == RR_CELL_SAFE)
		fputs("**safe**", out);
	else if (cell->verdict == RR_CELL_SKIPPED || cell->verdict == RR_CELL_NONE)
		fputs("–", out);
	else if (cell->verdict != RR_CELL_BREAKS)
		fputs("undecided", out);
	fclose(out);
}

static void print_head(const struct rr_versions *versions, const char *first, FILE *file)
{
	fprintf(file, "| %s |", first);
	for (size_t i = 0; i < versions->n; i++)
		fprintf(file, " %s |", versions->all[i].name);
	fputs("\n|---|", file);
	for (size_t i = 0; i < versions->n; i++)
		fputs("---|", file);
	fputc('\n', file);
}

/* ---- Servers ---------------------------------------------------------------- */

/* TX-11d: what a restart leaves of a transaction that a file was torn in. */
static const char *torn_transaction(const struct rr_version *version)
{
	for (size_t i = 0; i < version->rows.n; i++) {
		const struct rr_claim_row *row = &version->rows.rows[i];

		if (strcmp(row->claim->id, "TX-11d") != 0)
			continue;
		if (row->standing != RR_STANDS)
			return claim_cell(row);
		return row->recorded == RR_CLAIM_TRUE ? "is closed" : "stays open in the file";
	}
	return "not checked";
}

static void print_servers(const struct rr_versions *versions, FILE *file)
{
	fputs("\n| server | claims | compares and deletes by itself | a torn transaction |\n"
	      "|---|---|---|---|\n",
	      file);
	for (size_t i = 0; i < versions->n; i++) {
		const struct rr_version *version = &versions->all[i];

		fprintf(file, "| %s | ", version->name);
		rr_claim_rows_summarise(&version->rows, file);
		fprintf(file, " | %s | %s |\n", version->cad, torn_transaction(version));
	}
}

/* ---- Claims ------------------------------------------------------------------ */

static bool claim_differs(const struct rr_versions *versions, size_t row)
{
	const char *first = claim_cell(&versions->all[0].rows.rows[row]);

	for (size_t i = 1; i < versions->n; i++) {
		if (strcmp(first, claim_cell(&versions->all[i].rows.rows[row])))
			return true;
	}
	return false;
}

static void print_claims(const struct rr_versions *versions, FILE *file)
{
	const struct rr_claim_rows *rows = &versions->all[0].rows;
	size_t n = 0;

	for (size_t r = 0; r < rows->n; r++) {
		const struct rr_claim *claim = rows->rows[r].claim;

		if (!claim_differs(versions, r))
			continue;
		if (n++ == 0) {
			fputs("\nClaims whose verdict is not the same everywhere:\n\n", file);
			print_head(versions, "claim", file);
		}
		fprintf(file, "| [%s](claims.md#%s) %s |", claim->id, claim->id, claim->text);
		for (size_t i = 0; i < versions->n; i++)
			fprintf(file, " %s |", claim_cell(&versions->all[i].rows.rows[r]));
		fputc('\n', file);
	}
	fprintf(file, "\nThe verdicts of the other %zu are the same.\n", rows->n - n);
}

/* ---- native-cad --------------------------------------------------------------- */

/* A hazard's row, beneath a head. */
static void print_cells(const struct rr_versions *versions, size_t row, int hazard, FILE *file)
{
	char text[CELL_SIZE];

	for (size_t i = 0; i < versions->n; i++) {
		matrix_cell(rr_matrix_cell(&versions->all[i].matrix, row, hazard), text);
		fprintf(file, " %s |", text);
	}
	fputc('\n', file);
}

static void print_native(const struct rr_versions *versions, FILE *file)
{

	fputs("\nWhat breaks `native-cad`, of all interleavings within the matrix's bounds:\n\n",
	      file);
	print_head(versions, "hazard", file);
	for (int hazard = 0; hazard < RR_HAZARDS; hazard++) {
		fprintf(file, "| %s |", rr_hazard_texts[hazard].name);
		print_cells(versions, 0, hazard, file);
	}
}

/* ---- The other strategies -------------------------------------------------------- */

static bool cell_differs(const struct rr_versions *versions, size_t row, int hazard)
{
	char first[CELL_SIZE], text[CELL_SIZE];

	matrix_cell(rr_matrix_cell(&versions->all[0].matrix, row, hazard), first);
	for (size_t i = 1; i < versions->n; i++) {
		matrix_cell(rr_matrix_cell(&versions->all[i].matrix, row, hazard), text);
		if (strcmp(first, text) != 0)
			return true;
	}
	return false;
}

static size_t print_differing_cells(const struct rr_versions *versions, FILE *file)
{
	size_t n = 0;

	for (size_t row = 1; row < versions->n_searched; row++) {
		for (int hazard = 0; hazard < RR_HAZARDS; hazard++) {
			if (!cell_differs(versions, row, hazard))
				continue;
			if (n++ == 0) {
				fputs("\nCells of the others that are not the same everywhere:\n\n",
				      file);
				print_head(versions, "strategy, hazard", file);
			}
			fprintf(file, "| `%s`, %s |", versions->searched[row]->name,
				rr_hazard_texts[hazard].name);
			print_cells(versions, row, hazard, file);
		}
	}
	return n;
}

static void print_others(const struct rr_versions *versions, FILE *file)
{
	fprintf(file,
		"\nThe whole [safety matrix](matrix.md), all %zu strategies:\n\n"
		"| server | cells |\n|---|---|\n",
		versions->n_searched);
	for (size_t i = 0; i < versions->n; i++) {
		fprintf(file, "| %s | ", versions->all[i].name);
		rr_matrix_summarise(&versions->all[i].matrix, file);
		fputs(" |\n", file);
	}
	if (print_differing_cells(versions, file) == 0)
		fputs("\nThe cells of the other strategies are the same everywhere.\n", file);
}

/* ---- Costs -------------------------------------------------------------------- */

static int compare_numbers(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The middle one of the repeats: of rates, or of rates by those of another. */
static double middle(const double *rates, const double *by)
{
	double sorted[RR_VERSIONS_REPEATS];

	for (int i = 0; i < RR_VERSIONS_REPEATS; i++) {
		if (rates[i] <= 0 || (by && by[i] <= 0))
			return 0;
		sorted[i] = by ? rates[i] / by[i] : rates[i];
	}
	qsort(sorted, RR_VERSIONS_REPEATS, sizeof(sorted[0]), compare_numbers);
	return sorted[RR_VERSIONS_REPEATS / 2];
}

/* Beside the first server that can do it, whose figure is absolute. */
static void print_cost(const struct rr_versions *versions, int s, FILE *file)
{
	char text[RR_GROUPED_SIZE];
	const double *by = NULL;

	fprintf(file, "| `%s` |", rr_versions_timed[s]);
	for (size_t i = 0; i < versions->n; i++) {
		const double *rates = versions->all[i].rates[s];
		const double figure = middle(rates, by);

		if (figure <= 0)
			fputs(" – |", file);
		else if (by)
			fprintf(file, " %.2f |", figure);
		else
			fprintf(file, " %s/s |", rr_grouped(text, (long long)figure));
		if (!by && figure > 0)
			by = rates;
	}
	fputc('\n', file);
}

static void print_costs(const struct rr_versions *versions, FILE *file)
{
	fputs("\nIncrements of one client per second of processor time, server and client together: those of\n"
	      "the first server that can, and how many times as many the others did beside it, the servers\n"
	      "taking turns (the middle one of five ratios):\n\n",
	      file);
	print_head(versions, "strategy", file);
	for (int s = 0; s < RR_VERSIONS_TIMED; s++)
		print_cost(versions, s, file);
}

void rr_versions_print(const struct rr_versions *versions, FILE *file)
{
	print_servers(versions, file);
	print_claims(versions, file);
	print_native(versions, file);
	if (versions->n_searched > 1)
		print_others(versions, file);
	print_costs(versions, file);
}

/* ---- Cases ---------------------------------------------------------------------- */

static void add_claims(struct rr_cases *cases, const struct rr_version *version)
{
	for (size_t i = 0; i < version->rows.n; i++) {
		const struct rr_claim_row *row = &version->rows.rows[i];

		rr_cases_add(cases, &(struct rr_case){ .suite = version->name,
						       .name = row->claim->id,
						       .verdict = rr_case_verdict_of(row->code),
						       .message = row->problem[0] ? row->problem :
										    claim_cell(row),
						       .details = row->observed });
	}
}

static void add_cell(struct rr_cases *cases, const struct rr_version *version,
		     const struct rr_cell *cell)
{
	char name[80], text[CELL_SIZE];

	snprintf(name, sizeof(name), "%s, %s", cell->strategy->name,
		 rr_hazard_texts[cell->hazard].name);
	matrix_cell(cell, text);
	rr_cases_add(cases, &(struct rr_case){ .suite = version->name,
					       .name = name,
					       .verdict = cell->verdict == RR_CELL_SKIPPED ?
								  RR_CASE_SKIPPED :
								  rr_case_verdict_of(cell->code),
					       .seconds = cell->seconds,
					       .message = text });
}

static void add_cells(struct rr_cases *cases, const struct rr_version *version)
{
	for (size_t row = 0; row < version->matrix.n_strategies; row++) {
		for (int hazard = 0; hazard < RR_HAZARDS; hazard++) {
			const struct rr_cell *cell = rr_matrix_cell(&version->matrix, row, hazard);

			if (cell->verdict != RR_CELL_NONE)
				add_cell(cases, version, cell);
		}
	}
}

static json_t *costs_of(const struct rr_version *version)
{
	json_t *costs = json_object();

	for (int s = 0; costs && s < RR_VERSIONS_TIMED; s++)
		json_object_set_new(costs, rr_versions_timed[s],
				    json_real(middle(version->rates[s], NULL)));
	return costs;
}

void rr_versions_as_cases(const struct rr_versions *versions, struct rr_cases *cases)
{
	json_t *servers = json_object();

	rr_cases_init(cases, "redrace versions");
	for (size_t i = 0; i < versions->n; i++) {
		const struct rr_version *version = &versions->all[i];

		add_claims(cases, version);
		add_cells(cases, version);
		json_object_set_new(servers, version->name,
				    json_pack("{s:s, s:s, s:o}", "compare_and_delete", version->cad,
					      "torn_transaction", torn_transaction(version),
					      "increments_per_s", costs_of(version)));
	}
	json_object_set_new(cases->properties, "servers", servers);
}
