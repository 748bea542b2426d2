/* SPDX-License-Identifier: MIT */
/* redrace init: what it finds of a project, and that the suite that it writes runs. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

static void setup(void)
{
	cli_setup();
	cr_assert_eq(cli_run("mkdir $HERE/p"), 0);
}

TestSuite(init, .init = setup, .fini = cli_teardown, .timeout = 600);

#define BEGIN "R=$(realpath $REDRACE_ONCE); cd $HERE/p && "

/* ---- What is written ------------------------------------------------------------------------ */

/* Writes the suite again; the server need not start. */
static void init(void)
{
	cr_assert_eq(cli_run(BEGIN "rm -f redrace.yaml && $R init 2>&1"), 0, "%s", cli_output);
}

/* Its text has that line, without what stands in a comment after it. */
static void assert_written(const char *line)
{
	cr_assert_eq(cli_runf("sed 's/ *#.*//' $HERE/p/redrace.yaml | grep -Fx -e \"%s\"", line), 0,
		     "no line '%s'", line);
}

/* It is a suite, with what stands in its comments, too. */
static void assert_valid(void)
{
	cr_assert_eq(cli_run(BEGIN "$R check 'no such' 2>&1"), 64, "%s", cli_output);
	cli_assert_names("'no such'");
	cr_assert_eq(
		cli_run(BEGIN
			"sed -E '/More that/d; s/^  # ([a-z0-9-]+:( #|$))/  \\1/; s/^  #   /    /' "
			"redrace.yaml >all.yaml; $R check --suite all.yaml 'no such' 2>&1"),
		64, "%s", cli_output);
	cli_assert_names("'no such'");
}

/* A file of the project. In a printf() of its own: some have % in them. */
static void add_file(const char *name, const char *text)
{
	char path[200];

	cli_runf("mkdir -p \"$(dirname $HERE/p/%s)\"", name);
	snprintf(path, sizeof(path), "p/%s", name);
	cli_write(path, "%s", text);
}

Test(init, finds_how_the_server_is_started)
{
	static const struct {
		const char *name, *text, *other_name, *other_text, *lines[4];
	} projects[] = {
		{ "Procfile",
		  "release: x\nweb: gunicorn -w 4 shop:app --reload\n",
		  NULL,
		  NULL,
		  { "  app: gunicorn shop:app -w 1", "  apps: 2" } },
		{ "Procfile",
		  "web: NODE_ENV=x bundle exec puma -w 3 -t 5\n",
		  NULL,
		  NULL,
		  { "  app: NODE_ENV=x bundle exec puma -t 5 -p \\$PORT" } },
		{ "Procfile",
		  "web: ./srv -a ': x' \n",
		  NULL,
		  NULL,
		  { "  app: './srv -a '': x'''" } },
		{ "package.json",
		  "{\"scripts\": {\"start\": \"nodemon src/a.js\"}}",
		  "src/a.js",
		  "app.post('/buy/:id', f)\napp.get(`/stock`, f)\nclient.post('/x')\n",
		  { "  app: node src/a.js", "  buy-1:", "    request: curl -s -X POST {app}/buy/1",
		    "    request: curl -s {app}/stock" } },
		{ "package.json",
		  "{\"scripts\": {\"start\": \"tsx watch a\", \"build\": \"b\"}}",
		  "node_modules/.bin/tsx",
		  "",
		  { "  app: node_modules/.bin/tsx a" } },
		{ "package.json",
		  "{\"scripts\": {\"start\": \"node dist/a.js\", \"build\": \"tsc\"}}",
		  NULL,
		  NULL,
		  { "  build: npm run -s build", "  app: node dist/a.js" } },
		{ "package.json",
		  "{\"main\": \"./srv.js\"}",
		  "srv.js",
		  "s.listen(process.env.PORT)",
		  { "  app: node srv.js", "    request: curl -s {app}/" } },
		{ "shop/web.py",
		  "from flask import Flask\ndef create_app():\n    app = Flask('x')\n",
		  "shop/r.py",
		  "@bp.route('/a/<int:n>', methods=['PUT'])\n@bp.route('/a/<n>')\n@bp.post('/login')\n",
		  { "  a-1:", "    request: curl -s -X PUT {app}/a/1",
		    "    request: curl -s {app}/a/1" } },
		{ "api/main.py",
		  "from fastapi import FastAPI\napi = FastAPI(title='x')\n"
		  "r = APIRouter(prefix='/v1')\n@r.delete('/a/{b}')\n",
		  NULL,
		  NULL,
		  { "    request: curl -s -X DELETE {app}/v1/a/1" } },
		{ "manage.py",
		  "",
		  "u/urls.py",
		  "urlpatterns = [path('admin/', admin.site.urls), path('x/', include('y')),\n"
		  "    path('take/<int:n>/', v.take),\n    path('see', v.see)]\n"
		  "@require_POST\n@csrf_exempt\ndef take(request): pass\ndef see(request): pass\n",
		  { "    request: curl -s -X POST {app}/take/1/",
		    "    request: curl -s {app}/see" } },
		{ "go.mod",
		  "module x\n",
		  "cmd/srv/main.go",
		  "package main\n\nimport \"net/http\"\n\nfunc main() {\n"
		  "\thttp.HandleFunc(\"PUT /a/{b}\", f)\n\tr.POST(\"/c\", f)\n}\n",
		  { "  build: mkdir -p .redrace && go build -o .redrace/app ./cmd/srv",
		    "  app: .redrace/app", "    request: curl -s -X PUT {app}/a/1",
		    "    request: curl -s -X POST {app}/c" } },
		{ "src/org/x/Main.java",
		  "package org.x;\nclass Main {\n  public static void main(String[] a) {\n"
		  "    HttpServer.create().createContext(\"/hit\", f);\n  }\n}\n",
		  NULL,
		  NULL,
		  { "  app: java -cp .redrace org.x.Main", "    request: curl -s {app}/hit" } },
		{ "pom.xml",
		  "",
		  "src/A.java",
		  "@RequestMapping(\"/api\")\n@PostMapping(\"/a/{id}\")\n@PostMapping\n",
		  { "  build: mvn -q -DskipTests package",
		    "    request: curl -s -X POST {app}/api/a/1",
		    "    request: curl -s -X POST {app}/api" } },
		{ "Cargo.toml",
		  "[package]\nname = \"shop\"\n",
		  "src/main.rs",
		  ".route(\"/buy\", post(buy))\n",
		  { "  build: cargo build -q", "  app: target/debug/shop",
		    "    request: curl -s -X POST {app}/buy" } },
		{ "app.rb",
		  "require 'sinatra'\npost '/buy' do\n",
		  NULL,
		  NULL,
		  { "  app: ruby app.rb -p \\$PORT", "    request: curl -s -X POST {app}/buy" } },
		{ "public/index.php",
		  "<?php\n$app->post('/buy', f);\n$redis->get('stock');\n",
		  NULL,
		  NULL,
		  { "  app: php -S 127.0.0.1:\\$PORT -t public public/index.php", "  apps: 2",
		    "    request: curl -s -X POST {app}/buy" } },
		{ "srv.js",
		  "if (req.url === '/hit' && req.method == 'PUT') x\nhttp.listen(1)\n",
		  NULL,
		  NULL,
		  { "  app: node srv.js", "    request: curl -s -X PUT {app}/hit" } },
	};

	for (size_t i = 0; i < sizeof(projects) / sizeof(projects[0]); i++) {
		cli_run("rm -rf $HERE/p && mkdir $HERE/p");
		add_file(projects[i].name, projects[i].text);
		if (projects[i].other_name)
			add_file(projects[i].other_name, projects[i].other_text);
		/* Nothing of it is really run, nor built. */
		cr_assert_eq(cli_run(BEGIN "mkdir $HERE/bin 2>/dev/null; for f in node php ruby "
					   "bundle gunicorn npm go cargo mvn java javac; do printf "
					   "'#!/bin/sh\\nexit 3\\n' >$HERE/bin/$f; chmod +x "
					   "$HERE/bin/$f; done; PATH=$HERE/bin:$PATH $R init 2>&1"),
			     0, "%s", cli_output);
		cli_assert_names("redrace.yaml");
		for (size_t j = 0; j < 4 && projects[i].lines[j]; j++) {
			char line[200];

			/* More than fit the processors stand in comments. */
			snprintf(line, sizeof(line), "%s", projects[i].lines[j]);
			cr_assert_eq(cli_runf("sed 's/^  # /  /; s/^  #   /    /; s/ *#.*//' "
					      "$HERE/p/redrace.yaml | grep -Fx -e \"%s\"",
					      line),
				     0, "project %zu has no line '%s': %s", i, line, cli_output);
		}
		cr_assert_neq(cli_run("grep -E '{app}/(x|admin)' $HERE/p/redrace.yaml"), 0, "%s",
			      cli_output);
		assert_valid();
	}
}

Test(init, names_a_script_where_there_is_no_server)
{
	static const struct {
		const char *file, *program;
	} projects[] = {
		{ "none", "sh checks/hit.sh" },
		{ "package.json", "node checks/hit.js" },
		{ "Gemfile", "ruby checks/hit.rb" },
		{ "composer.json", "php checks/hit.php" },
		{ "go.mod", "./hit" },
		{ "pyproject.toml", "python3 checks/hit.py" },
	};

	for (size_t i = 0; i < sizeof(projects) / sizeof(projects[0]); i++) {
		char line[60];

		cli_run("rm -rf $HERE/p && mkdir $HERE/p");
		add_file(projects[i].file, "");
		init();
		snprintf(line, sizeof(line), "    command: %s", projects[i].program);
		assert_written(line);
		assert_valid();
		cr_assert_eq(cli_run(BEGIN "$R check 2>&1"), 64, "%s", cli_output);
		cli_assert_names(projects[i].program);
	}
}

Test(init, never_replaces_a_file)
{
	add_file("redrace.yaml", "mine\n");
	cli_assert_one_line(BEGIN "$R init 2>&1", 64, "redrace.yaml");
	cr_assert_eq(cli_run("cat $HERE/p/redrace.yaml"), 0);
	cr_assert_str_eq(cli_output, "mine\n");
}

/* ---- Servers ----------------------------------------------------------------------------- */

/* Reads, adds 1 and writes. */
static const char server[] =
	"import os, raw\n"
	"from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer\n"
	"class App(BaseHTTPRequestHandler):\n"
	"    def say(self, status, text):\n"
	"        self.send_response(status)\n"
	"        self.end_headers()\n"
	"        self.wfile.write(text.encode())\n"
	"    def do_POST(self):\n"
	"        body = self.rfile.read(int(self.headers['Content-Length'] or 0))\n"
	"        r = raw.Connection()\n"
	"        if self.path == '/hit':\n"
	"            r('SET', 'hits', int(r('GET', 'hits') or 0) + 1)\n"
	"            self.say(200, 'hit')\n"
	"        elif self.path == '/v1/orders/1' and body == b'{\"item\":1,\"note\":\"a\"}':\n"
	"            r('SET', 'orders', int(r('GET', 'orders') or 0) + 1)\n"
	"            self.say(200, 'ordered')\n"
	"        else:\n"
	"            self.say(422, 'no ' + str(body))\n"
	"    def do_GET(self):\n"
	"        if self.path == '/openapi.json' and os.path.exists('api.json'):\n"
	"            self.say(200, open('api.json').read())\n"
	"        else:\n"
	"            self.say(404, '')\n"
	"ThreadingHTTPServer(('127.0.0.1', int(os.environ['PORT'])), App).serve_forever()\n";

/* The first check, by default of all that the suite has. */
static void check(int code)
{
	cr_assert_eq(cli_run(BEGIN "$R check --no-cache --skeptic off --audit 1 -o "
				   "$HERE/result.json 2>&1"),
		     code, "%s", cli_output);
}

Test(init, suite_runs_and_finds_the_race_of_the_server)
{
	add_file("serve.py", server);
	add_file("Procfile", "web: /usr/bin/python3 -S serve.py\n");
	init();
	check(RR_EXIT_VIOLATED);
	cli_assert_json("[$all | .. | .known_as? // empty] | flatten | contains([\"lost update "
			"(hits)\"])");
}

Test(init, asks_the_server_for_its_openapi_document)
{
	add_file("serve.py", server);
	add_file("Procfile", "web: /usr/bin/python3 -S serve.py\n");
	add_file(
		"api.json",
		"{\"openapi\": \"3.1.0\", \"servers\": [{\"url\": \"/v1\"}], \"paths\": {\n"
		"  \"/orders/{shop}\": {\"post\": {\"requestBody\": {\"content\": "
		"{\"application/json\": {\"schema\": {\"$ref\": \"#/components/schemas/Order\"}}}}}},\n"
		"  \"/login\": {\"post\": {}},\n"
		"  \"/it's\": {\"get\": {}}},\n"
		" \"components\": {\"schemas\": {\"Order\": {\"type\": \"object\", "
		"\"required\": [\"item\", \"note\"], \"properties\": {\"item\": {\"type\": "
		"\"integer\"}, \"note\": {\"type\": \"string\"}, \"gift\": {\"type\": "
		"\"boolean\"}}}}}}\n");
	init();
	assert_written("  v1-orders-1:");
	assert_written(
		"    request: curl -s -X POST {app}/v1/orders/1 -H "
		"content-type:application/json -d '{\\\"item\\\":1,\\\"note\\\":\\\"a\\\"}'");
	cr_assert_eq(cli_run("grep -e '# setup:.*{app}/v1/login$' $HERE/p/redrace.yaml"), 0);
	assert_valid();
	check(RR_EXIT_VIOLATED);
	cli_assert_json("[$all | .. | .known_as? // empty] | flatten | "
			"contains([\"lost update (orders)\"])");
}

Test(init, builds_a_program_in_go_and_serves_it)
{
	if (cli_run("command -v go") != 0)
		cli_skip("no Go");
	add_file("go.mod", "module example.org/shop\n\ngo 1.18\n");
	add_file(
		"main.go",
		"package main\n\nimport (\n\t\"bufio\"\n\t\"fmt\"\n\t\"net\"\n\t\"net/http\"\n\t\"os\"\n)\n\n"
		"func hit(w http.ResponseWriter, r *http.Request) {\n"
		"\tc, _ := net.Dial(\"tcp\", \"localhost:6379\")\n\tdefer c.Close()\n"
		"\tin := bufio.NewReader(c)\n"
		"\tfmt.Fprint(c, \"*2\\r\\n$6\\r\\nEXISTS\\r\\n$1\\r\\nk\\r\\n\")\n"
		"\tline, _ := in.ReadString('\\n')\n"
		"\tif line != \":0\\r\\n\" {\n\t\tw.WriteHeader(409)\n\t\treturn\n\t}\n"
		"\tfmt.Fprint(c, \"*3\\r\\n$3\\r\\nSET\\r\\n$1\\r\\nk\\r\\n$1\\r\\n1\\r\\n\")\n"
		"\tin.ReadString('\\n')\n\tfmt.Fprint(w, \"first\")\n}\n\n"
		"func main() {\n\thttp.HandleFunc(\"/first\", hit)\n"
		"\thttp.ListenAndServe(\":\"+os.Getenv(\"PORT\"), nil)\n}\n");
	cr_assert_eq(cli_run(BEGIN
			     "export GOCACHE=$HERE/cache; $R init 2>&1 && $R check --no-cache "
			     "--audit 1 -o $HERE/result.json 2>&1"),
		     RR_EXIT_VIOLATED, "%s", cli_output);
	cli_assert_json("[$all | .. | .kinds? // empty] | flatten | contains([\"lost_update\"])");
	/* What is edited is built again. */
	cr_assert_eq(cli_run(BEGIN "export GOCACHE=$HERE/cache; sed -i 's/first\"/first/' main.go; "
				   "$R check 2>&1"),
		     65, "%s", cli_output);
	cli_assert_names("main.go:");
}

Test(init, finds_the_redis_of_the_server_where_its_code_has_it)
{
	cli_write("p/serve.py", "%s", server);
	cr_assert_eq(cli_run("sed -i 's/^class App/raw.Connection(46390)\\n&/; "
			     "s/r = raw.Connection()/r = raw.Connection(46390)/' $HERE/p/serve.py"),
		     0);
	add_file("Procfile", "web: /usr/bin/python3 -S serve.py\n");
	init();
	cr_assert_eq(cli_run("grep '^  redis-at: 127.0.0.1:46390 ' $HERE/p/redrace.yaml"), 1,
		     "nothing says which port: %s", cli_output);
	cr_assert_eq(cli_run("sed -i 's/^class App/try:\\n  raw.Connection(46390)\\n"
			     "except OSError as e: raise SystemExit(\"Error 111 connecting to "
			     "localhost:46390. Connection refused\")\\n&/; /^raw.Conn/d' "
			     "$HERE/p/serve.py"),
		     0);
	init();
	assert_written("  redis-at: localhost:46390");
	check(RR_EXIT_VIOLATED);
}

/* ---- Servers that do not start --------------------------------------------------------------- */

Test(init, the_first_line_of_the_first_check_says_why_the_server_does_not_start)
{
	add_file("serve.py", "raise KeyError('no stock')\n");
	add_file("Procfile", "web: /usr/bin/python3 -S serve.py\n");
	init();
	cli_assert_names("KeyError: 'no stock'");
	check(65);
	cr_assert(strstr(cli_output, "KeyError") &&
			  strstr(cli_output, "KeyError") < strstr(cli_output, "\n\n"),
		  "%s", cli_output);
	cli_assert_json("$all | tostring | contains(\"KeyError\")");
	/* Processes and files are gone. */
	cr_assert_eq(cli_run("pgrep -af \"$HERE/[s]\""), 1, "%s", cli_output);
}

Test(init, says_which_line_to_write_for_several_processes)
{
	add_file("serve.py", server);
	cr_assert_eq(cli_run("sed -i 's/^ThreadingHTTPServer\\(.*\\).serve_forever()/s = "
			     "HTTPServer\\1\\nos.fork()\\nif os.fork(): os.wait()\\n"
			     "s.serve_forever()/' $HERE/p/serve.py"),
		     0);
	add_file("Procfile", "web: /usr/bin/python3 -S serve.py\n");
	init();
	cli_assert_names("--apps");
	check(65);
	cli_assert_names("--apps");
}

/* While the server computes, and so is neither up nor not. */
Test(init, ends_when_it_is_interrupted)
{
	add_file("Procfile", "web: touch begun; while :; do :; done\n");
	cr_assert_eq(
		cli_run("R=$(realpath $REDRACE_ONCE); cd $HERE/p; timeout 60 $R init >/dev/null 2>&1 & pid=$!; i=0; while "
			"[ ! -e begun ] && [ $i -lt 500 ]; do sleep 0.05; i=$((i + 1)); "
			"done; kill -TERM $pid; wait $pid"),
		130, "%s", cli_output);
	cr_assert_eq(cli_run("pgrep -af '[t]ouch begun' || test -e $HERE/p/redrace.yaml"), 1, "%s",
		     cli_output);
}
