/* SPDX-License-Identifier: MIT */
/* What was found, for people and for programs. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/files.h"
#include "doctor.h"
#include "version.h"

/* ---- Text ------------------------------------------------------------------- */

static void print_finding(const struct rr_finding *finding, FILE *out)
{
	fprintf(out, "  %-8s %-18s %s\n", rr_health_names[finding->health], finding->name,
		finding->value);
	if (finding->means[0])
		fprintf(out, "  %-8s %-18s %s\n", "", "", finding->means);
	if (finding->remedy[0])
		fprintf(out, "  %-8s %-18s > %s\n", "", "", finding->remedy);
}

static void print_verdict(const struct rr_doctor *doctor, FILE *out)
{
	const size_t n_missing = rr_doctor_count(doctor, RR_HEALTH_MISSING);
	const size_t n_warnings = rr_doctor_count(doctor, RR_HEALTH_WARNING) +
				  rr_doctor_count(doctor, RR_HEALTH_FAILED);

	if (!doctor->has_server)
		fputs("\nNo server can be started: nothing can be run.\n", out);
	else if (n_missing || n_warnings)
		fprintf(out,
			"\nServers can be started. %zu warning%s, %zu missing: what that means stands below each.\n",
			n_warnings, n_warnings == 1 ? "" : "s", n_missing);
	else
		fputs("\nAll is well.\n", out);
}

static void print_text(const struct rr_doctor *doctor, FILE *out)
{
	const char *section = "";

	fprintf(out, "redrace %s (%s)\n", RR_VERSION, RR_COMMIT);
	for (size_t i = 0; i < doctor->n; i++) {
		const struct rr_finding *finding = &doctor->findings[i];

		if (strcmp(section, finding->section) != 0)
			fprintf(out, "\n%s\n", finding->section);
		section = finding->section;
		print_finding(finding, out);
	}
	print_verdict(doctor, out);
}

/* ---- JSON ------------------------------------------------------------------- */

static json_t *json_unless_empty(const char *text)
{
	return text[0] ? json_string(text) : json_null();
}

static json_t *json_of_finding(const struct rr_finding *finding)
{
	return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "section", finding->section, "name",
			 finding->name, "health", rr_health_names[finding->health], "value",
			 finding->value, "means", json_unless_empty(finding->means), "remedy",
			 json_unless_empty(finding->remedy));
}

static json_t *json_of_counts(const struct rr_doctor *doctor)
{
	json_t *counts = json_object();

	for (int i = 0; i < RR_HEALTHS; i++)
		json_object_set_new(
			counts, rr_health_names[i],
			json_integer((json_int_t)rr_doctor_count(doctor, (enum rr_health)i)));
	return counts;
}

static void print_json(const struct rr_doctor *doctor, FILE *out)
{
	json_t *findings = json_array(), *root;

	for (size_t i = 0; i < doctor->n; i++)
		json_array_append_new(findings, json_of_finding(&doctor->findings[i]));
	root = json_pack("{s:i, s:s, s:s, s:s, s:b, s:o, s:o}", "schema", 1, "command",
			 "redrace doctor", "version", RR_VERSION, "commit", RR_COMMIT, "has_server",
			 doctor->has_server, "summary", json_of_counts(doctor), "findings",
			 findings);
	json_dumpf(root, out, JSON_INDENT(2));
	fputc('\n', out);
	json_decref(root);
}

/* ---- Both ------------------------------------------------------------------- */

static void print_doctor(const struct rr_doctor *doctor, enum rr_format format, FILE *out)
{
	if (format == RR_FORMAT_JSON)
		print_json(doctor, out);
	else
		print_text(doctor, out);
}

bool rr_doctor_publish(const struct rr_doctor *doctor, const struct rr_outputs *outputs,
		       struct rr_error *error)
{
	bool good = true;

	print_doctor(doctor, outputs->printed, stdout);
	for (size_t i = 0; good && i < outputs->n; i++) {
		const struct rr_output *file = &outputs->files[i];
		struct rr_draft draft;

		rr_draft_open(&draft);
		print_doctor(doctor, file->format == RR_FORMATS ? outputs->printed : file->format,
			     draft.out);
		good = rr_draft_replace(&draft, file->path, error);
	}
	return good;
}
