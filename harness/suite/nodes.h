/* SPDX-License-Identifier: MIT */
/* A YAML document of libyaml's, with messages that say where it is wrong. */
#ifndef RR_SUITE_NODES_H
#define RR_SUITE_NODES_H

#include <yaml.h>

#include "base/error.h"

struct rr_yaml {
	const char *path; /* in messages */
	yaml_document_t document;
	const struct rr_suite_command *command;
	struct rr_error *error;
};

/* One document, which is not empty. False: the error says where, and nothing is open; else delete
 * the document. `command`: whose keys they are. */
bool rr_yaml_open(struct rr_yaml *yaml, const char *path, const char *text, size_t size,
		  const struct rr_suite_command *command, struct rr_error *error);

yaml_node_t *rr_yaml_node(struct rr_yaml *yaml, int index);

/* Sets the error, "FILE:LINE:COLUMN: ..."; returns false. */
bool rr_yaml_refuse(const struct rr_yaml *yaml, const yaml_node_t *node, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The text of a scalar; NULL and the error: it is none, or empty. `what` it is the value of. */
char *rr_yaml_text(const struct rr_yaml *yaml, const yaml_node_t *node, const char *what);

/* Are the keys of a mapping texts, and all different? */
bool rr_yaml_check_keys(struct rr_yaml *yaml, const yaml_node_t *mapping);

/* Pairs of one mapping and of those that are merged into it, each key once. */
enum { RR_YAML_PAIRS = 500 };
struct rr_yaml_pairs {
	size_t n;
	int steps; /* pairs that were looked at: merging has an end */
	const yaml_node_pair_t *all[RR_YAML_PAIRS];
};

/* Adds the pairs of a mapping whose keys are not there yet, and then those of mappings that
 * "<<" merges into it. `what` is expected to be a mapping. */
bool rr_yaml_gather(struct rr_yaml *yaml, struct rr_yaml_pairs *pairs, const yaml_node_t *mapping,
		    const char *what);

#endif
