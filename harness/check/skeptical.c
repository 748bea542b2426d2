/* SPDX-License-Identifier: MIT */
/* What the skeptic (skeptic/skeptic.h) needs of a check: its programs as they are, without any
 * renaming; and what becomes of its verdict. */
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "client/client.h"
#include "verdict.h"

enum { STEPS_SHOWN = 60 };

const char *const rr_check_skeptic_modes[] = {
	[RR_SKEPTIC_REPORTS] = "report",
	[RR_SKEPTIC_IS_OFF] = "off",
	[RR_SKEPTIC_JUDGES] = "judge",
};

/* ---- Programs as parties ------------------------------------------------------------------ */

struct parties {
	const struct rr_programs_config *config;
	struct rr_instance_config instances;
	struct rr_program program;
	struct rr_terms terms;
	struct rr_instance_times times;
	struct rr_endings endings;
	struct rr_ahead ahead;
};

static void *begin_party(void *context, size_t party, uint64_t world, struct rr_error *error)
{
	struct parties *parties = context;
	const uint64_t seed = rr_ahead_seed(&parties->ahead, party);

	parties->instances.n_starts++;
	return world ? rr_ahead_start_other(&parties->ahead, party, seed + world, 0, error) :
		       rr_ahead_start(&parties->ahead, party, error);
}

static bool begin_together(void *context, struct rr_error *error)
{
	struct parties *parties = context;

	return rr_fresh_begin_together(parties->instances.process.fresh, error);
}

static bool feed_party(void *party, const struct rr_input *input, uint8_t lane, int64_t passed_ns,
		       struct rr_error *error)
{
	return rr_instance_feed(party, input, lane, passed_ns, error);
}

static struct rr_run_view view_party(void *party)
{
	return rr_instance_view(party);
}

static void end_party(void *party)
{
	rr_instance_free(party);
}

/* Its own clock without what redrace has told it. */
static int64_t slept_of_party(void *party)
{
	const struct rr_instance *instance = party;
	const struct rr_program_page *page = instance->process->clock.page;

	return atomic_load(&page->passed_ns) - atomic_load(&page->told_ns);
}

static struct rr_skeptic_answer answer_of_request(struct parties *parties, struct rr_ending ended,
						  size_t request)
{
	const struct rr_programs_config *config = parties->config;
	const struct rr_ending whole = { .output = ended.output, .length = ended.length };
	const uint32_t ending = rr_endings_put(&parties->endings, whole);
	const long number = rr_answers_get(&parties->endings, ending,
					   config->requests.places[request].lane);
	struct rr_ending answer;

	if (number < 0)
		return (struct rr_skeptic_answer){ .text = "" };
	answer = rr_endings_get(&parties->endings, (uint32_t)number);
	return (struct rr_skeptic_answer){
		.has_ended = true,
		.status = answer.status,
		.http = answer.http,
		.is_good = rr_answers_judge(&parties->endings, number, parties->instances.refused)
				   .is_good,
		.is_declared = answer.status == 0 ||
			       rr_ending_is_declared(parties->instances.refused, answer),
		.text = answer.output,
		.length = answer.length,
	};
}

static struct rr_skeptic_answer answer_of_party(void *context, void *party, size_t operation)
{
	struct parties *parties = context;
	const struct rr_instance *instance = party;
	const struct rr_ending ending = rr_instance_ending(instance);
	const bool is_declared = rr_ending_is_declared(parties->instances.refused, ending);

	if (operation < parties->config->requests.n)
		return answer_of_request(parties, ending, operation);
	return (struct rr_skeptic_answer){
		.has_ended = instance->process->has_ended,
		.status = ending.status,
		.is_good = ending.status == 0 && !is_declared,
		.is_declared = is_declared,
		.text = ending.output,
		.length = ending.length,
	};
}

/* ---- Asking it ------------------------------------------------------------------------------- */

void rr_check_run_skeptic(struct rr_check *check, double seconds, size_t most, int serial_runs)
{
	const struct rr_check_options *options = check->options;
	struct parties parties;
	struct rr_skeptic_config config = {
		.cluster = &check->cluster,
		.given = check->given.init,
		.ignored = options->ignored,
		.n_ignored = options->search.compare.n_ignored,
		.allowed = options->allowed,
		.n_allowed = options->n_allowed,
		.data_only = options->data_only,
		.strict_exits = options->search.compare.strict_exits,
		.seconds = seconds,
		.most_schedules = most,
		.serial_runs = serial_runs,
		.most_seconds = (double)(check->progress.until_ns - rr_clock_ns()) / 1e9,
		.signals = &check->session.signals,
		.seed = 1,
	};

	for (int i = 0; i < RR_BUDGETS; i++)
		config.has_faults |= options->search.budget.of[i] > 0;
	const struct rr_programs_config *clients = &check->programs->config;

	parties = (struct parties){ .config = clients, .instances = rr_check_instances(check) };
	parties.program = (struct rr_program){ .n_clients = clients->n_clients,
					       .n_servers = 1,
					       .requests = clients->requests,
					       .names = check->options->app ? check->apps.name_of :
									      check->names,
					       .run_ops = &rr_program_run_ops };
	parties.program.requests.again =
		NULL; /* an app that is started again is an app as any other */
	parties.instances.refused = check->options->refused;
	parties.instances.process.is_unbuffered = true;
	parties.instances.process.touched = &check->touched;
	parties.instances.process.runs_together = true;
	parties.instances.process.holds_day |= check->result->day != RR_DAY_GOES_ON;
	parties.instances.times = &parties.times;
	parties.instances.endings = &parties.endings;
	parties.instances.apps = clients->instances.apps;
	rr_ahead_init(&parties.ahead, clients, &parties.instances, RR_AHEAD_MAX);
	config.parties = (struct rr_skeptic_parties){
		.context = &parties,
		.n_operations = check->n_operations,
		.names = check->names,
		.together = parties.instances.process.fresh ? begin_together : NULL,
		.begin = begin_party,
		.feed = feed_party,
		.end = end_party,
		.view = view_party,
		.answer = answer_of_party,
		.slept_ns = slept_of_party,
	};
	/* One that takes another's place after a crash never begins. */
	for (size_t i = 0; i < clients->n_clients; i++)
		config.parties.n += !(clients->requests.again && clients->requests.again[i]);
	for (uint8_t i = 0; i < check->n_operations; i++) {
		for (uint8_t j = i + 1; j-- > 0;) {
			if (clients->requests.n ? strcmp(clients->requests.commands[i],
							 clients->requests.commands[j]) == 0 :
						  clients->argv[i] == clients->argv[j])
				config.parties.same_as[i] = j;
		}
	}
	parties.program.terms = &parties.terms;
	config.parties.program = &parties.program;
	parties.instances.program = &parties.program;
	rr_skeptic(&config, &check->skeptic);
	check->n_skeptical += (unsigned long)parties.instances.n_starts;
	rr_ahead_release(&parties.ahead);
	rr_terms_release(&parties.terms);
	rr_endings_release(&parties.endings);
}

void rr_check_ask_skeptic(struct rr_check *check)
{
	const struct rr_explore_result *result = check->result;

	/* There is nothing to be asked about a finding; nor was anything searched that it could doubt. */
	if (check->options->skeptic != RR_SKEPTIC_IS_OFF && !result->found &&
	    !check->options->search.schedule && !check->session.signals.interrupted &&
	    result->explored != RR_EXPLORED_STOPPED && rr_programs_send(check->programs))
		rr_check_run_skeptic(check, result->seconds / 3, SIZE_MAX, RR_SKEPTIC_RUNS);
}

enum rr_exit rr_check_exit_with_skeptic(const struct rr_check *check, enum rr_exit code)
{
	const enum rr_skeptic_verdict verdict = check->skeptic.verdict;

	/* Without a serial execution that ends there is nothing that it could doubt. */
	if (check->options->skeptic != RR_SKEPTIC_JUDGES || check->result->need_each_other ||
	    (code != RR_EXIT_OK && code != RR_EXIT_INCONCLUSIVE))
		return code;
	if (verdict == RR_SKEPTIC_AGREES || verdict == RR_SKEPTIC_OFF)
		return code;
	return verdict == RR_SKEPTIC_DISAGREES ? RR_EXIT_VIOLATED : RR_EXIT_INCONCLUSIVE;
}

/* ---- Telling it ------------------------------------------------------------------------------- */

void rr_check_print_skeptic(FILE *out, const struct rr_check *check)
{
	const struct rr_skeptic_result *result = &check->skeptic;

	if (result->verdict == RR_SKEPTIC_OFF)
		return;
	if (result->verdict == RR_SKEPTIC_AGREES && result->schedules == 0)
		rr_print_sentence(out, 2, 4,
				  "The skeptic ran no schedule: there is none that is not serial.");
	else if (result->verdict == RR_SKEPTIC_AGREES)
		rr_print_sentence(out, 2, 4,
				  "The skeptic: %u schedules and %u serial executions agree.",
				  result->schedules, result->serial_executions);
	if (result->verdict == RR_SKEPTIC_INCONCLUSIVE)
		rr_print_sentence(out, 2, 4, "The skeptic is inconclusive: %s.", result->why);
	for (size_t i = 0; i < result->n_not_compared; i++)
		rr_print_sentence(out, 2, 4, "The skeptic has not compared %s.",
				  result->not_compared[i]);
	if (result->verdict != RR_SKEPTIC_DISAGREES)
		return;
	rr_print_sentence(
		out, 2, 4, "The skeptic disagrees: %s (%s).%s", result->why, result->kind,
		rr_checked_limit(check).id ? "" : " The search has missed that: please report it.");
	for (size_t i = 0; i < result->n_steps && i < STEPS_SHOWN; i++) {
		const struct rr_skeptic_step *step = &result->steps[i];
		char *line = rr_asprintf("%s %s%s%s", step->who ? step->who : "", step->command,
					 step->reply ? " -> " : "", step->reply ? step->reply : "");
		char *plain = rr_plain(line);

		fprintf(out, "    %.*s\n", (int)rr_plain_fit(plain, RR_COLUMNS - 4), plain);
		free(line);
		free(plain);
	}
	if (result->n_steps > STEPS_SHOWN)
		fprintf(out, "    ... and %zu more steps\n", result->n_steps - STEPS_SHOWN);
	rr_checked_print_lines(out, "  It ends with", result->data);
	rr_checked_print_lines(out, "  A serial execution ends with", result->serial_data);
}

json_t *rr_check_skeptic_as_json(const struct rr_check *check)
{
	return rr_skeptic_json(&check->skeptic, rr_check_skeptic_modes[check->options->skeptic]);
}
