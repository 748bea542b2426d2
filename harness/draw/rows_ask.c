/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "rows.h"

bool rr_row_sends(const struct rr_row *row)
{
	return row->kind == RR_ROW_MESSAGE &&
	       row->event->step->kind != RR_STEP_READ;
}

int rr_rows_server_of(const struct rr_race *race, const char *key,
		      size_t *length)
{
	const char *at = strrchr(key, '@');

	for (size_t i = 0; at && i < race->n_servers; i++) {
		if (strcmp(at + 1, race->servers[i].name) == 0) {
			*length = (size_t)(at - key);
			return (int)i;
		}
	}
	*length = strlen(key);
	return 0;
}

bool rr_rows_are_complete(const struct rr_trace *trace)
{
	return trace->n_events == trace->race->n_steps &&
	       !trace->events[trace->n_events - 1].differs;
}

bool rr_rows_have_fate(const struct rr_rows *rows, enum rr_fate fate)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->rows[i].fate == fate)
			return true;
	}
	return false;
}

bool rr_rows_have_remarks(const struct rr_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (rows->rows[i].broke || rows->rows[i].why)
			return true;
	}
	return false;
}

size_t rr_rows_number(const struct rr_trace *trace, int step)
{
	const struct rr_step *steps = trace->race->steps;
	size_t number = 0;

	for (int i = 0; i <= step; i++)
		number += steps[i].kind != RR_STEP_NOTE;
	return number;
}
