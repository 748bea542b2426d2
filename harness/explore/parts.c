/* SPDX-License-Identifier: MIT */
/* The parts of a search that several may share. */
#include "search_inside.h"

bool rr_search_enter_part(struct rr_search *search)
{
	const struct rr_search_config *config = &search->config;

	search->is_in_part = true;
	search->n_parts++;
	return !config->claim ||
	       config->claim(config->context, search->n_parts - 1);
}

unsigned long rr_search_n_parts(const struct rr_search *search)
{
	return search->n_parts;
}
