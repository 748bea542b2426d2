/* SPDX-License-Identifier: MIT */
/* The rule by which the skeptic compares ends (skeptic/end.h), on ends that are made here. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "skeptic/end.h"

static struct rr_terms terms;
static struct rr_program program = { .terms = &terms };
static const char *const names[] = { "A", "B" };
static struct rr_skeptic_config config = {
	.parties = { .n = 2, .n_operations = 2, .names = names, .program = &program }
};
static struct drive drive = { .config = &config, .terms = &terms };
static struct end_tokens tokens;

static struct rdl_reply text_of(const char *text)
{
	return (struct rdl_reply){ .type = RDL_REPLY_STRING, .text = text, .length = strlen(text) };
}

/* A key; its value has so many parts. */
static uint32_t data_of(const char *key, const char *kind, long long left_ms, size_t n,
			const char *const *parts)
{
	struct rdl_reply value[8], of[6], whole;
	struct rdl_reply row = { .type = RDL_REPLY_ARRAY, .length = 6, .elements = of };

	for (size_t i = 0; i < n; i++)
		value[i] = text_of(parts[i]);
	of[0] = of[4] = (struct rdl_reply){ .type = RDL_REPLY_INTEGER };
	of[1] = text_of(key);
	of[2] = (struct rdl_reply){ .type = RDL_REPLY_INTEGER, .integer = left_ms };
	of[3] = text_of(kind);
	of[5] = (struct rdl_reply){ .type = RDL_REPLY_ARRAY, .length = n, .elements = value };
	whole = (struct rdl_reply){ .type = RDL_REPLY_ARRAY, .length = 1, .elements = &row };
	return rr_terms_reply(&terms, &whole);
}

static uint32_t text_data(const char *text)
{
	return data_of("key", "string", -1, 1, &text);
}

/* Both clients have ended well, having printed this. */
static struct end end_of(uint32_t data, const char *a, const char *b)
{
	struct end end = { .ran = 3, .data = data, .n_operations = 2 };

	for (size_t i = 0; i < 2; i++) {
		end.operations[i] = (struct ended){ .has_ended = true,
						    .is_good = true,
						    .has_changed = true,
						    .output = rr_strdup(i ? b : a),
						    .n_output = strlen(i ? b : a) };
	}
	return end;
}

static void note(struct end *end, uint8_t operation, const char *token)
{
	const struct end_token like = { .token = rr_intern_put(&tokens.all, token, strlen(token),
							       NULL),
					.operation = operation,
					.is_left = true,
					.first_sent = 1 };

	rr_intern_put(&end->places, &like.token, sizeof(like.token), NULL);
	end->tokens = rr_realloc(end->tokens, end->n_tokens + 1, sizeof(like));
	end->tokens[end->n_tokens++] = like;
}

static enum end_difference compare(struct end *found, struct end *serial)
{
	char *text = NULL;
	const enum end_difference difference = end_compare(&drive, &tokens, found, serial, &text);

	free(text);
	return difference;
}

static enum end_difference compare_data(uint32_t found, int64_t found_ns, uint32_t serial,
					int64_t serial_ns)
{
	struct end a = end_of(found, "", ""), b = end_of(serial, "", "");
	enum end_difference difference;

	a.moved_ns = found_ns;
	b.moved_ns = serial_ns;
	difference = compare(&a, &b);
	end_release(&a);
	end_release(&b);
	return difference;
}

Test(skeptic_rule, numbers_are_exact)
{
	cr_assert_eq(compare_data(text_data("1900000001"), 0, text_data("1900000001"), 0),
		     END_SAME);
	cr_assert_eq(compare_data(text_data("1900000001"), 0, text_data("1900000002"), 0),
		     END_DIFFERENT);
}

Test(skeptic_rule, times_may_differ_by_what_clocks_have_moved)
{
	const int64_t second = INT64_C(1000000000);

	cr_assert_eq(compare_data(text_data("1900000003"), 3 * second, text_data("1900000001"), 0),
		     END_TIMES);
	cr_assert_eq(compare_data(text_data("1900000009"), 3 * second, text_data("1900000001"), 0),
		     END_DIFFERENT);
	cr_assert_eq(compare_data(text_data("42"), 3 * second, text_data("41"), 0), END_DIFFERENT);
}

Test(skeptic_rule, times_to_live_are_compared)
{
	const char *const value = "1";
	const uint32_t long_one = data_of("key", "string", 5000, 1, &value);
	const uint32_t short_one = data_of("key", "string", 3000, 1, &value);

	cr_assert_eq(compare_data(long_one, 0, short_one, 0), END_DIFFERENT);
	cr_assert_eq(compare_data(long_one, 0, short_one, INT64_C(2000000000)), END_TIMES);
	cr_assert_eq(compare_data(long_one, 0, text_data("1"), 0), END_DIFFERENT);
}

/* The key of data_of(); the caller's to release with the end. */
static void give(struct end *end, uint32_t command, int64_t ms, int64_t left_ms)
{
	const uint32_t key = rr_intern_put(&terms.words, "0 key", 5, NULL);

	end->given = rr_calloc(1, sizeof(*end->given));
	*end->given = (struct given){
		.key = key, .command = command, .ns = ms * 1000000, .left_ns = left_ms * 1000000
	};
	end->n_given = 1;
}

/* A time to live of 9 s, of which 7 s were left when its client had ended, beside another one. */
static enum end_difference compare_given(uint32_t command, int64_t ms, int64_t left_ms)
{
	const char *const value = "1";
	struct end a = end_of(data_of("key", "string", 5000, 1, &value), "", "");
	struct end b = end_of(data_of("key", "string", 3000, 1, &value), "", "");
	enum end_difference difference;

	a.moved_ns = INT64_C(2000000000);
	give(&a, 1, 9000, 7000);
	give(&b, command, ms, left_ms);
	difference = compare(&a, &b);
	end_release(&a);
	end_release(&b);
	return difference;
}

Test(skeptic_rule, times_to_live_that_were_given_alike_differ_by_when)
{
	cr_assert_eq(compare_given(1, 9000, 7000), END_SAME);
	cr_assert_eq(compare_given(1, 8000, 7000), END_TIMES);
	cr_assert_eq(compare_given(2, 9000, 7000), END_TIMES); /* by another command */
	cr_assert_eq(compare_given(1, 9000, 9000), END_TIMES); /* and not refreshed since */
}

Test(skeptic_rule, outputs_are_compared_whole)
{
	struct end a = end_of(text_data("1"), "sold", ""), b = end_of(text_data("1"), "sold", "");

	cr_assert_eq(compare(&a, &b), END_SAME);
	free(b.operations[0].output);
	b.operations[0].output = rr_memdup("sold\0x", 6);
	b.operations[0].n_output = 6;
	cr_assert_eq(compare(&a, &b), END_DIFFERENT);
	end_release(&a);
	end_release(&b);
}

Test(skeptic_rule, a_status_counts_and_a_refused_client_may_be_absent)
{
	struct end a = end_of(text_data("1"), "", ""), b = end_of(text_data("1"), "", "");

	a.operations[1].status = 256;
	a.operations[1].is_good = false;
	cr_assert_eq(compare(&a, &b), END_DIFFERENT);
	b.ran = 1;
	cr_assert_eq(compare(&a, &b), END_DIFFERENT, "it has changed data");
	a.operations[1].has_changed = false;
	a.ran = 3;
	cr_assert_eq(compare(&a, &b), END_SAME);
	end_release(&a);
	end_release(&b);
}

/* Two members whose names are new in each run, and sorted another way. */
Test(skeptic_rule, random_tokens_are_renamed_before_members_are_sorted)
{
	static const char *const one[] = { "job:aaaa1", "job:zzzz1" };
	static const char *const other[] = { "job:bbbb2", "job:yyyy2" };
	struct end a = end_of(data_of("jobs", "set", -1, 2, one), "made aaaa1", "made zzzz1");
	struct end b = end_of(data_of("jobs", "set", -1, 2, other), "made yyyy2", "made bbbb2");

	note(&a, 0, "made");
	note(&a, 0, "job");
	note(&a, 0, "aaaa1");
	note(&a, 1, "zzzz1");
	note(&b, 0, "made");
	note(&b, 0, "job");
	note(&b, 0, "yyyy2");
	note(&b, 1, "bbbb2");
	cr_assert_eq(compare(&a, &b), END_DIFFERENT, "nobody knows yet that they are random");
	end_learn_tokens(&tokens, &a, &b);
	cr_assert_eq(compare(&a, &b), END_SAME);
	/* Both have the same one: no renaming explains that. */
	free(a.operations[1].output);
	a.operations[1].output = rr_strdup("made aaaa1");
	a.operations[1].n_output = strlen("made aaaa1");
	cr_assert_eq(compare(&a, &b), END_DIFFERENT);
	/* A word that is none beside a random one. */
	free(a.operations[1].output);
	a.operations[1].output = rr_strdup("lost zzzz1");
	cr_assert_eq(compare(&a, &b), END_DIFFERENT);
	/* A random value may be any word. */
	free(a.operations[1].output);
	a.operations[1].output = rr_strdup("made job");
	a.operations[1].n_output = strlen("made job");
	cr_assert_eq(compare(&a, &b), END_AMBIGUOUS);
	end_release(&a);
	end_release(&b);
}

Test(skeptic_rule, an_output_of_who_waited_is_named)
{
	struct end a = end_of(text_data("1"), "", "contended");
	struct end b = end_of(text_data("1"), "", "free");
	char *text = NULL;

	cr_assert_eq(compare(&a, &b), END_DIFFERENT);
	a.operations[1].has_waited = true;
	cr_assert_eq(end_compare(&drive, &tokens, &a, &b, &text), END_SAME);
	cr_assert_not_null(text);
	free(text);
	a.operations[1].history = 7; /* it has received something else */
	cr_assert_eq(compare(&a, &b), END_DIFFERENT);
	end_release(&a);
	end_release(&b);
}
