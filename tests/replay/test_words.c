/* SPDX-License-Identifier: MIT */
/* Transitions in words: what is read is written again, aliases as what they mean. */
#include <criterion/criterion.h>
#include <string.h>

#include "replay/words.h"

static const struct rr_word_names names = { .n_clients = 2, .n_servers = 4 };

static struct rr_word word_of(const char *text)
{
	struct rr_error error = { 0 };
	struct rr_word word;

	cr_assert(rr_word_read(text, &names, &word, &error), "%s: %s", text, error.text);
	return word;
}

Test(words, are_written_as_they_are_read)
{
	static const struct {
		const char *text, *written; /* NULL = the same */
	} words[] = {
		{ "A", NULL },
		{ "A:SET", NULL },
		{ "B.1:SET@n3", NULL },
		{ "A':EVALSHA@data", "A':EVAL@data" },
		{ "A:sleep", NULL },
		{ "lose:A:GET", "lose-reply:A:GET" },
		{ "drop:B.2:GET", NULL },
		{ "late:A:DEL", NULL },
		{ "crash:A", NULL },
		{ "restart:n2", NULL },
		{ "jump:data", NULL },
		{ "wait", "tick" },
		{ "tick:1500ms", NULL },
		{ "tick:2000ms", "tick:2s" },
		{ "pause:A:11s", NULL },
		{ "pause-half", NULL },
		{ "half", NULL },
		{ "whole:3", NULL },
		{ "whole:1", "whole" },
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct rr_word word = word_of(words[i].text);
		char text[RR_WORD_SIZE];

		rr_word_write(&word, &names, text);
		cr_assert_str_eq(text, words[i].written ? words[i].written : words[i].text);
	}
}

/* Every row can be said. */
Test(words, there_is_one_for_each_transition)
{
	for (int i = RR_DO_BEGIN; i < RR_TRANSITIONS; i++) {
		const struct rr_transition_row *row = &rr_transition_rows[i];
		char text[RR_WORD_SIZE];

		snprintf(text, sizeof(text), "%s%s", row->word,
			 row->subject == RR_OF_SERVER ? ":n1" :
			 row->subject == RR_OF_CLIENT ? ":A" :
							"");
		cr_assert_eq((int)word_of(text).kind, i, "%s", text);
	}
}

Test(words, what_is_left_open_means_any)
{
	const struct rr_word get = word_of("A:GET@n1");
	struct rr_word sleep = word_of("B:sleep");

	sleep.kind = RR_DO_GO;
	cr_assert(rr_word_means(&(struct rr_word){ .client = 0, .server = -1 }, &get));
	cr_assert(rr_word_means(&(struct rr_word){ .server = -1, .command = "get" }, &get));
	cr_assert_not(rr_word_means(&(struct rr_word){ .client = 1, .server = -1 }, &get));
	cr_assert_not(rr_word_means(&(struct rr_word){ .connection = 1, .server = -1 }, &get));
	cr_assert_not(rr_word_means(&(struct rr_word){ .server = 2 }, &get));
	cr_assert(rr_word_means(&(struct rr_word){ .client = 1, .server = -1, .command = "go" },
				&sleep));
}

Test(words, what_is_none_is_refused)
{
	static const char *const texts[] = { "",        "C",          "A:",      "A@n1",
					     "A:GET@",  "A:GET@n9",   "crash:C", "restart",
					     "jump:n4", "half:A:GET", "tick:",   "a",
					     "whole:",  "whole:0",    "whole:9", "whole:2x" };

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct rr_error error = { 0 };
		struct rr_word word;

		cr_assert_not(rr_word_read(texts[i], &names, &word, &error), "%s", texts[i]);
		cr_assert(strstr(error.text, "expected"), "%s", error.text);
	}
}
