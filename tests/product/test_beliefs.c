/* SPDX-License-Identifier: MIT */
/* The register of a search: what is withdrawn of whom, and when that is forgotten. */
#include <criterion/criterion.h>

#include "product/product.h"

static unsigned bit(enum rr_belief kind)
{
	return 1U << kind;
}

Test(beliefs, what_is_withdrawn_of_one_table_is_not_of_another)
{
	const int a = 0, b = 0;
	struct rr_beliefs beliefs = { 0 };

	cr_assert_eq(rr_beliefs_withdrawn(&beliefs), 0);
	rr_belief_withdraw(&beliefs, RR_BELIEF_HISTORIES, &a);
	rr_belief_withdraw(&beliefs, RR_BELIEF_HISTORIES, &a);
	rr_belief_withdraw(&beliefs, RR_BELIEF_TIMELESS, &b);
	rr_belief_withdraw(&beliefs, RR_BELIEF_NO_DAY, NULL);
	cr_assert_eq(rr_beliefs_withdrawn_of(&beliefs, &a), bit(RR_BELIEF_HISTORIES));
	cr_assert_eq(rr_beliefs_withdrawn_of(&beliefs, &b), bit(RR_BELIEF_TIMELESS));
	cr_assert_eq(rr_beliefs_withdrawn_of(&beliefs, &beliefs), 0);
	cr_assert_eq(rr_beliefs_withdrawn(&beliefs),
		     bit(RR_BELIEF_HISTORIES) | bit(RR_BELIEF_TIMELESS) | bit(RR_BELIEF_NO_DAY));
}

Test(beliefs, a_search_that_begins_gets_all_of_them_once)
{
	const int who = 0;
	struct rr_beliefs beliefs = { 0 };

	rr_belief_withdraw(&beliefs, RR_BELIEF_SHARED, &who);
	cr_assert_eq(rr_beliefs_begin(&beliefs), bit(RR_BELIEF_SHARED));
	cr_assert_eq(rr_beliefs_begin(&beliefs), 0);
	cr_assert_eq(rr_beliefs_withdrawn_of(&beliefs, &who), 0);
}

/* More than a search has: the kind is kept, if not of whom. */
Test(beliefs, a_kind_is_kept_however_many_have_withdrawn_some)
{
	const int who[RR_BELIEVERS_MAX + 1] = { 0 };
	struct rr_beliefs beliefs = { 0 };

	for (int i = 0; i < RR_BELIEVERS_MAX; i++)
		rr_belief_withdraw(&beliefs, RR_BELIEF_HISTORIES, &who[i]);
	rr_belief_withdraw(&beliefs, RR_BELIEF_TIMELESS, &who[RR_BELIEVERS_MAX]);
	cr_assert(rr_beliefs_withdrawn(&beliefs) & bit(RR_BELIEF_TIMELESS));
}

/* An error that is none stopped a table once; now nothing has an error, and the table stops. */
Test(beliefs, who_stops_has_no_error)
{
	struct rr_beliefs beliefs = { 0 };
	const struct rr_program program = { .n_clients = 2, .beliefs = &beliefs };
	struct rr_kept_runs kept = { .most = 1 };
	struct rr_client_table tables[2];

	for (int i = 0; i < 2; i++)
		rr_client_table_init(&tables[i], &program, 1U << i, &kept);
	rr_belief_withdraw(&beliefs, RR_BELIEF_HISTORIES, &tables[0]);
	cr_assert(rr_learning_has_changed(&tables[0]));
	cr_assert_not(rr_client_table_failed(&tables[0]), "it is still tested");
	rr_belief_withdraw(&beliefs, RR_BELIEF_FEW_HISTORIES, &tables[0]);
	cr_assert(rr_client_table_failed(&tables[0]));
	cr_assert_not(rr_client_table_failed(&tables[1]), "another table is not");
	rr_belief_withdraw(&beliefs, RR_BELIEF_PIDS, &program);
	cr_assert(rr_client_table_failed(&tables[1]), "all tables of a program are");
	cr_assert_not(rr_learning_has_changed(&tables[1]));
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(tables[i].error.kind, RR_ERROR_NONE);
		rr_client_table_release(&tables[i]);
	}
}

Test(beliefs, nothing_begins_again_without_a_register)
{
	rr_belief_withdraw(NULL, RR_BELIEF_NO_DAY, NULL);
	cr_assert_eq(rr_beliefs_withdrawn(NULL), 0);
	cr_assert_eq(rr_beliefs_withdrawn_of(NULL, NULL), 0);
}
