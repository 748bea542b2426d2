/* SPDX-License-Identifier: MIT */
/* The documents of docs/ as pages, and the files of the project that they link to. */
#include "pages.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/report.h"

enum { SOURCE_BYTES_MAX = 200000 };

/* ---- Where a link leads ------------------------------------------------------------------- */

/* `name` of "races/NAME.race", of a folder. */
static char *stem_of(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *from = slash ? slash + 1 : path;

	return rr_strndup(from, strcspn(from, "."));
}

/* A transcript is the page of its race or its cell. */
static char *find_transcript(const struct rr_site *site, const char *path)
{
	const bool is_cell = strncmp(path, "docs/matrix/", 12) == 0;
	char *name = stem_of(path);
	const bool is_there = is_cell ? rr_matrix_has_page(&site->matrix, name) :
					rr_site_has_race(site, name);
	char *found = is_there ? rr_asprintf("../%s/%s.html", is_cell ? "matrix" : "races", name) :
				 NULL;

	free(name);
	return found;
}

/* Those that the site computes itself. */
static const char *computed_page(const char *path)
{
	return strcmp(path, "docs/claims.md") == 0 ? "../claims.html" :
	       strcmp(path, "docs/matrix.md") == 0 ? "../matrix.html" :
	       strcmp(path, "README.md") == 0      ? "../index.html" :
						     NULL;
}

bool rr_site_is_document(const char *name)
{
	char *path = rr_asprintf("docs/%s", name);
	const bool is_one = computed_page(path) == NULL;

	free(path);
	return is_one;
}

/* A file of the project, which docs/ is a folder of. */
static void path_in_project(const struct rr_site *site, const char *path, char full[RR_PATH_SIZE])
{
	snprintf(full, RR_PATH_SIZE, "%.700s/../%.300s", site->docs, path);
}

/* "source/scenarios-none.c.html": malloc'd. */
static char *source_page(const char *path)
{
	char *page = rr_asprintf("source/%s.html", path);

	for (char *at = page + strlen("source/"); *at; at++)
		*at = *at == '/' ? '-' : *at;
	return page;
}

/* "../source/scenarios-none.c.html", and that it is wanted. NULL: there is no such file. */
static char *find_source(struct rr_site *site, const char *path)
{
	char full[RR_PATH_SIZE], *page, *name;
	struct stat status;

	path_in_project(site, path, full);
	if (stat(full, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_size > SOURCE_BYTES_MAX)
		return NULL;
	page = source_page(path);
	name = rr_asprintf("../%s", page);
	free(page);
	for (size_t i = 0; i < site->n_sources; i++) {
		if (strcmp(site->sources[i], path) == 0)
			return name;
	}
	rr_array_grow(&site->sources, site->n_sources, sizeof(*site->sources));
	site->sources[site->n_sources++] = rr_strdup(path);
	return name;
}

/* The path in the project of what a file in docs/ calls `target`. */
static char *path_of(const char *target, size_t length)
{
	if (strncmp(target, "../", 3) == 0)
		return rr_strndup(target + 3, length - 3);
	return rr_asprintf("docs/%.*s", (int)length, target);
}

static char *find_page(struct rr_site *site, const char *path)
{
	char full[RR_PATH_SIZE];
	const char *computed = computed_page(path);
	char *stem, *found;

	if (computed)
		return rr_strdup(computed);
	if (rr_ends_in(path, ".race") && (found = find_transcript(site, path)))
		return found;
	path_in_project(site, path, full);
	if (strncmp(path, "docs/", 5) != 0 || !rr_ends_in(path, ".md") || access(full, R_OK) != 0)
		return find_source(site, path);
	stem = rr_strndup(path + 5, strlen(path) - 8);
	found = rr_asprintf("%s.html", stem);
	free(stem);
	return found;
}

/* In a site of some races only not every claim has its row. */
static bool has_place(const struct rr_site *site, const char *path, const char *fragment)
{
	if (strncmp(path, "docs/", 5) != 0)
		return false;
	if (strcmp(path, "docs/claims.md") != 0 || !*fragment)
		return true;
	for (size_t i = 0; i < site->claims.n; i++) {
		if (strcmp(site->claims.rows[i].claim->id, fragment + 1) == 0)
			return true;
	}
	return false;
}

char *rr_site_find_target(struct rr_site *site, const char *target)
{
	const size_t length = strcspn(target, "#");
	char *path = path_of(target, length);
	char *page = find_page(site, path), *found = NULL;

	if (page)
		found = rr_asprintf("%s%s", page,
				    has_place(site, path, target + length) ? target + length : "");
	free(page);
	free(path);
	return found;
}

/* Of documents the site has a list of what is claimed. */
static char *find_main_target(void *site, const char *target)
{
	static const char document[] = "documents.md#";
	char *found, *main_target;

	if (strncmp(target, document, strlen(document)) == 0)
		return rr_asprintf("by-document.html#%s", target + strlen(document));
	found = rr_site_find_target(site, target);
	if (!found)
		return NULL;
	main_target = strncmp(found, "../", 3) == 0 ? rr_strdup(found + 3) :
						      rr_asprintf("docs/%s", found);
	free(found);
	return main_target;
}

struct rr_markdown rr_site_links(struct rr_site *site)
{
	return (struct rr_markdown){ .find_target = find_main_target, .context = site };
}

/* ---- Documents ------------------------------------------------------------------------------- */

static char *read_document(const struct rr_site *site, const char *name, size_t *length,
			   struct rr_error *error)
{
	char path[2 * RR_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%.200s", site->docs, name);
	return rr_files_read(path, RR_ERROR_DATA, 64, length, error);
}

/* The heading without what marks code in it. */
static char *plain_title(const char *heading)
{
	char *title = rr_strndup(heading, strcspn(heading, "\n")), *to = title;

	for (const char *from = title; *from; from++) {
		if (*from != '`')
			*to++ = *from;
	}
	*to = '\0';
	return title;
}

char *rr_site_document_title(const struct rr_site *site, const char *name, struct rr_error *error)
{
	size_t length;
	char *text = read_document(site, name, &length, error);
	const char *from = text ? strstr(text, "# ") : NULL;
	char *title = from ? plain_title(from + 2) : NULL;

	if (text && !title)
		title = rr_strdup(name);
	free(text);
	return title;
}

/* What the parts of a document that lead elsewhere need. */
struct document {
	struct rr_site *site;
	struct rr_error *error;
};

static char *find_document_target(void *context, const char *target)
{
	return rr_site_find_target(((struct document *)context)->site, target);
}

static void print_image(void *context, FILE *out, const char *source, const char *words)
{
	const struct document *document = context;
	char path[2 * RR_PATH_SIZE];

	snprintf(path, sizeof(path), "%s/%.900s", document->site->docs, source);
	rr_report_image(out, path, words, rr_ends_in(source, ".svg"), document->error);
}

static bool write_document(struct rr_site *site, const char *name, struct rr_error *error)
{
	struct document document = { site, error };
	const struct rr_markdown how = {
		.is_document = true,
		.find_target = find_document_target,
		.print_image = print_image,
		.context = &document,
	};
	size_t length;
	char *text = read_document(site, name, &length, error);
	char *title = text ? rr_site_document_title(site, name, error) : NULL;
	char file[RR_PATH_SIZE];
	bool good;

	if (!title) {
		free(text);
		return false;
	}
	snprintf(file, sizeof(file), "docs/%.*s.html", (int)(strlen(name) - 3), name);
	good = rr_site_write_markdown(site, file, title, text, &how, error);
	free(title);
	return good;
}

/* ---- What they link to ------------------------------------------------------------------------- */

static bool write_source(const struct rr_site *site, const char *path, struct rr_error *error)
{
	struct rr_site_page page;
	char full[RR_PATH_SIZE], *text, *file;
	size_t length;

	path_in_project(site, path, full);
	text = rr_files_read(full, RR_ERROR_DATA, 64, &length, error);
	if (!text)
		return false;
	file = source_page(path);
	rr_site_page_begin(&page, site, file, path);
	free(file);
	rr_xml_print(page.draft.out, "<h1>%s</h1>\n<pre class=\"drawn\" tabindex=\"0\">%s</pre>\n",
		     path, text);
	free(text);
	return rr_site_page_end(&page, NULL, error);
}

bool rr_site_write_documents(struct rr_site *site, struct rr_error *error)
{
	bool good = true;
	size_t n;
	char **names = rr_files_list(site->docs, ".md", &n);

	for (size_t i = 0; good && i < n; i++)
		good = !rr_site_is_document(names[i]) || write_document(site, names[i], error);
	rr_files_free_list(names, n);
	for (size_t i = 0; good && i < site->n_sources; i++)
		good = write_source(site, site->sources[i], error);
	return good;
}
