/* SPDX-License-Identifier: MIT */
/* How a project starts its server: what it says itself (Procfile, package.json), else what its framework
 * is started by. */
#include "project.h"

#include <ctype.h>
#include <glob.h>
#include <jansson.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/files.h"
#include "base/memory.h"
#include "base/text.h"

enum { WORDS_MOST = 64 };

/* Where what is built goes: not among the sources. */
#define MADE ".redrace"

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

/* The text of a file, malloc'd; NULL = there is none. */
static char *read_text(const char *path)
{
	struct rr_error unread = { 0 };
	size_t length;

	return exists(path) ? rr_files_read(path, RR_ERROR_FILE, 1, &length, &unread) : NULL;
}

/* The first group of an expression that a line of the text matches, malloc'd; NULL = none does. */
static char *find_group(const char *text, const char *expression)
{
	regmatch_t match[2];
	char *found = NULL;
	regex_t regex;

	if (regcomp(&regex, expression, REG_EXTENDED | REG_NEWLINE) != 0)
		rr_out_of_memory();
	if (regexec(&regex, text, 2, match, 0) == 0 && match[1].rm_so >= 0)
		found = rr_strndup(text + match[1].rm_so,
				   (size_t)(match[1].rm_eo - match[1].rm_so));
	regfree(&regex);
	return found;
}

/* `from`: a format; what it makes is the project's. */
__attribute__((format(printf, 3, 4))) static void set_app(struct rr_project *project, char *app,
							  const char *from, ...)
{
	va_list arguments;

	va_start(arguments, from);
	project->app = app;
	project->from = rr_vasprintf(from, arguments);
	va_end(arguments);
}

/* ---- Commands that a project has --------------------------------------------------------- */

static const char *python_of(const char *package);

/* A program of the project's own packages, with its folder; else as it is. malloc'd. */
static char *find_program(const char *word)
{
	static const char *const folders[] = { "node_modules/.bin", ".venv/bin", "venv/bin",
					       "vendor/bin" };

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && !strchr(word, '/'); i++) {
		char *path = rr_asprintf("%s/%s", folders[i], word);

		if (exists(path))
			return path;
		free(path);
	}
	if (strcmp(word, "python") == 0 || strcmp(word, "python3") == 0)
		return rr_strdup(python_of("redis"));
	return rr_strdup(word);
}

static bool is_word(const char *word, const char *one, const char *other)
{
	return strcmp(word, one) == 0 || strcmp(word, other) == 0;
}

/*
 * The command as it can be checked, malloc'd: a single worker, which does not start again when a file has
 * changed, at $PORT.
 */
static char *settle(const char *command, bool *takes_one)
{
	char *copy = rr_strdup(command), *rest = copy, *words[WORDS_MOST + 1] = { NULL }, *text;
	size_t n = 0, at = 0;
	const char *name, *slash;
	FILE *out;

	while (n < WORDS_MOST && (words[n] = strtok_r(rest, " \t", &rest)))
		n++;
	words[n] = NULL;
	/* NODE_ENV=production node server.js */
	while (at < n && strchr(words[at], '=') &&
	       (isupper((unsigned char)words[at][0]) || words[at][0] == '_'))
		at++;
	if (at == n || strtok_r(rest, " \t", &rest)) {
		free(copy);
		return rr_strdup(command);
	}
	slash = strrchr(words[at], '/');
	name = slash ? slash + 1 : words[at];
	/* bundle exec puma, poetry run gunicorn, python -m uvicorn */
	for (size_t i = at; i + 2 < n && i < at + 2; i++) {
		if (strcmp(words[i + 1], "-m") == 0 ||
		    (is_word(words[i + 1], "exec", "run") &&
		     rr_has_word("bundle poetry pipenv uv pdm", " ", words[i])))
			name = words[i + 2];
	}
	const bool is_gunicorn = strcmp(name, "gunicorn") == 0;
	const bool is_uvicorn = is_word(name, "uvicorn", "hypercorn");
	const bool is_puma = strcmp(name, "puma") == 0, is_flask = strcmp(name, "flask") == 0;
	bool has_port = strstr(command, "PORT") != NULL, has_runserver = false;

	out = rr_open_text(&text);
	for (size_t i = 0; i < n; i++) {
		const char *word = words[i];
		const bool has_workers = is_gunicorn || is_uvicorn || is_puma;

		if (has_workers && is_word(word, "-w", "--workers")) {
			i++;
			continue;
		}
		if ((has_workers &&
		     (strncmp(word, "--workers=", 10) == 0 ||
		      (strncmp(word, "-w", 2) == 0 && isdigit((unsigned char)word[2])))) ||
		    (has_workers && strcmp(word, "--reload") == 0) ||
		    (strcmp(name, "node") == 0 && strcmp(word, "--watch") == 0) ||
		    (strcmp(name, "tsx") == 0 && strcmp(word, "watch") == 0))
			continue;
		has_port |= is_word(word, "-p", "--port") || is_word(word, "-b", "--bind");
		has_runserver |= strcmp(word, "runserver") == 0;
		if (i > 0)
			fputc(' ', out);
		if (i == at && strcmp(word, "nodemon") == 0) {
			fputs("node", out);
		} else if (i == at) {
			char *program = find_program(word);

			fputs(program, out);
			free(program);
		} else {
			fputs(word, out);
		}
	}
	if (is_gunicorn)
		fputs(" -w 1", out);
	if ((is_uvicorn && strcmp(name, "uvicorn") == 0) || is_flask)
		fputs(has_port ? "" : " --port $PORT", out);
	else if (is_puma && !has_port)
		fputs(" -p $PORT", out);
	else if (has_runserver && !has_port)
		fputs(" --noreload 127.0.0.1:$PORT", out);
	fclose(out);
	*takes_one = is_gunicorn;
	free(copy);
	return text;
}

static void find_in_procfile(struct rr_project *project)
{
	char *text = read_text("Procfile");
	char *web = text ? find_group(text, "^web:[ \t]*([^\r]*[^ \t\r])") : NULL;

	if (web)
		set_app(project, settle(web, &project->takes_one), "Procfile, web");
	free(web);
	free(text);
}

/* ---- Node ------------------------------------------------------------------------------- */

static void find_in_package(struct rr_project *project, const struct rr_sources *sources)
{
	static const char *const scripts[] = { "start", "serve", "dev" };
	static const char *const files[] = { "server.js",     "app.js",     "index.js",
					     "src/server.js", "src/app.js", "src/index.js",
					     "server.mjs",    "index.mjs" };
	char *text = read_text("package.json"), *target;
	json_t *root = text ? json_loads(text, 0, NULL) : NULL;
	const json_t *all = json_object_get(root, "scripts");
	const char *main = json_string_value(json_object_get(root, "main"));

	for (size_t i = 0; i < sizeof(scripts) / sizeof(scripts[0]) && !project->app; i++) {
		const char *script = json_string_value(json_object_get(all, scripts[i]));

		if (script && script[0])
			set_app(project, settle(script, &project->takes_one),
				"package.json, scripts.%s", scripts[i]);
	}
	/* Another script makes the file that it starts: dist/server.js. */
	target = project->app ? find_group(project->app, "node ([^ ]+\\.[cm]?js)") : NULL;
	if (target && !exists(target) && json_object_get(all, "build"))
		project->build = rr_strdup("npm run -s build");
	free(target);
	for (size_t i = 0; i < sources->n && root && !project->app; i++) {
		const char *path = sources->all[i].path;
		bool is_server = main && strcmp(main[0] == '.' ? main + 2 : main, path) == 0;

		for (size_t j = 0; j < sizeof(files) / sizeof(files[0]); j++)
			is_server |= strcmp(files[j], path) == 0;
		if (is_server && strstr(sources->all[i].text, "listen("))
			set_app(project, rr_asprintf("node %s", path), "%s", path);
	}
	json_decref(root);
	free(text);
}

/* A server without a package.json. */
static void find_node_file(struct rr_project *project, const struct rr_sources *sources)
{
	for (size_t i = 0; i < sources->n && !project->app; i++) {
		const struct rr_source *it = &sources->all[i];

		if ((rr_ends_in(it->path, ".js") || rr_ends_in(it->path, ".mjs") ||
		     rr_ends_in(it->path, ".cjs")) &&
		    strstr(it->text, ".listen(") && !strchr(it->path, '/'))
			set_app(project, rr_asprintf("node %s", it->path), "%s", it->path);
	}
}

/* ---- Python ----------------------------------------------------------------------------- */

/* Has that Python the package? */
static bool has_package(const char *python, const char *package)
{
	char *command =
		rr_asprintf("%s -c 'import importlib.util as u, sys\n"
			    "sys.exit(u.find_spec(\"%s\") is None)' </dev/null >/dev/null 2>&1",
			    python, package);
	const bool has = (!strchr(python, '/') || exists(python)) && system(command) == 0;

	free(command);
	return has;
}

/* The project's own, or one of the machine, that has the package, and the client of Redis if any has
 * both; NULL = none has. */
static const char *find_python_with(const char *package)
{
	static const char *const pythons[] = { ".venv/bin/python", "venv/bin/python",
					       "env/bin/python", "python3", "/usr/bin/python3" };
	const char *found = NULL;

	for (size_t i = 0; i < sizeof(pythons) / sizeof(pythons[0]); i++) {
		if (!has_package(pythons[i], package))
			continue;
		if (has_package(pythons[i], "redis"))
			return pythons[i];
		found = found ? found : pythons[i];
	}
	return found;
}

static const char *python_of(const char *package)
{
	const char *python = find_python_with(package);

	return python                     ? python :
	       exists(".venv/bin/python") ? ".venv/bin/python" :
	       exists("venv/bin/python")  ? "venv/bin/python" :
					    "python3";
}

/* "shop/app.py" as "shop.app", "shop/__init__.py" as "shop"; malloc'd. */
static char *module_of(const char *path)
{
	size_t n = strlen(path) - strlen(".py");
	char *module;

	if (n > 9 && strncmp(path + n - 9, "/__init__", 9) == 0)
		n -= 9;
	module = rr_strndup(path, n);
	for (char *at = module; *at; at++)
		*at = *at == '/' ? '.' : *at;
	return module;
}

/* What has been found of an application: where, what it is called, and is it a function that makes it? */
struct application {
	const char *path;
	char *module, *name;
	bool is_factory;
};

/* The first file that has one, or else a function that makes one; `imports`: what such a file imports. */
static bool find_application(const struct rr_sources *sources, const char *made_by,
			     const char *imports, struct application *found)
{
	static const char factory[] = "^def (create_app|make_app|get_app|create_application)\\(";
	char *variable = rr_asprintf("^([A-Za-z_]+) *(:[^=]*)?= *[A-Za-z_.]*(%s)\\(", made_by);
	char *imported = rr_asprintf("^ *(from|import) +(%s)", imports);

	*found = (struct application){ .path = NULL };
	for (int pass = 0; pass < 2 && !found->path; pass++) {
		for (size_t i = 0; i < sources->n && !found->path; i++) {
			const struct rr_source *it = &sources->all[i];

			char *import = rr_ends_in(it->path, ".py") ?
					       find_group(it->text, imported) :
					       NULL;

			if (import)
				found->name = find_group(it->text, pass == 0 ? variable : factory);
			free(import);
			if (!found->name)
				continue;
			found->path = it->path;
			found->is_factory = pass == 1;
			found->module = module_of(it->path);
		}
	}
	free(variable);
	free(imported);
	return found->path != NULL;
}

static void release_application(struct application *found)
{
	free(found->module);
	free(found->name);
}

/* Any callable of WSGI: gunicorn, or what Python itself has. Both take one request after the other. */
static char *serve_wsgi(const char *module, const char *name)
{
	const char *python = find_python_with("gunicorn");

	if (python)
		return rr_asprintf("%s -m gunicorn -w 1 -b 127.0.0.1:$PORT %s:%s", python, module,
				   name);
	return rr_asprintf(
		"%s -c 'import os, wsgiref.simple_server as s, %s as m; s.make_server(\"127.0.0.1\", int(os.environ[\"PORT\"]), m.%s).serve_forever()'",
		python_of("redis"), module, name);
}

static void find_python(struct rr_project *project, const struct rr_sources *sources)
{
	struct application it;

	if (exists("manage.py")) {
		set_app(project,
			rr_asprintf("%s manage.py runserver --noreload 127.0.0.1:$PORT",
				    python_of("django")),
			"manage.py");
	} else if (find_application(sources, "FastAPI|Starlette|Litestar|Quart",
				    "fastapi|starlette|litestar|quart", &it)) {
		set_app(project,
			rr_asprintf("%s -m uvicorn %s%s:%s --port $PORT", python_of("uvicorn"),
				    it.is_factory ? "--factory " : "", it.module, it.name),
			"%s: %s", it.path, it.name);
		release_application(&it);
	} else if (find_application(sources, "Flask", "flask", &it)) {
		set_app(project,
			rr_asprintf("FLASK_APP=%s:%s %s -m flask run --no-reload --port $PORT",
				    it.module, it.name, python_of("flask")),
			"%s: %s", it.path, it.name);
		release_application(&it);
	}
	/* wsgi.py and asgi.py have the callable under one of two names. */
	for (size_t i = 0; i < sources->n && !project->app; i++) {
		const struct rr_source *source = &sources->all[i];
		const char *slash = strrchr(source->path, '/');
		const char *name = slash ? slash + 1 : source->path;
		const bool is_asgi = strcmp(name, "asgi.py") == 0;
		char *callable = find_group(source->text, "^(application|app)( *=|\\()");
		char *module = module_of(source->path);

		if (!callable)
			callable = find_group(source->text, "^def (application|app)\\(");
		if (callable && is_asgi)
			set_app(project,
				rr_asprintf("%s -m uvicorn %s:%s --port $PORT",
					    python_of("uvicorn"), module, callable),
				"%s: %s", source->path, callable);
		else if (callable &&
			 (strcmp(name, "wsgi.py") == 0 || strstr(source->text, "start_response"))) {
			set_app(project, serve_wsgi(module, callable), "%s: %s", source->path,
				callable);
			project->takes_one = true;
		}
		free(callable);
		free(module);
	}
	/* A file that serves when it is run. */
	for (size_t i = 0; i < sources->n && !project->app; i++) {
		const struct rr_source *source = &sources->all[i];

		if (rr_ends_in(source->path, ".py") && !strchr(source->path, '/') &&
		    (strstr(source->text, "serve_forever(") || strstr(source->text, "run_app(") ||
		     strstr(source->text, "start_server(") || strstr(source->text, ".listen(")))
			set_app(project, rr_asprintf("%s %s", python_of("redis"), source->path),
				"%s", source->path);
	}
}

/* ---- Compiled languages ------------------------------------------------------------------- */

/* The main package, one that serves before others. */
static void find_go(struct rr_project *project, const struct rr_sources *sources)
{
	const struct rr_source *found = NULL;

	for (size_t i = 0; i < sources->n && exists("go.mod"); i++) {
		const struct rr_source *it = &sources->all[i];
		char *package = rr_ends_in(it->path, ".go") ?
					find_group(it->text, "^package (main)$") :
					NULL;

		if (package && strstr(it->text, "func main(") &&
		    (!found || (strstr(it->text, "http") && !strstr(found->text, "http"))))
			found = it;
		free(package);
	}
	if (!found)
		return;
	const char *slash = strrchr(found->path, '/');

	set_app(project, rr_strdup(MADE "/app"), "%s", found->path);
	project->build = rr_asprintf("mkdir -p " MADE " && go build -o " MADE "/app %s%.*s",
				     slash ? "./" : ".", slash ? (int)(slash - found->path) : 0,
				     found->path);
}

static void find_rust(struct rr_project *project)
{
	char *text = read_text("Cargo.toml");
	char *name = text && exists("src/main.rs") ? find_group(text, "^name *= *\"([^\"]+)\"") :
						     NULL;

	if (name) {
		set_app(project, rr_asprintf("target/debug/%s", name), "Cargo.toml");
		project->build = rr_strdup("cargo build -q");
	}
	free(name);
	free(text);
}

/* The archive that a build of Maven or Gradle leaves, without those of sources; a pattern where there is none
 * yet. malloc'd. */
static char *find_jar(const char *pattern)
{
	glob_t found;
	char *jar = NULL;

	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc && !jar; i++) {
			if (!strstr(found.gl_pathv[i], "-plain.jar") &&
			    !strstr(found.gl_pathv[i], "-sources.jar"))
				jar = rr_strdup(found.gl_pathv[i]);
		}
		globfree(&found);
	}
	return jar ? jar : rr_strdup(pattern);
}

static void find_java(struct rr_project *project, const struct rr_sources *sources)
{
	const bool is_maven = exists("pom.xml");
	const bool is_gradle = exists("build.gradle") || exists("build.gradle.kts");
	char *jar;

	if (is_maven || is_gradle) {
		jar = find_jar(is_maven ? "target/*.jar" : "build/libs/*.jar");
		/* Spring takes the port from this. */
		set_app(project, rr_asprintf("SERVER_PORT=$PORT java -jar %s", jar), "%s",
			is_maven ? "pom.xml" : "build.gradle");
		project->build = rr_asprintf("%s %s",
					     is_maven          ? exists("mvnw") ? "./mvnw" : "mvn" :
					     exists("gradlew") ? "./gradlew" :
								 "gradle",
					     is_maven ? "-q -DskipTests package" :
							"-q build -x test");
		free(jar);
		return;
	}
	for (size_t i = 0; i < sources->n && !project->app; i++) {
		const struct rr_source *it = &sources->all[i];
		const char *slash = strrchr(it->path, '/');
		char *package, *class;

		if (!rr_ends_in(it->path, ".java") ||
		    !strstr(it->text, "public static void main(") || !strstr(it->text, "Server"))
			continue;
		package = find_group(it->text, "^package ([a-zA-Z0-9_.]+);");
		class = rr_strdup(slash ? slash + 1 : it->path);
		class[strlen(class) - strlen(".java")] = '\0';
		set_app(project,
			rr_asprintf("java -cp " MADE " %s%s%s", package ? package : "",
				    package ? "." : "", class),
			"%s", it->path);
		project->build = rr_asprintf(
			"javac -d " MADE " %s",
			strchr(it->path, '/') ? "$(find . -name '*.java' -not -path '*/test/*')" :
						"*.java");
		free(package);
		free(class);
	}
}

/* ---- Ruby and PHP -------------------------------------------------------------------------- */

static void find_ruby(struct rr_project *project, const struct rr_sources *sources)
{
	const char *bundle = exists("Gemfile") ? "bundle exec " : "";

	if (exists("bin/rails")) {
		set_app(project, rr_strdup("bin/rails server -p $PORT"), "bin/rails");
	} else if (exists("config.ru")) {
		char *gems = read_text("Gemfile");

		set_app(project,
			rr_asprintf("%s%s -p $PORT", bundle,
				    gems && strstr(gems, "puma") ? "puma -w 0" : "rackup"),
			"config.ru");
		free(gems);
	}
	for (size_t i = 0; i < sources->n && !project->app; i++) {
		const struct rr_source *it = &sources->all[i];

		if (rr_ends_in(it->path, ".rb") && strstr(it->text, "sinatra"))
			set_app(project, rr_asprintf("%sruby %s -p $PORT", bundle, it->path), "%s",
				it->path);
	}
}

static void find_php(struct rr_project *project)
{
	static const char *const files[] = { "public/index.php", "web/index.php", "index.php",
					     "app.php", "server.php" };

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]) && !project->app; i++) {
		const char *slash = strchr(files[i], '/');

		if (!exists(files[i]))
			continue;
		set_app(project,
			rr_asprintf("php -S 127.0.0.1:$PORT %s%.*s%s%s", slash ? "-t " : "",
				    slash ? (int)(slash - files[i]) : 0, files[i], slash ? " " : "",
				    files[i]),
			"%s", files[i]);
		project->takes_one = true;
	}
}

/* ---- All of them ---------------------------------------------------------------------------- */

void rr_project_find(struct rr_project *project, const struct rr_sources *sources)
{
	static const struct {
		const char *file, *language, *script;
	} languages[] = {
		{ "package.json", "Node", "node checks/hit.js" },
		{ "pyproject.toml", "Python", "python3 checks/hit.py" },
		{ "requirements.txt", "Python", "python3 checks/hit.py" },
		{ "composer.json", "PHP", "php checks/hit.php" },
		{ "Gemfile", "Ruby", "ruby checks/hit.rb" },
		{ "go.mod", "Go", "./hit" },
	};

	*project = (struct rr_project){ .script = "sh checks/hit.sh" };
	for (size_t i = sizeof(languages) / sizeof(languages[0]); i-- > 0;) {
		if (exists(languages[i].file)) {
			project->language = languages[i].language;
			project->script = languages[i].script;
		}
	}
	find_in_procfile(project);
	if (!project->app)
		find_in_package(project, sources);
	if (!project->app)
		find_python(project, sources);
	if (!project->app)
		find_go(project, sources);
	if (!project->app)
		find_rust(project);
	if (!project->app)
		find_java(project, sources);
	if (!project->app)
		find_ruby(project, sources);
	if (!project->app)
		find_php(project);
	if (!project->app)
		find_node_file(project, sources);
}

void rr_project_release(struct rr_project *project)
{
	free(project->app);
	free(project->build);
	free(project->from);
	*project = (struct rr_project){ .app = NULL };
}
