/* SPDX-License-Identifier: MIT */
/* The race of a recorder: its headings at the beginning, and its clients at the end. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/memory.h"
#include "recorder.h"

__attribute__((format(printf, 2, 3))) static const char *keepf(struct rr_recorder *recorder,
							       const char *format, ...)
{
	char text[120];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return rr_race_keep(recorder->race, text, strlen(text));
}

void rr_recorder_server_name(char name[RR_SERVER_NAME], const char *data_server, size_t server)
{
	if (server == 0)
		snprintf(name, RR_SERVER_NAME, "%s", data_server);
	else
		snprintf(name, RR_SERVER_NAME, "n%zu", server);
}

/* A request is one client, whether it comes to an app or to the one that is started again. */
static bool add_race_client(struct rr_recorder *recorder, int *client, const char *name)
{
	struct rr_race *race = recorder->race;

	for (*client = 0; (size_t)*client < race->n_clients; (*client)++) {
		if (strcmp(race->clients[*client].name, name) == 0)
			return true;
	}
	if (race->n_clients == RR_RACE_CLIENTS_MAX)
		return false;
	*client = (int)race->n_clients++;
	race->clients[*client] = (struct rr_race_client){ name, *client };
	return true;
}

static bool add_race_clients(struct rr_recorder *recorder, size_t client)
{
	const unsigned connections = recorder->setup.connections[client];
	const size_t first = rr_program_requests_of(recorder->setup.program, client);
	char name[RR_CONNECTION_NAME];
	int *clients = recorder->clients[client];

	for (size_t i = 0; i <= RR_RUN_ORDINALS; i++)
		clients[i] = -1;
	for (size_t i = 0; i < RR_RUN_ORDINALS; i++) {
		rr_program_connection_name(recorder->setup.program, client, i, name);
		if ((i == first || connections >> i & 1) &&
		    !add_race_client(recorder, &clients[i], keepf(recorder, "%s", name)))
			return false;
	}
	return true;
}

/* Late commands come down connections of their own. */
static bool add_late_clients(struct rr_recorder *recorder)
{
	for (size_t i = 0; i < recorder->setup.program->n_clients; i++) {
		if (recorder->setup.is_late[i] &&
		    !add_race_client(recorder, &recorder->clients[i][RR_LATE_CLIENT],
				     keepf(recorder, "%sl",
					   rr_program_client_name(recorder->setup.program, i))))
			return false;
	}
	return true;
}

/* A quorum's lock is held in no single key. Who looks on keeps no eye on one that is
 * handed on either: it changes its holder by its holder's command. */
static void add_keys(struct rr_recorder *recorder)
{
	const struct rr_recorder_setup *setup = &recorder->setup;
	const struct rr_lock *lock;
	struct rr_race *race = recorder->race;
	char counter[RR_KEY_SIZE], key[RR_KEY_SIZE];

	for (size_t i = 0; i < setup->n_given; i++) {
		rr_array_grow(&race->given, race->n_given, sizeof(*race->given));
		race->given[race->n_given] = (struct rr_step){ .kind = RR_STEP_RUN };
		recorder_keep_words(recorder, &race->given[race->n_given++], setup->given[i], NULL);
	}
	for (size_t i = 0; i < setup->n_keys && i < RR_KEYS_SHOWN_MAX; i++)
		race->keys[race->n_keys++] = keepf(recorder, "%s", setup->keys[i]);
	if (!setup->strategy)
		return;
	lock = &setup->strategy->lock;
	rr_keys_counter(counter, "", 0);
	rr_keys_lock(key, "", 0);
	race->counter = keepf(recorder, "%s", counter);
	race->keys[race->n_keys++] = race->counter;
	for (size_t i = 1; setup->is_detailed && i < race->n_servers; i++)
		race->keys[race->n_keys++] = keepf(recorder, "%s@n%zu", key, i);
	if (!setup->strategy->acquire || lock->kind == RR_LOCK_NONE ||
	    lock->kind == RR_LOCK_MUTEX || lock->kind == RR_LOCK_QUORUM)
		return;
	race->keys[race->n_keys++] = keepf(recorder, "%s", key);
	if (setup->is_detailed && lock->kind == RR_LOCK_QUEUE)
		return;
	race->lock = race->keys[race->n_keys - 1];
	race->lock_is_timestamp = lock->kind == RR_LOCK_TIMESTAMP;
	race->lock_is_count = lock->kind == RR_LOCK_COUNTER;
}

static bool add_headings(struct rr_recorder *recorder)
{
	const struct rr_program *program = recorder->setup.program;
	struct rr_race *race = recorder->race;
	bool good = program->n_clients <= RR_RECORDER_CLIENTS &&
		    program->n_servers <= RR_RACE_SERVERS_MAX;

	for (size_t i = 0; good && i < program->n_servers; i++) {
		char name[RR_SERVER_NAME];

		rr_recorder_server_name(name, recorder->setup.data_server, i);
		race->servers[race->n_servers++].name = keepf(recorder, "%s", name);
	}
	for (size_t i = 0; good && i < program->n_clients; i++)
		good = add_race_clients(recorder, i);
	good = good && add_late_clients(recorder);
	if (good)
		add_keys(recorder);
	return good;
}

bool rr_recorder_begin(struct rr_recorder *recorder, const struct rr_recorder_setup *setup)
{
	*recorder = (struct rr_recorder){
		.setup = *setup,
		.race = rr_calloc(1, sizeof(*recorder->race)),
	};
	recorder->race->steps = rr_calloc(RR_STEPS_MAX, sizeof(*recorder->race->steps));
	recorder->race->claims = "";
	recorder->race->path = recorder->race->title = keepf(recorder, "%s", setup->title);
	if (setup->shows)
		recorder->race->shows = keepf(recorder, "%s", setup->shows);
	if (!add_headings(recorder))
		return false;
	recorder->headings = recorder->race->texts;
	return true;
}

void rr_recorder_forget(struct rr_recorder *recorder)
{
	struct rr_race *race = recorder->race;

	rr_race_drop_texts(race, recorder->headings);
	race->n_steps = 0;
	recorder->is_full = false;
	memset(recorder->connections, 0, sizeof(recorder->connections));
	memset(recorder->ahead_ns, 0, sizeof(recorder->ahead_ns));
	memset(recorder->leaves_after, 0, sizeof(recorder->leaves_after));
	memset(recorder->is_dead, 0, sizeof(recorder->is_dead));
	memset(recorder->is_answered, 0, sizeof(recorder->is_answered));
}

/* ---- The end ----------------------------------------------------------------- */

static void remove_race_client(struct rr_race *race, int client)
{
	race->n_clients--;
	memmove(&race->clients[client], &race->clients[client + 1],
		(race->n_clients - (size_t)client) * sizeof(race->clients[0]));
	for (size_t i = 0; i < race->n_clients; i++)
		race->clients[i].connection = (int)i;
	for (size_t i = 0; i < race->n_steps; i++) {
		struct rr_step *step = &race->steps[i];

		if (step->client > client)
			step->client--;
		if (step->peer > client)
			step->peer--;
	}
}

/* From the last to the first, so that the numbers of those before stay. */
void rr_recorder_trim(struct rr_recorder *recorder)
{
	for (size_t i = recorder->setup.program->n_clients; i-- > 0;) {
		for (size_t j = RR_RUN_ORDINALS; j-- > 1;) {
			int *client = &recorder->clients[i][j];

			if (*client < 0 || recorder->is_used[i][j])
				continue;
			remove_race_client(recorder->race, *client);
			*client = -1;
		}
	}
}
