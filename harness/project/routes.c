/* SPDX-License-Identifier: MIT */
/* Routes, as frameworks declare them in sources: a line is looked at alone. */
#include <ctype.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "project.h"

enum { GROUPS = 8, METHOD_LATER = -1 };

#define JS "js mjs cjs ts mts cts"
#define QUOTE "['\"`]"
#define PATH "(/[^'\"`]*)"
#define VERB "(get|post|put|patch|delete)"
#define BLANKS "[[:space:]]*"

/* Which files, what a line has, and which of its groups are path and method. Where no method is said it is
 * that of `usual`, or, if that is NULL, POST in a file that names POST. `before`: a line that says the
 * method, or the beginning of the path, of those after it. */
static const struct pattern {
	const char *suffixes, *line;
	int path, method, other_method;
	const char *usual;
	const char *before;
	bool says_method; /* `before` does */
} patterns[] = {
	/* Express, Fastify, Koa, Hono */
	{ JS,
	  "(^|[^A-Za-z0-9_$.])(app|server|fastify|api|route|router|routes|[A-Za-z]*(App|Router|Routes))"
	  "\\." VERB "\\(" BLANKS QUOTE PATH QUOTE,
	  .path = 5, .method = 4 },
	{ JS, "\\.route\\(" BLANKS QUOTE PATH QUOTE BLANKS "\\)\\." VERB "\\(", .path = 1,
	  .method = 2 },
	/* Nest */
	{ JS, "@(Get|Post|Put|Patch|Delete)\\(" BLANKS QUOTE "?([^'\"`)]*)", .path = 2, .method = 1,
	  .before = "@Controller\\(" BLANKS QUOTE "([^'\"`]*)" },
	/* Node's http, PHP without a framework */
	{ JS " php",
	  "(url|pathname|path|uri|REQUEST_URI|PATH_INFO)['\"]?\\]?[^'\"`=]*===?" BLANKS QUOTE PATH
		  QUOTE "(.*['\"](GET|POST|PUT|PATCH|DELETE)['\"])?",
	  .path = 2, .method = 4 },
	/* FastAPI, Flask, Starlette, aiohttp */
	{ "py", "^" BLANKS "@[A-Za-z_.]+\\." VERB "\\(" BLANKS QUOTE PATH QUOTE, .path = 2,
	  .method = 1, .before = "[^a-z](url_)?prefix" BLANKS "=" BLANKS QUOTE PATH QUOTE },
	{ "py",
	  "^" BLANKS "@[A-Za-z_.]+\\.route\\(" BLANKS QUOTE PATH QUOTE "(.*methods" BLANKS
	  "=[^A-Za-z]*([A-Za-z]+))?",
	  .path = 1, .method = 3, .usual = "GET",
	  .before = "[^a-z](url_)prefix" BLANKS "=" BLANKS QUOTE PATH QUOTE },
	{ "py", "(web\\.|add_)" VERB "\\(" BLANKS QUOTE PATH QUOTE, .path = 3, .method = 2 },
	{ "py",
	  "[^A-Za-z]Route\\(" BLANKS QUOTE PATH QUOTE "(.*methods" BLANKS
	  "=[^A-Za-z]*([A-Za-z]+))?",
	  .path = 1, .method = 3, .usual = "GET" },
	/* Django: whether its view takes POST is looked up */
	{ "py",
	  "(^|[^A-Za-z_])path\\(" BLANKS QUOTE "([^'\"`]*)" QUOTE BLANKS "," BLANKS "([A-Za-z_.]+)",
	  .path = 2, .method = METHOD_LATER, .other_method = 3 },
	/* Python's http.server */
	{ "py", "self\\.path" BLANKS "==" BLANKS QUOTE PATH QUOTE, .path = 1,
	  .before = "def do_(GET|POST|PUT|PATCH|DELETE)", .says_method = true },
	/* Go: net/http and gorilla, gin, echo, chi, fiber */
	{ "go",
	  "Handle(Func)?\\(" BLANKS "\"((GET|POST|PUT|PATCH|DELETE) )?(/[^\"]*)\""
	  "(.*Methods\\(\"?([A-Za-z.]+))?",
	  .path = 4, .method = 3, .other_method = 6 },
	{ "go",
	  "\\.(GET|POST|PUT|PATCH|DELETE|Get|Post|Put|Patch|Delete)\\(" BLANKS "\"(/[^\"]*)\"",
	  .path = 2, .method = 1 },
	/* Sinatra, Rails */
	{ "rb ru", "^" BLANKS VERB "[[:space:](]+" QUOTE PATH QUOTE, .path = 2, .method = 1 },
	/* Laravel, Slim */
	{ "php", "(Route::|->)" VERB "\\(" BLANKS QUOTE PATH QUOTE, .path = 3, .method = 2 },
	/* Spring, and the JDK's own server */
	{ "java kt", "@(Get|Post|Put|Patch|Delete)Mapping(\\([^\"]*\"([^\"]*)\")?", .path = 3,
	  .method = 1, .before = "@RequestMapping\\([^\"]*\"([^\"]*)\"" },
	{ "java kt", "createContext\\(" BLANKS "\"(/[^\"]*)\"", .path = 1 },
	/* axum, actix */
	{ "rs", "\\.route\\(" BLANKS "\"(/[^\"]*)\"," BLANKS VERB "\\(", .path = 1, .method = 2 },
	{ "rs", "#\\[" VERB "\\(" BLANKS "\"(/[^\"]*)\"", .path = 2, .method = 1 },
};

/* ---- A list of them -------------------------------------------------------------------- */

static bool is_about_itself(const char *path)
{
	static const char *const words[] = { "health", "metrics", "favicon", "openapi", "swagger",
					     "docs",   "redoc",   "robots",  "static",  "admin" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (path[0] && strncmp(path + 1, words[i], strlen(words[i])) == 0)
			return true;
	}
	return false;
}

/* A path with 1 for each parameter: ":id", "<int:id>", "{id}", malloc'd. NULL: it has a wildcard, or
 * another sign that a plain path has not. */
static char *fill_in(const char *path, bool *has_parameters)
{
	char *text;
	FILE *out = rr_open_text(&text);
	bool is_plain = true;

	*has_parameters = false;
	if (path[0] != '/')
		fputc('/', out);
	while (*path && is_plain) {
		const char closing = *path == '<' ? '>' : '}';

		if (*path == ':' || *path == '<' || *path == '{') {
			path += *path == ':' ? 1 + strspn(path + 1, "abcdefghijklmnopqrstuvwxyz"
								    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
								    "0123456789_?") :
					       strcspn(path, (char[]){ closing, '\0' });
			path += *path == closing;
			fputc('1', out);
			*has_parameters = true;
		} else {
			is_plain = isalnum((unsigned char)*path) || strchr("/_-.~%", *path);
			fputc(*path++, out);
		}
	}
	fclose(out);
	if (is_plain)
		return text;
	free(text);
	return NULL;
}

void rr_routes_add(struct rr_routes *routes, const char *method, const char *path, char *body,
		   const char *from)
{
	struct rr_route *route = &routes->all[routes->n];
	bool is_new = routes->n < RR_ROUTES_MAX && strlen(method) < RR_ROUTE_METHOD;
	bool has_parameters;
	char *filled = fill_in(path, &has_parameters);

	for (size_t i = 0; filled && i < routes->n; i++)
		is_new &= strcmp(routes->all[i].path, filled) != 0 ||
			  strcasecmp(routes->all[i].method, method) != 0;
	if (!filled || !is_new || is_about_itself(filled)) {
		free(filled);
		free(body);
		return;
	}
	*route = (struct rr_route){ .path = filled,
				    .body = body,
				    .from = rr_strdup(from),
				    .has_parameters = has_parameters };
	for (size_t i = 0; method[i]; i++)
		route->method[i] = (char)toupper((unsigned char)method[i]);
	routes->n++;
}

bool rr_route_logs_in(const struct rr_route *route)
{
	static const char *const words[] = { "login", "log-in", "signin", "sign-in",  "logout",
					     "auth",  "token",  "signup", "register", "session" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (strcasestr(route->path, words[i]))
			return true;
	}
	return false;
}

static int rank(const struct rr_route *route)
{
	const bool changes = strcmp(route->method, "GET") != 0;

	return rr_route_logs_in(route)       ? 4 :
	       changes                       ? route->has_parameters :
	       strcmp(route->path, "/") == 0 ? 3 :
					       2;
}

void rr_routes_sort(struct rr_routes *routes)
{
	for (size_t i = 1; i < routes->n; i++) {
		const struct rr_route route = routes->all[i];
		size_t j = i;

		for (; j > 0 && rank(&routes->all[j - 1]) > rank(&route); j--)
			routes->all[j] = routes->all[j - 1];
		routes->all[j] = route;
	}
}

void rr_routes_release(struct rr_routes *routes)
{
	for (size_t i = 0; i < routes->n; i++) {
		free(routes->all[i].path);
		free(routes->all[i].body);
		free(routes->all[i].from);
	}
	routes->n = 0;
}

/* ---- In sources ----------------------------------------------------------------------- */

static char *group_of(const char *line, const regmatch_t *match)
{
	return match->rm_so < 0 ?
		       rr_strdup("") :
		       rr_strndup(line + match->rm_so, (size_t)(match->rm_eo - match->rm_so));
}

/* Does that view of Django take POST? Its decorators, or its first lines, say so. */
static bool takes_post(const struct rr_sources *sources, const char *view)
{
	enum { AFTER = 300 };
	const char *dot = strrchr(view, '.');
	char *definition = rr_asprintf("\ndef %s(", dot ? dot + 1 : view);
	bool takes = false;

	for (size_t i = 0; i < sources->n && !takes; i++) {
		const char *text = sources->all[i].text, *at = strstr(text, definition);
		const char *start = at, *end, *above;
		char *part;

		if (!at || !rr_ends_in(sources->all[i].path, ".py"))
			continue;
		for (;;) {
			above = memrchr(text, '\n', (size_t)(start - text));
			if (!above || above[1] != '@')
				break;
			start = above;
		}
		end = at + strnlen(at, AFTER);
		for (const char *line = at + 1; (line = strchr(line, '\n')) && line < end; line++)
			end = line[1] == '@' || strncmp(line, "\ndef ", 5) == 0 ? line : end;
		part = rr_strndup(start, (size_t)(end - start));
		takes = strstr(part, "POST") != NULL;
		free(part);
	}
	free(definition);
	return takes;
}

static void take_line(struct rr_routes *routes, const struct rr_sources *sources,
		      const struct rr_source *source, const struct pattern *pattern,
		      const char *line, const regmatch_t *match, const char *before,
		      const char *from)
{
	char *path = group_of(line, &match[pattern->path]), *whole;
	char *method = pattern->method > 0 ? group_of(line, &match[pattern->method]) :
					     rr_strdup("");

	if (!method[0] && pattern->other_method && pattern->method != METHOD_LATER) {
		free(method);
		method = group_of(line, &match[pattern->other_method]);
		/* http.MethodPost */
		if (strncmp(method, "http.Method", 11) == 0)
			memmove(method, method + 11, strlen(method + 11) + 1);
	}
	if (pattern->method == METHOD_LATER) {
		char *view = group_of(line, &match[pattern->other_method]);
		const bool is_view = strcmp(view, "include") != 0 && !strstr(view, "admin");

		free(method);
		method = rr_strdup(!is_view ? "" : takes_post(sources, view) ? "POST" : "GET");
		free(view);
		if (!is_view) {
			free(method);
			free(path);
			return;
		}
	}
	if (pattern->says_method) {
		free(method);
		method = rr_strdup(before);
	}
	whole = pattern->says_method || !before[0] ?
			rr_strdup(path) :
			rr_asprintf("%s%s%s%s", before[0] == '/' ? "" : "/", before,
				    path[0] && path[0] != '/' ? "/" : "",
				    strcmp(path, "/") == 0 ? "" : path);
	rr_routes_add(routes,
		      method[0]      ? method :
		      pattern->usual ? pattern->usual :
		      strcasestr(source->text, "\"POST\"") || strstr(source->text, "'POST'") ||
				      strstr(source->text, "MethodPost") ?
				       "POST" :
				       "GET",
		      whole, NULL, from);
	free(whole);
	free(method);
	free(path);
}

static void scan(struct rr_routes *routes, const struct rr_sources *sources,
		 const struct rr_source *source, const struct pattern *pattern)
{
	regex_t expression, before;
	regmatch_t match[GROUPS + 1];
	const char *rest = source->text;
	char *said = rr_strdup(""); /* by a line before */
	size_t number = 0;

	if (regcomp(&expression, pattern->line, REG_EXTENDED) != 0 ||
	    (pattern->before && regcomp(&before, pattern->before, REG_EXTENDED) != 0))
		rr_out_of_memory();
	while (*rest) {
		const char *start = rest;
		const size_t length = rr_take_line(&rest);
		char *line = rr_strndup(start, length);
		const char *first = line + strspn(line, " \t");

		number++;
		if (strncmp(first, "//", 2) != 0 && first[0] != '*' &&
		    (first[0] != '#' || first[1] == '[')) {
			if (pattern->before && regexec(&before, line, GROUPS, match, 0) == 0) {
				size_t last = before.re_nsub;

				free(said);
				said = group_of(line, &match[last]);
			}
			if (regexec(&expression, line, GROUPS, match, 0) == 0) {
				char *from = rr_asprintf("%s:%zu", source->path, number);

				take_line(routes, sources, source, pattern, line, match, said,
					  from);
				free(from);
			}
		}
		free(line);
	}
	regfree(&expression);
	if (pattern->before)
		regfree(&before);
	free(said);
}

void rr_routes_of_sources(struct rr_routes *routes, const struct rr_sources *sources)
{
	for (size_t i = 0; i < sources->n; i++) {
		const struct rr_source *source = &sources->all[i];
		const char *suffix = strrchr(source->path, '.') + 1;

		for (size_t j = 0; j < sizeof(patterns) / sizeof(patterns[0]); j++) {
			if (rr_has_word(patterns[j].suffixes, " ", suffix))
				scan(routes, sources, source, &patterns[j]);
		}
	}
}
