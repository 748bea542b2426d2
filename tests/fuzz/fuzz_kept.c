/* SPDX-License-Identifier: MIT */
/*
 * What redrace check has kept of programs, without the digest of the file. Whatever is not
 * refused can be walked through, written and read again, and is the same then.
 */
#include "check/program_run.h"
#include "fuzz.h"

static const char *const argv[] = { "true", NULL };

static uint32_t ask(void *context, int server, const struct rl_command *command)
{
	(void)server;
	(void)command;
	return rr_terms_reply(context, &(struct rl_reply){ .type = RL_REPLY_NIL });
}

static struct rr_programs *open_programs(struct rr_program *program, struct rr_terms *terms)
{
	const struct rr_programs_config config = {
		.n_clients = 2,
		.argv = { argv, argv },
		.names = { "A", "B" },
	};
	struct rr_programs *programs = rr_programs_new(&config);

	*program = (struct rr_program){
		.n_clients = 2, .n_servers = 1, .terms = terms, .ask = ask, .ask_context = terms
	};
	rr_programs_init(programs, program);
	return programs;
}

/* Each state is behind the one that it comes from, which has not ended. */
static void walk_through(const struct rr_client_table *table)
{
	demand(table->n_states > 0 && table->states[0].parent == RR_NO_ID);
	for (uint32_t i = 1; i < table->n_states; i++) {
		const struct rr_client_state *state = &table->states[i];
		const struct rr_client_state *parent = &table->states[state->parent];

		demand(state->parent < i && !parent->has_ended);
		demand(state->depth == parent->depth + 1);
		demand(state->input.thread < parent->n_threads);
		demand(table->row[state->row].to == i);
	}
}

static char *write_programs(const struct rr_programs *programs, size_t *size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, size);

	demand(out != NULL);
	rr_kept_write(programs, out);
	fclose(out);
	return text;
}

static bool read_programs(struct rr_programs *programs, const void *data, size_t size)
{
	struct rr_bytes bytes = { data, (const unsigned char *)data + size, false };
	const bool good = rr_kept_read(programs, &bytes);

	for (size_t i = 0; good && i < programs->n_lines; i++)
		walk_through(&programs->lines[i].table);
	return good;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_terms terms[2] = { { .n_names = 0 } };
	struct rr_program program[2];
	struct rr_programs *programs = open_programs(&program[0], &terms[0]), *again;
	char *text, *other;
	size_t length, n_other;

	if (read_programs(programs, data, size)) {
		text = write_programs(programs, &length);
		again = open_programs(&program[1], &terms[1]);
		demand(read_programs(again, text, length));
		other = write_programs(again, &n_other);
		demand(n_other == length && memcmp(text, other, length) == 0);
		free(text);
		free(other);
		rr_programs_free(again);
		rr_terms_release(&terms[1]);
	}
	rr_programs_free(programs);
	rr_terms_release(&terms[0]);
	return 0;
}
