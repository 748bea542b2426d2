/* SPDX-License-Identifier: MIT */
/* Which claims a shard checks. */
#include <stdlib.h>

#include "claims.h"

enum { CLAIM_NAME = RR_CLAIM_CASE + 8 };

/* The claims that are chosen, in the table's order. */
struct claim_list {
	size_t n;
	const struct rr_claim **claims;
	char (*names)[CLAIM_NAME]; /* of their cases */
	const char **list;         /* the same, to be given on */
	int *owners;
};

static bool list_claims(struct claim_list *list, const struct rr_claims_choice *choice)
{
	const struct rr_claim *claim;
	char name[RR_CLAIM_CASE];
	size_t most = 1;

	while (rr_claim_at(most))
		most++;
	*list = (struct claim_list){
		.claims = calloc(most, sizeof(*list->claims)),
		.names = calloc(most, sizeof(*list->names)),
		.list = calloc(most, sizeof(*list->list)),
		.owners = calloc(most, sizeof(*list->owners)),
	};
	if (!list->claims || !list->names || !list->list || !list->owners)
		return false;
	for (size_t i = 0; (claim = rr_claim_at(i)); i++) {
		if (!rr_claims_chosen(choice, claim))
			continue;
		snprintf(list->names[list->n], CLAIM_NAME, "claims %s",
			 rr_claim_case_name(claim, name));
		list->list[list->n] = list->names[list->n];
		list->claims[list->n++] = claim;
	}
	return true;
}

/* But for the claims. */
static void release_list(struct claim_list *list)
{
	free(list->names);
	free(list->list);
	free(list->owners);
}

bool rr_claims_deal(const struct rr_claims_choice *choice, const struct rr_shard *shard,
		    const struct rr_case_times *times, struct rr_claims_choice *own)
{
	struct claim_list list;
	const bool good = list_claims(&list, choice) &&
			  rr_shard_deal(shard, list.list, list.n, times, list.owners);

	*own = (struct rr_claims_choice){ .claims = list.claims };
	for (size_t i = 0; good && i < list.n; i++) {
		if (list.owners[i] == shard->index)
			own->claims[own->n++] = list.claims[i];
	}
	own->is_none = own->n == 0;
	release_list(&list);
	return good;
}

static json_t *options_of_claims(const struct claim_list *list, const struct rr_case_times *times)
{
	json_t *only = json_array();

	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(only, json_string(list->claims[i]->id));
	return json_pack("{s:o, s:s}", "only", only, "times", times->digest);
}

void rr_claims_note_shard(const struct rr_claims_choice *choice, const struct rr_claims_choice *own,
			  const struct rr_shard *shard, const struct rr_case_times *times,
			  struct rr_cases *cases)
{
	struct claim_list list;

	if (list_claims(&list, choice)) {
		for (size_t i = 0; i < list.n; i++)
			list.owners[i] = rr_claims_chosen(own, list.claims[i]) ? shard->index : 0;
		rr_shard_note(cases, shard, options_of_claims(&list, times), list.list, list.n,
			      list.owners);
	} else {
		cases->is_short_of_memory = true;
	}
	release_list(&list);
	free(list.claims);
}
