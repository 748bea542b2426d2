/* SPDX-License-Identifier: MIT */
#include "rehearse.h"

#include "base/option.h"

enum { KEY_CLIENTS = 0x200, KEY_INCREMENTS, KEY_SCHEDULE, KEY_STOP, KEY_SAVE,
       KEY_INTERACTIVE, KEY_ONE_PROCESS };

static error_t parse_option(int key, char *text, struct argp_state *state)
{
	struct rr_rehearse_options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		*options = (struct rr_rehearse_options){
			.setup = { .n_clients = 2, .increments = 1 },
		};
		return 0;
	case KEY_CLIENTS:
		options->setup.n_clients = (size_t)rr_option_number(
			state, "--clients", text, 1, RR_GUIDED_CLIENTS);
		break;
	case KEY_INCREMENTS:
		options->setup.increments =
			rr_option_number(state, "--increments", text, 1,
					 RR_INCREMENTS_MAX);
		break;
	case KEY_ONE_PROCESS:
		options->setup.one_process = true;
		break;
	case KEY_SCHEDULE:
		options->schedule = text;
		break;
	case KEY_STOP:
		options->stops = true;
		break;
	case KEY_SAVE:
		options->save = text;
		break;
	case KEY_INTERACTIVE:
		options->interactive = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	options->any = true;
	return 0;
}

static const struct argp_option argp_options[] = {
	{ NULL, 0, NULL, 0, "With a strategy:", 1 },
	{ "schedule", KEY_SCHEDULE, "WORDS", 0,
	  "who goes next: A:GET (A's next command, which must be a GET), A, A', A:sleep, tick:10s, crash:A, pause:A:11s, lose-reply:A, restart:n1; the rest is played client after client",
	  1 },
	{ "stop", KEY_STOP, NULL, 0, "end with the schedule", 1 },
	{ "interactive", KEY_INTERACTIVE, NULL, 0,
	  "you say who goes next, key by key", 1 },
	{ "clients", KEY_CLIENTS, "N", 0, "A, B, ... (2)", 1 },
	{ "increments", KEY_INCREMENTS, "N", 0, "of each client (1)", 1 },
	{ "one-process", KEY_ONE_PROCESS, NULL, 0,
	  "clients are threads of one process: they share its mutex and its crash",
	  1 },
	{ "save", KEY_SAVE, "FILE", 0,
	  "write down what happened, for 'redrace play FILE'", 1 },
	{ 0 },
};

const struct argp rr_rehearse_argp = {
	.options = argp_options,
	.parser = parse_option,
};
