/* SPDX-License-Identifier: MIT */
/*
 * The parser of races under bytes that nobody would write: `make fuzz`. A race
 * that is refused has to say where and why; one that is accepted has to be one
 * that the player can walk through, and that the writer can say.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "race/race.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(bool holds)
{
	if (!holds)
		abort();
}

static void check_step(const struct rr_race *race, const struct rr_step *step)
{
	size_t length = 0;

	demand(step->client < (int)race->n_clients);
	demand(step->server < (int)race->n_servers);
	demand(step->peer < (int)race->n_clients);
	for (size_t i = 0; i < step->n_words; i++)
		length += step->words[i].length;
	if (step->kind == RR_STEP_RUN || step->kind == RR_STEP_WRITE)
		demand(step->client >= 0 && step->server >= 0 && step->n_words > 0 &&
		       length < SIZE_MAX);
	if (step->kind == RR_STEP_FAULT)
		demand(step->server >= 0 && rr_fault_name(step->fault));
	if (step->kind == RR_STEP_NOTE || step->kind == RR_STEP_LOCK)
		demand(step->text != NULL);
}

static void check(const struct rr_race *race)
{
	bool known;

	demand(race->title && race->claims && race->n_verdicts > 0);
	demand(race->n_steps > 0 && race->n_steps <= RR_STEPS_MAX);
	for (size_t i = 0; i < race->n_steps; i++)
		check_step(race, &race->steps[i]);
	for (size_t i = 0; i < race->n_sayings; i++) {
		const struct rr_saying *saying = &race->sayings[i];

		demand(saying->step < (int)race->n_steps);
		if (saying->step < 0)
			rr_finding_holds(saying->says, 0, &known);
	}
	for (size_t i = 0; i < race->n_verdicts; i++)
		demand(race->verdicts[i] != NULL);
}

static char *write_race(const struct rr_race *race)
{
	char *text = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	demand(file != NULL);
	rr_race_write(file, race);
	demand(fclose(file) == 0);
	return text;
}

/* What is written is a race, and is written the same. */
static void check_writer(const struct rr_race *race)
{
	struct rr_error error = { 0 };
	char *once = write_race(race), *twice;
	struct rr_race *again = rr_race_parse("again.race", once, strlen(once), &error);

	demand(again != NULL);
	twice = write_race(again);
	demand(strcmp(once, twice) == 0);
	free(once);
	free(twice);
	rr_race_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rr_error error = { 0 };
	struct rr_race *race = rr_race_parse("fuzz.race", (const char *)data, size, &error);

	if (race) {
		check(race);
		check_writer(race);
	} else {
		demand(strncmp(error.text, "fuzz.race:", 10) == 0);
	}
	rr_race_free(race);
	return 0;
}
