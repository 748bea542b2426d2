/* SPDX-License-Identifier: MIT */
/*
 * The subcommands. To add one: a file cmd_NAME.c with `rr_cmd_NAME`, a
 * declaration here and a line in main.c's table.
 */
#ifndef RR_COMMANDS_H
#define RR_COMMANDS_H

#include "base/error.h"

/* argv[0] is "redrace NAME". Each returns what the program exits with; an error
 * that it leaves in `error` is printed by main, which adds its exit code. */
enum rr_exit rr_cmd_list(int argc, char **argv, struct rr_error *error);
enum rr_exit rr_cmd_bench(int argc, char **argv, struct rr_error *error);
enum rr_exit rr_cmd_explore(int argc, char **argv, struct rr_error *error);
enum rr_exit rr_cmd_matrix(int argc, char **argv, struct rr_error *error);
enum rr_exit rr_cmd_play(int argc, char **argv, struct rr_error *error);
enum rr_exit rr_cmd_claims(int argc, char **argv, struct rr_error *error);
enum rr_exit rr_cmd_demo(int argc, char **argv, struct rr_error *error);
enum rr_exit rr_cmd_floor(int argc, char **argv, struct rr_error *error);
enum rr_exit rr_cmd_peers(int argc, char **argv, struct rr_error *error);

/* Help pages, printed to stdout. */
void rr_help_list(void);
void rr_help_bench(void);
void rr_help_explore(void);
void rr_help_matrix(void);
void rr_help_play(void);
void rr_help_claims(void);
void rr_help_demo(void);
void rr_help_floor(void);
void rr_help_peers(void);

#endif
