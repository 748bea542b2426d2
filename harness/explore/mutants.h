/* SPDX-License-Identifier: MIT */
/*
 * Mutants of a strategy: one of its commands is left out (answered as if it had
 * succeeded) or weakened. A search that calls a strategy safe has to notice at least
 * one of them; which ones it notices is what the safety rests on.
 */
#ifndef RR_MUTANTS_H
#define RR_MUTANTS_H

#include "explore.h"
#include "product/product.h"

enum rr_mutation_kind {
	RR_MUTANT_SKIP,       /* is not sent */
	RR_MUTANT_NO_NX,      /* sets in any case: SET without NX, SETNX */
	RR_MUTANT_NO_LEASE,   /* SET without PX or EX */
	RR_MUTANT_NO_COMPARE, /* a script's comparison with an argument holds */
	RR_MUTANT_NO_MUTEX,   /* nobody waits for a mutex */
};

struct rr_mutation {
	enum rr_mutation_kind how;
	uint32_t kind;   /* of the commands that it changes, see terms.h */
	uint32_t answer; /* SKIP: the reply */
	struct rr_terms *terms;
	const struct rr_scripts *scripts;
	char script[4096]; /* NO_COMPARE: the one that is sent */
};

/* Of programs only what guards is weakened: what they do without it is learned anew.
 *
 * All of what the clients of a finished search have sent, at most RR_MUTANTS_MAX;
 * the number of them. */
size_t rr_mutants_list(const struct rr_product *product, const struct rr_scripts *scripts,
		       struct rr_mutation *mutations);

/* What it does, and to what. */
void rr_mutant_text(const struct rr_mutation *mutation, struct rr_mutant_result *result);

/* For rr_program: changes the command, or says what it is answered. */
uint32_t rr_mutant_apply(void *mutation, struct rdl_command *command);

#endif
