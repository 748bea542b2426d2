/* SPDX-License-Identifier: MIT */
/* The commands of one increment, alone, as a driver at the seam sees them. */
#include "../support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
	FILE *file;
	const struct rr_client *client;
};

static const char *place(const struct record *record, const struct rdl_link *link)
{
	static char name[24];

	for (size_t i = 0; i < record->client->n_lock_nodes; i++) {
		if (record->client->lock_nodes[i] == link) {
			snprintf(name, sizeof(name), "%zu", i + 1);
			return name;
		}
	}
	return "data";
}

/* How many of the characters at a word's beginning are of the set. Nothing ends a word but
 * its length: what stands behind it in memory may be of the set, too. */
static size_t span(const struct rdl_word *word, const char *set)
{
	size_t n = 0;

	while (n < word->length && strchr(set, word->text[n]))
		n++;
	return n;
}

/* A word as it is, or what kind of value stands there. */
static void print_word(FILE *file, const struct rdl_word *word)
{
	const bool number = word->length > 8 && span(word, "0123456789") == word->length;
	const bool hex = span(word, "0123456789abcdef") == 40;

	if (word->length == 0)
		fprintf(file, " \"\"");
	else if (number)
		fprintf(file, " TIME");
	else if (hex)
		fprintf(file, " HEX%.*s", (int)word->length - 40, word->text + 40);
	else if (memchr(word->text, ' ', word->length))
		fprintf(file, " SCRIPT");
	else
		fprintf(file, " %.*s", (int)word->length, word->text);
}

static enum rdl_outcome note_send(void *context, struct rdl_link *link, struct rdl_command *command)
{
	const struct record *record = context;

	fprintf(record->file, "  %s>", place(record, link));
	for (size_t i = 0; i < command->n_words; i++)
		print_word(record->file, &command->words[i]);
	fprintf(record->file, "\n");
	return RDL_OK;
}

static void note_mutex(void *context, struct rdl_mutex *mutex, bool take)
{
	const struct record *record = context;

	(void)mutex;
	fprintf(record->file, "  %s\n", take ? "lock" : "unlock");
}

static const struct rdl_driver_ops recorder = { .send = note_send, .mutex = note_mutex };

/* So that a strategy's time-line does not depend on those before it. */
static void forget_data(struct support *support)
{
	struct rdl_link *link = support_link(support, 0);
	struct rdl_reply reply;

	cr_assert_eq(rdl_run(link, &reply, "FLUSHALL"), RDL_OK);
	rdl_link_free(link);
}

/* The second increment, when scripts are known. */
static void record_strategy(struct support *support, const struct rr_strategy *strategy, FILE *file)
{
	struct support_client client;
	struct record record = { file, &client.client };
	const struct rdl_driver driver = { &recorder, &record };

	support_client_open(&client, support, strategy, NULL);
	for (int i = 0; i < 2; i++) {
		for (size_t j = 0; i == 1 && j < client.n_links; j++)
			rdl_link_set_driver(client.links[j], &driver);
		if (strategy->acquire)
			cr_assert_eq(strategy->acquire(&client.client), RDL_OK);
		cr_assert_eq(strategy->increment(&client.client), RDL_OK);
		if (strategy->release)
			cr_assert_eq(strategy->release(&client.client), RDL_OK);
	}
	support_client_close(&client, strategy);
}

Test(timelines, are_as_documented)
{
	char *actual = NULL;
	struct support support;
	size_t size;
	FILE *file = open_memstream(&actual, &size);

	support_open(&support, 6);
	for (size_t i = 0; i < rr_n_strategies; i++) {
		if (support_lacks(&support, rr_strategies[i]))
			continue;
		fprintf(file, "%s\n", rr_strategies[i]->name);
		forget_data(&support);
		record_strategy(&support, rr_strategies[i], file);
	}
	fclose(file);
	support_close(&support);
	support_assert_golden("timelines.txt", actual);
	free(actual);
}
