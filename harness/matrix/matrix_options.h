/* SPDX-License-Identifier: MIT */
/* The command line of `redrace matrix`. */
#ifndef RR_MATRIX_OPTIONS_H
#define RR_MATRIX_OPTIONS_H

#include "matrix.h"

enum { RR_MATRIX_STRATEGIES = 64, RR_MATRIX_OUTPUTS = 8 };

typedef void rr_matrix_print(const struct rr_matrix *matrix, FILE *file);

struct rr_matrix_options {
	size_t n_strategies;
	const struct rr_strategy *strategies[RR_MATRIX_STRATEGIES];
	unsigned hazards;
	unsigned long most; /* states of a cell, 0 = as in bounds.h */
	rr_matrix_print *print; /* to standard output */
	size_t n_outputs;
	struct {
		const char *path;
		rr_matrix_print *print;
	} outputs[RR_MATRIX_OUTPUTS];
	const char *save;   /* a folder for transcripts, or NULL */
	const char *replay; /* a folder: plays them and does nothing else */
	long jobs;
	const char *redis_server;
};

/* Ends the program when they are wrong. */
void rr_matrix_options_parse(struct rr_matrix_options *options, int argc,
			     char **argv);

#endif
