/* SPDX-License-Identifier: MIT */
/* Disturbances of a machine while runs were measured: stolen time, throttling, other programs, the
 * processors' frequency. Read from /proc and /sys, and unknown where they do not say it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine.h"
#include "base/text.h"
#include "results.h"

/* From here on figures are those of a disturbed machine. */
static const double STEAL_PCT = 1, OTHERS_PCT = 10, FREQUENCY_PCT = 5;

enum { SHORTEST_NS = 200000000 }; /* /proc/stat counts hundredths of a second */

/* ---- One look --------------------------------------------------------------- */

/* The number after `field` at the beginning of a line of the file; -1: there is none. */
static int64_t number_in(const char *path, const char *field)
{
	FILE *file = fopen(path, "re");
	char line[256];
	int64_t found = -1;

	while (file && found < 0 && fgets(line, sizeof(line), file)) {
		if (strncmp(line, field, strlen(field)) == 0)
			found = strtoll(line + strlen(field), NULL, 10);
	}
	if (file)
		fclose(file);
	return found;
}

/* How often this process's control group was throttled, of version 2 or 1; -1: not known. */
static int64_t times_throttled(void)
{
	FILE *file = fopen("/proc/self/cgroup", "re");
	char line[512], path[700];
	int64_t found = -1;

	while (file && found < 0 && fgets(line, sizeof(line), file)) {
		const char *controllers = strchr(line, ':');
		const char *group = controllers ? strchr(controllers + 1, ':') : NULL;

		line[strcspn(line, "\n")] = '\0';
		if (!group)
			continue;
		if (strncmp(line, "0::", 3) == 0)
			snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.stat", group + 1);
		else if (strncmp(controllers, ":cpu:", 5) == 0 ||
			 strncmp(controllers, ":cpu,", 5) == 0)
			snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/cpu.stat", group + 1);
		else
			continue;
		found = number_in(path, "nr_throttled ");
	}
	if (file)
		fclose(file);
	return found;
}

void rr_machine_look(struct rr_machine_look *look)
{
	FILE *file = fopen("/proc/stat", "re");
	long long user, nice, system, idle, wait, interrupts, soft, steal;
	const int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);

	*look = (struct rr_machine_look){
		.now_ns = rr_clock_ns(),
		.busy_ns = -1,
		.throttled = times_throttled(),
		.frequency_khz = number_in("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq",
					   ""),
	};
	if (file && fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &user, &nice,
			   &system, &idle, &wait, &interrupts, &soft, &steal) == 8) {
		look->busy_ns = (user + nice + system + interrupts + soft) * tick_ns;
		look->steal_ns = steal * tick_ns;
	}
	if (file)
		fclose(file);
}

/* ---- Between two ------------------------------------------------------------- */

static void note_frequencies(struct rr_disturbance *disturbance, int64_t least_khz,
			     int64_t most_khz)
{
	if (!disturbance->least_khz || least_khz < disturbance->least_khz)
		disturbance->least_khz = least_khz;
	if (most_khz > disturbance->most_khz)
		disturbance->most_khz = most_khz;
}

void rr_disturbance_add(struct rr_disturbance *disturbance, const struct rr_machine_look *before,
			const struct rr_machine_look *after, int64_t ours_ns)
{
	const int64_t frequencies[] = { before->frequency_khz, after->frequency_khz };

	if (before->busy_ns >= 0 && after->busy_ns >= 0) {
		const int64_t elapsed_ns = after->now_ns - before->now_ns;

		disturbance->measured_ns += elapsed_ns;
		disturbance->steal_ns += after->steal_ns - before->steal_ns;
		if (ours_ns >= 0) {
			disturbance->others_ns += after->busy_ns - before->busy_ns - ours_ns;
			disturbance->attributed_ns += elapsed_ns;
		}
	}
	if (before->throttled >= 0 && after->throttled >= 0) {
		disturbance->knows_throttling = true;
		disturbance->throttled += after->throttled - before->throttled;
	}
	for (size_t i = 0; i < 2; i++) {
		if (frequencies[i] > 0)
			note_frequencies(disturbance, frequencies[i], frequencies[i]);
	}
}

void rr_disturbance_merge(struct rr_disturbance *into, const struct rr_disturbance *from)
{
	into->measured_ns += from->measured_ns;
	into->steal_ns += from->steal_ns;
	into->attributed_ns += from->attributed_ns;
	into->others_ns += from->others_ns;
	into->knows_throttling = into->knows_throttling || from->knows_throttling;
	into->throttled += from->throttled;
	if (from->most_khz)
		note_frequencies(into, from->least_khz, from->most_khz);
}

static double share_pct(int64_t used_ns, int64_t elapsed_ns)
{
	const double all = (double)elapsed_ns * (double)sysconf(_SC_NPROCESSORS_ONLN);

	if (elapsed_ns < SHORTEST_NS)
		return -1;
	return used_ns > 0 ? 100 * (double)used_ns / all : 0;
}

double rr_disturbance_steal_pct(const struct rr_disturbance *disturbance)
{
	return share_pct(disturbance->steal_ns, disturbance->measured_ns);
}

double rr_disturbance_others_pct(const struct rr_disturbance *disturbance)
{
	return share_pct(disturbance->others_ns, disturbance->attributed_ns);
}

bool rr_disturbance_matters(const struct rr_disturbance *disturbance)
{
	return rr_disturbance_steal_pct(disturbance) > STEAL_PCT ||
	       rr_disturbance_others_pct(disturbance) > OTHERS_PCT || disturbance->throttled > 0 ||
	       (double)(disturbance->most_khz - disturbance->least_khz) * 100 >
		       FREQUENCY_PCT * (double)disturbance->most_khz;
}

/* ---- In words, and as JSON ---------------------------------------------------- */

static const char *pct_text(double pct, char text[32])
{
	if (pct < 0)
		snprintf(text, 32, "unknown");
	else
		snprintf(text, 32, "%.1f %%", pct);
	return text;
}

void rr_disturbance_print(const struct rr_disturbance *disturbance, FILE *file)
{
	const double others = rr_disturbance_others_pct(disturbance);
	char steal[32], load[32], throttled[32] = "unknown", frequency[64] = "unknown";

	if (disturbance->knows_throttling)
		snprintf(throttled, sizeof(throttled), "%lld times",
			 (long long)disturbance->throttled);
	if (disturbance->most_khz)
		snprintf(frequency, sizeof(frequency), "%lld to %lld MHz",
			 (long long)disturbance->least_khz / 1000,
			 (long long)disturbance->most_khz / 1000);
	rr_print_sentence(file, 0, 0,
			  "%s: other programs used %s of the processors, stolen %s, throttled %s, "
			  "frequency %s.",
			  rr_disturbance_matters(disturbance) ?
				  "DISTURBED, figures are those of a busy machine" :
			  others < 0 ? "The machine" :
				       "Undisturbed",
			  pct_text(others, load),
			  pct_text(rr_disturbance_steal_pct(disturbance), steal), throttled,
			  frequency);
}

static json_t *json_of_pct(double pct)
{
	return pct < 0 ? json_string("unknown") : json_real(round(10 * pct) / 10);
}

json_t *rr_disturbance_as_json(const struct rr_disturbance *disturbance)
{
	json_t *frequency = disturbance->most_khz ?
				    json_pack("[I, I]", (json_int_t)disturbance->least_khz / 1000,
					      (json_int_t)disturbance->most_khz / 1000) :
				    json_string("unknown");

	return json_pack("{s:b, s:o, s:o, s:o, s:o}", "disturbed",
			 rr_disturbance_matters(disturbance), "others_pct",
			 json_of_pct(rr_disturbance_others_pct(disturbance)), "steal_pct",
			 json_of_pct(rr_disturbance_steal_pct(disturbance)), "throttled",
			 disturbance->knows_throttling ?
				 json_integer((json_int_t)disturbance->throttled) :
				 json_string("unknown"),
			 "frequency_mhz", frequency);
}
