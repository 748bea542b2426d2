/* SPDX-License-Identifier: MIT */
/*
 * What clients of `check` send. Every prefix of a request that is complete has to
 * be a partial one or one that ends earlier, for bytes come in pieces; and what a
 * request says lies within the bytes that it takes.
 */
#include "base/resp.h"
#include "fuzz.h"

static void check_words(const char *bytes, size_t used, const struct rdl_command *command)
{
	demand(command->n_words > 0 && command->n_words <= RDL_WORDS_MAX);
	for (size_t i = 0; i < command->n_words; i++) {
		const struct rdl_word *word = &command->words[i];

		demand(word->text >= bytes);
		demand(word->length <= used);
		demand(word->text + word->length <= bytes + used);
	}
}

/* The result of a copy that ends where it ends, so that reading on is noticed. */
static enum rr_resp_result parse_exactly(const char *bytes, size_t n, struct rdl_command *command,
					 size_t *used)
{
	char *copy = malloc(n);
	enum rr_resp_result result;

	demand(copy || n == 0);
	if (n > 0)
		memcpy(copy, bytes, n);
	result = rr_resp_parse(copy, n, command, used);
	if (result == RR_RESP_COMPLETE)
		check_words(copy, *used, command);
	free(copy);
	return result;
}

static void check_prefixes(const char *bytes, size_t used)
{
	for (size_t n = 0; n < used && n < 64; n++) {
		struct rdl_command command;
		size_t taken = 0;

		demand(parse_exactly(bytes, n, &command, &taken) == RR_RESP_PARTIAL);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;
	enum rr_resp_result result = RR_RESP_COMPLETE;

	while (size > 0 && (result == RR_RESP_COMPLETE || result == RR_RESP_EMPTY)) {
		struct rdl_command command;
		size_t used = 0;

		result = parse_exactly(bytes, size, &command, &used);
		if (result == RR_RESP_COMPLETE || result == RR_RESP_EMPTY)
			demand(used > 0 && used <= size);
		if (result == RR_RESP_COMPLETE)
			check_prefixes(bytes, used);
		bytes += used;
		size -= used;
	}
	return 0;
}
