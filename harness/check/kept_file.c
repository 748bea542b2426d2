/* SPDX-License-Identifier: MIT */
/* What is known of programs, in a file. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "program_run.h"

/* ---- Numbers --------------------------------------------------------------------------- */

static struct rr_table_numbers make_numbers(uint32_t n)
{
	struct rr_table_numbers numbers = { n, rr_malloc((n + 1) * sizeof(*numbers.number)) };

	memset(numbers.number, 0xff, n * sizeof(*numbers.number));
	return numbers;
}

/* In their own order; how many are used. */
static uint32_t count_up(struct rr_table_numbers *numbers)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < numbers->n; i++) {
		if (numbers->number[i] != RR_NO_ID)
			numbers->number[i] = n++;
	}
	return n;
}

static void release_numbers(struct rr_table_file *file)
{
	free(file->commands.number);
	free(file->replies.number);
	free(file->endings.number);
}

/* ---- Writing --------------------------------------------------------------------------- */

static void write_terms(const struct rr_programs *programs, struct rr_table_file *file, FILE *out)
{
	const struct rr_terms *terms = rr_programs_terms(programs);

	rr_bytes_put_number(out, count_up(&file->commands));
	for (uint32_t i = 0; i < file->commands.n; i++) {
		if (file->commands.number[i] != RR_NO_ID)
			rr_command_write(out, &terms->command[i].words);
	}
	rr_bytes_put_number(out, count_up(&file->replies));
	for (uint32_t i = 0; i < file->replies.n; i++) {
		if (file->replies.number[i] != RR_NO_ID)
			rr_reply_write(out, &terms->reply[i].reply);
	}
	rr_bytes_put_number(out, count_up(&file->endings));
	for (uint32_t i = 0; i < file->endings.n; i++) {
		if (file->endings.number[i] != RR_NO_ID)
			rr_ending_write(rr_endings_get(&programs->endings, i), out);
	}
}

static void write_asked(const struct rr_programs *programs, FILE *out)
{
	const struct rr_intern *asked = &programs->kept_file.asked;

	rr_bytes_put_number(out, asked->n);
	for (uint32_t i = 0; i < asked->n; i++) {
		const uint32_t *command = rr_intern_get(asked, i);

		rr_command_write(out, &rr_programs_terms(programs)->command[*command].words);
	}
}

void rr_kept_write(const struct rr_programs *programs, FILE *out)
{
	struct rr_table_file file = {
		make_numbers(rr_programs_terms(programs)->n_commands),
		make_numbers(rr_programs_terms(programs)->n_replies),
		make_numbers(programs->endings.all.n),
	};

	for (size_t i = 0; i < programs->n_lines; i++)
		rr_client_table_use(&programs->lines[i].table, &file);
	rr_bytes_put_number(out, rr_programs_depend_on_scripts(programs));
	rr_bytes_put_number(out, programs->program.loads_scripts);
	rr_bytes_put_number(out, programs->has_own_tables);
	rr_bytes_put_number(out, programs->figures.reads_day);
	rr_bytes_put_number(out, programs->figures.has_uv);
	write_terms(programs, &file, out);
	write_asked(programs, out);
	rr_endings_write_varying(&programs->endings, out);
	rr_tokens_write(&programs->tokens, out);
	for (size_t i = 0; i < programs->config.n_clients; i++)
		rr_bytes_put_number(out, programs->is_verified[i]);
	for (size_t i = 0; i < programs->n_lines; i++) {
		rr_random_values_write(&programs->lines[i].values, out);
		rr_client_table_write(&programs->lines[i].table, &file, out);
	}
	release_numbers(&file);
}

/* ---- Reading --------------------------------------------------------------------------- */

static struct rr_table_numbers take_numbers(struct rr_bytes *bytes)
{
	return make_numbers((uint32_t)rr_bytes_take_count(bytes));
}

static void take_terms(struct rr_programs *programs, struct rr_table_file *file,
		       struct rr_bytes *bytes)
{
	struct rr_terms *terms = rr_programs_terms(programs);

	file->commands = take_numbers(bytes);
	for (uint32_t i = 0; i < file->commands.n && !bytes->is_wrong; i++)
		file->commands.number[i] = rr_terms_read_command(terms, bytes);
	file->replies = take_numbers(bytes);
	for (uint32_t i = 0; i < file->replies.n && !bytes->is_wrong; i++)
		file->replies.number[i] = rr_terms_read_reply(terms, bytes);
	file->endings = take_numbers(bytes);
	for (uint32_t i = 0; i < file->endings.n && !bytes->is_wrong; i++)
		file->endings.number[i] = rr_endings_read(&programs->endings, bytes);
}

/* They are asked again: what servers know for it, they know again. */
static void ask_again(struct rr_programs *programs, struct rr_bytes *bytes)
{
	const struct rr_program *program = programs->instances.program;
	const size_t n = rr_bytes_take_count(bytes);

	for (size_t i = 0; i < n && !bytes->is_wrong; i++) {
		const uint32_t id = rr_terms_read_command(rr_programs_terms(programs), bytes);

		if (!bytes->is_wrong)
			program->ask(program->ask_context, 0,
				     &rr_programs_terms(programs)->command[id].words);
	}
}

bool rr_kept_read(struct rr_programs *programs, struct rr_bytes *bytes)
{
	struct rr_table_file file = { { 0 }, { 0 }, { 0 } };
	const bool depends_on_scripts = rr_bytes_take_number(bytes, 0, 1);
	const bool loads_scripts = rr_bytes_take_number(bytes, 0, 1);
	const bool has_own_tables = rr_bytes_take_number(bytes, 0, 1);

	if (bytes->is_wrong ||
	    (depends_on_scripts && loads_scripts != programs->program.loads_scripts))
		return false;
	programs->has_own_tables = has_own_tables;
	programs->figures.reads_day |= rr_bytes_take_number(bytes, 0, 1);
	programs->figures.has_uv |= rr_bytes_take_number(bytes, 0, 1);
	rr_programs_make_tables_anew(programs);
	take_terms(programs, &file, bytes);
	ask_again(programs, bytes);
	rr_endings_read_varying(&programs->endings, bytes);
	rr_tokens_read(&programs->tokens, bytes);
	for (size_t i = 0; i < programs->config.n_clients; i++)
		programs->is_verified[i] = rr_bytes_take_number(bytes, 0, 1);
	for (size_t i = 0; i < programs->n_lines && !bytes->is_wrong; i++) {
		rr_random_values_read(&programs->lines[i].values, bytes);
		rr_client_table_read(&programs->lines[i].table, &file, bytes);
	}
	bytes->is_wrong |= bytes->at != bytes->end;
	release_numbers(&file);
	return !bytes->is_wrong;
}
