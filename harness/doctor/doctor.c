/* SPDX-License-Identifier: MIT */
/* The examination: what is looked at in which order, and the list of findings. */
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"
#include "probes.h"

const char *const rr_health_names[RR_HEALTHS] = {
	[RR_HEALTH_OK] = "ok",           [RR_HEALTH_UNKNOWN] = "unknown",
	[RR_HEALTH_MISSING] = "missing", [RR_HEALTH_WARNING] = "warning",
	[RR_HEALTH_FAILED] = "failed",
};

/* ---- Findings ------------------------------------------------------------- */

struct rr_finding rr_found(enum rr_health health, const char *format, ...)
{
	struct rr_finding finding = { .health = health };
	char text[2 * RR_FINDING_SIZE], *plain;
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	/* Files and programs may say anything. */
	plain = rr_plain(text);
	length = plain ? strlen(plain) : 0;
	if (length >= sizeof(finding.value))
		length = sizeof(finding.value) - 1;
	/* Whole characters of UTF-8 only. */
	while (length > 0 && (plain[length] & 0xc0) == 0x80)
		length--;
	memcpy(finding.value, plain ? plain : "", length);
	free(plain);
	return finding;
}

struct rr_finding rr_advise(struct rr_finding finding, const char *means, const char *remedy)
{
	snprintf(finding.means, sizeof(finding.means), "%s", means);
	snprintf(finding.remedy, sizeof(finding.remedy), "%s", remedy);
	return finding;
}

bool rr_doctor_add(struct rr_doctor *doctor, const char *section, const char *name,
		   const struct rr_finding *finding, struct rr_error *error)
{
	struct rr_finding *kept;

	(void)error;
	rr_array_grow(&doctor->findings, doctor->n, sizeof(*finding));
	kept = &doctor->findings[doctor->n++];
	*kept = *finding;
	kept->section = section;
	snprintf(kept->name, sizeof(kept->name), "%s", name);
	return true;
}

size_t rr_doctor_count(const struct rr_doctor *doctor, enum rr_health health)
{
	size_t n = 0;

	for (size_t i = 0; i < doctor->n; i++)
		n += doctor->findings[i].health == health;
	return n;
}

/* ---- Looking ---------------------------------------------------------------- */

static FILE *open_below(const struct rr_doctor *doctor, const char *path)
{
	char whole[PATH_MAX];

	snprintf(whole, sizeof(whole), "%s%s", doctor->options.root, path);
	return fopen(whole, "re");
}

bool rr_first_line(const struct rr_doctor *doctor, const char *path, char line[RR_LINE_SIZE])
{
	FILE *file = open_below(doctor, path);
	bool has_line;

	if (!file)
		return false;
	has_line = fgets(line, RR_LINE_SIZE, file) != NULL;
	fclose(file);
	if (has_line)
		line[strcspn(line, "\n")] = '\0';
	return has_line && line[0];
}

bool rr_field(const struct rr_doctor *doctor, const char *path, const char *field,
	      char line[RR_LINE_SIZE])
{
	const size_t length = strlen(field);
	FILE *file = open_below(doctor, path);
	bool is_found = false;

	while (file && !is_found && fgets(line, RR_LINE_SIZE, file))
		is_found = strncmp(line, field, length) == 0 && strchr(": \t", line[length]);
	if (file)
		fclose(file);
	if (is_found) {
		const char *value = line + length;

		value += strspn(value, ": \t");
		memmove(line, value, strlen(value) + 1);
		line[strcspn(line, "\n")] = '\0';
	}
	return is_found;
}

bool rr_number_in(const struct rr_doctor *doctor, const char *path, long long *number)
{
	char line[RR_LINE_SIZE], *end;

	if (!rr_first_line(doctor, path, line))
		return false;
	*number = strtoll(line, &end, 10);
	return end != line;
}

/* A file that may be run, in a directory; "" is the one we are in. */
static bool find_in(const char *directory, int length, const char *name, char *path, size_t size)
{
	char joined[PATH_MAX];
	struct stat info;
	char *here;

	snprintf(joined, sizeof(joined), "%.*s%s%s", length, directory, length ? "/" : "", name);
	if (stat(joined, &info) != 0 || !S_ISREG(info.st_mode) || access(joined, X_OK) != 0)
		return false;
	here = joined[0] == '/' ? NULL : getcwd(NULL, 0);
	snprintf(path, size, "%s%s%s", here ? here : "", here ? "/" : "", joined);
	free(here);
	return true;
}

bool rr_find_program(const char *name, char *path, size_t size)
{
	const char *at = getenv("PATH");

	if (strchr(name, '/'))
		return find_in("", 0, name, path, size);
	if (!at)
		at = "/bin:/usr/bin";
	for (;;) {
		const size_t length = strcspn(at, ":");

		if (find_in(at, (int)length, name, path, size))
			return true;
		if (!at[length])
			return false;
		at += length + 1;
	}
}

/* ---- The examination ---------------------------------------------------------- */

static bool run_probes(struct rr_doctor *doctor, const char *section, const struct rr_probe *probes,
		       struct rr_error *error)
{
	for (; probes->name; probes++) {
		const struct rr_finding finding = probes->look(doctor);

		if (!rr_doctor_add(doctor, section, probes->name, &finding, error))
			return false;
	}
	return true;
}

bool rr_doctor_examine(struct rr_doctor *doctor, const struct rr_doctor_options *options,
		       struct rr_error *error)
{
	struct rr_error why_closed = { 0 };
	struct rr_session session;
	bool good;

	*doctor = (struct rr_doctor){ .options = *options };
	rr_session_open(&session, &why_closed);
	good = rr_examine_servers(doctor, &session, &why_closed, error) &&
	       rr_examine_programs(doctor, &session.signals, error) &&
	       run_probes(doctor, "processors", rr_processor_probes, error) &&
	       run_probes(doctor, "system", rr_system_probes, error) &&
	       run_probes(doctor, "limits", rr_limit_probes, error);
	rr_session_close(&session);
	return good;
}

void rr_doctor_release(struct rr_doctor *doctor)
{
	free(doctor->findings);
	*doctor = (struct rr_doctor){ .n = 0 };
}
