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

/* Those that the site computes itself. */
static const char *computed_page(const char *path)
{
	return strcmp(path, "docs/claims.md") == 0 ? "../claims.html" :
	       strcmp(path, "docs/matrix.md") == 0 ? "../matrix.html" :
	       strcmp(path, "README.md") == 0      ? "../index.html" :
						     NULL;
}

/* Has `name` of docs/ a page of its own? Claims and the matrix are computed instead. */
static bool is_document(const char *name)
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

static char *find_page(struct rr_site *site, const char *path)
{
	const char *computed = computed_page(path);
	const char *slash = strrchr(path, '/');
	char full[RR_PATH_SIZE], *page, *found = NULL;
	struct stat status;
	size_t i = 0;

	if (computed)
		return rr_strdup(computed);
	if (rr_ends_in(path, ".race")) { /* a transcript is the page of its race or its cell */
		const bool is_cell = strncmp(path, "docs/matrix/", 12) == 0;
		const char *from = slash ? slash + 1 : path;
		char *name = rr_strndup(from, strcspn(from, "."));

		if (is_cell ? rr_matrix_has_page(&site->matrix, name) :
			      rr_site_has_race(site, name))
			found = rr_asprintf("../%s/%s.html", is_cell ? "matrix" : "races", name);
		free(name);
		if (found)
			return found;
	}
	path_in_project(site, path, full);
	if (strncmp(path, "docs/", 5) == 0 && rr_ends_in(path, ".md") && access(full, R_OK) == 0)
		return rr_asprintf("%.*s.html", (int)strlen(path) - 8, path + 5);
	/* The page of a file, which is wanted from now on. */
	if (stat(full, &status) != 0 || !S_ISREG(status.st_mode) ||
	    status.st_size > SOURCE_BYTES_MAX)
		return NULL;
	while (i < site->n_sources && strcmp(site->sources[i], path) != 0)
		i++;
	if (i == site->n_sources) {
		rr_array_grow(&site->sources, site->n_sources, sizeof(*site->sources));
		site->sources[site->n_sources++] = rr_strdup(path);
	}
	page = source_page(path);
	found = rr_asprintf("../%s", page);
	free(page);
	return found;
}

/* Does the site have a page for `target`, a link of a document in docs/? Then where it is
 * from a page of docs/, malloc'd. NULL: it has none. */
static char *find_target(struct rr_site *site, const char *target)
{
	const size_t length = strcspn(target, "#");
	const char *fragment = target + length;
	char *path = strncmp(target, "../", 3) == 0 ? rr_strndup(target + 3, length - 3) :
						      rr_asprintf("docs/%.*s", (int)length, target);
	char *page = find_page(site, path), *found;
	/* In a site of some races only not every claim has its row. */
	bool has_place = strncmp(path, "docs/", 5) == 0;

	if (*fragment && strcmp(path, "docs/claims.md") == 0) {
		has_place = false;
		for (size_t i = 0; i < site->claims.n; i++)
			has_place |= strcmp(site->claims.rows[i].claim->id, fragment + 1) == 0;
	}
	found = page ? rr_asprintf("%s%s", page, has_place ? fragment : "") : NULL;
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
	found = find_target(site, target);
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

/* The first heading of a document, malloc'd; NULL: see the error. */
static char *document_title(const struct rr_site *site, const char *name, struct rr_error *error)
{
	size_t length;
	char *text = read_document(site, name, &length, error);
	const char *from = text ? strstr(text, "# ") : NULL;
	char *title, *to;

	if (!text)
		return NULL;
	title = to = from ? rr_strndup(from + 2, strcspn(from + 2, "\n")) : rr_strdup(name);
	/* Without what marks code in it. */
	for (const char *at = title; *at; at++) {
		if (*at != '`')
			*to++ = *at;
	}
	*to = '\0';
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
	return find_target(((struct document *)context)->site, target);
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
	char *title = text ? document_title(site, name, error) : NULL;
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

/* ---- All of them, and what they link to -------------------------------------------------------- */

static void print_documents(const struct rr_site *site, bool lessons, FILE *out,
			    struct rr_error *error)
{
	size_t n;
	char **names = rr_files_list(site->docs, ".md", &n);

	for (size_t i = 0; i < n; i++) {
		const bool is_lesson = strncmp(names[i], "teaching.", 9) == 0;
		char *title = is_lesson == lessons && is_document(names[i]) ?
				      document_title(site, names[i], error) :
				      NULL;

		if (title)
			rr_markdown_print(out, "- [%s](docs/%.*s.html)\n", title,
					  (int)(strlen(names[i]) - 3), names[i]);
		free(title);
	}
	rr_files_free_list(names, n);
}

bool rr_site_write_documents(struct rr_site *site, struct rr_error *error)
{
	const struct rr_markdown how = { 0 };
	bool good = true;
	size_t n;
	char **names = rr_files_list(site->docs, ".md", &n), *text;
	FILE *markdown;

	for (size_t i = 0; good && i < n; i++)
		good = !is_document(names[i]) || write_document(site, names[i], error);
	rr_files_free_list(names, n);
	for (size_t i = 0; good && i < site->n_sources; i++) {
		const char *path = site->sources[i];
		char full[RR_PATH_SIZE], *file;
		struct rr_site_page page;
		size_t length;

		path_in_project(site, path, full);
		text = rr_files_read(full, RR_ERROR_DATA, 64, &length, error);
		if (!text)
			return false;
		file = source_page(path);
		rr_site_page_begin(&page, site, file, path);
		free(file);
		rr_xml_print(page.draft.out,
			     "<h1>%s</h1>\n<pre class=\"drawn\" tabindex=\"0\">%s</pre>\n", path,
			     text);
		free(text);
		good = rr_site_page_end(&page, NULL, error);
	}
	if (!good)
		return false;
	markdown = rr_open_text(&text);
	fputs("# Lessons\n\n", markdown);
	print_documents(site, true, markdown, error);
	fputs("\n## All documents\n\n", markdown);
	print_documents(site, false, markdown, error);
	fclose(markdown);
	return rr_site_write_markdown(site, "lessons.html", "Lessons and documents", text, &how,
				      error);
}
