/* SPDX-License-Identifier: MIT */
/* What programs draw at random: with one seed the same at each start, and never what another client,
 * process or thread draws. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(check_random, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* A client draws a line, notes it and increments a counter: it is started at least twice. */
static void draw_with(long seed, const char *options, const char *command)
{
	cli_write(
		"program",
		"line=$(%s) || exit 3\n"
		"set -f; echo $(printf '%%s ' $line | tr '\\\\' /) >>$HERE/drawn.%ld.$REDRACE_CLIENT\n"
		"redis-cli -p $REDIS_PORT INCR counter\n",
		command, seed);
	cr_assert_eq(
		cli_runf("export HERE; $REDRACE_ONCE check --no-cache --audit 1 --skeptic off "
			 "--data-only --allow-outside $HERE %s --seed %ld -- sh $HERE/program 2>&1",
			 options, seed),
		0, "%s: %s", command, cli_output);
}

/* The lines of two clients, each with two seeds, all differ, and each comes again. Runs with other
 * seeds, by which redrace finds out what is random, come once. */
static void check_draws_with(const char *options, const char *command, const char *what)
{
	cli_run("rm -f $HERE/drawn.*");
	draw_with(1, options, command);
	draw_with(101, options, command);
	cr_assert_eq(
		cli_run("for file in $HERE/drawn.*.*; do sort $file | uniq -c | sort -rn >$file.n; "
			"[ $(awk '$1 > 1' $file.n | wc -l) = 1 ] || exit 3; head -n 1 $file.n; "
			"done | sed 's/^ *[0-9]* //' | sort -u | wc -l; ls $HERE/drawn.*.n | wc -l"),
		0, "%s: %s", what, cli_output);
	cr_assert_str_eq(cli_output, "4\n4\n", "%s", what);
}

static void check_draws(const char *command, const char *what)
{
	check_draws_with("", command, what);
}

static void need(const char *program)
{
	if (cli_runf("command -v %s", program) != 0)
		cli_skip("%s is not there", program);
}

Test(check_random, c_draws_by_seed_client_process_and_thread)
{
	cr_assert_eq(cli_run("cc -O1 -o $HERE/draws tests/check/programs/draws.c -pthread 2>&1"), 0,
		     "%s", cli_output);
	check_draws("$HERE/draws", "C");
	cr_assert_eq(cli_run("tr ' ' '\\n' <$HERE/drawn.1.A | grep . | sort | uniq -c | sort -rn | "
			     "awk -v n=$(wc -l <$HERE/drawn.1.A) '$1 > n'"),
		     0);
	cr_assert_str_eq(cli_output, "", "a number is drawn twice in one run: %s", cli_output);
}

Test(check_random, python)
{
	need("/usr/bin/python3");
	cli_write(
		"draws.py", "%s",
		"import os, random, secrets, subprocess, sys, tempfile, threading, uuid\n"
		"if len(sys.argv) > 1: print(uuid.uuid4()); sys.exit()\n"
		"drawn = [uuid.uuid4(), random.random(), secrets.token_hex(4), os.urandom(4),\n"
		"    os.path.basename(tempfile.mkdtemp()), random.sample(range(99), 9), hash('a')]\n"
		"in_threads = {}\n"
		"threads = [threading.Thread(target=lambda i=i: in_threads.update({i: uuid.uuid4()}))\n"
		"    for i in range(3)]\n"
		"for t in threads: t.start()\n"
		"for t in threads: t.join()\n"
		"drawn += [in_threads[i] for i in range(3)]\n"
		"for i in range(2):\n"
		"    r, w = os.pipe()\n"
		"    if os.fork() == 0: os.write(w, uuid.uuid4().bytes); os._exit(0)\n"
		"    drawn.append(uuid.UUID(bytes=os.read(r, 16)))\n"
		"    drawn.append(subprocess.check_output([sys.executable, sys.argv[0], 'x']))\n"
		"uuids = [str(d) for d in drawn if isinstance(d, (bytes, uuid.UUID))]\n"
		"assert len(set(uuids)) == len(uuids)\n"
		"print(drawn)\n");
	check_draws("PYTHONHASHSEED= /usr/bin/python3 $HERE/draws.py", "Python");
}

Test(check_random, node)
{
	need("node");
	cli_write(
		"draws.mjs", "%s",
		"import crypto, { randomUUID } from 'node:crypto';\n"
		"import { Worker } from 'node:worker_threads';\n"
		"const drawn = [randomUUID(), crypto.randomBytes(4).toString('hex'), Math.random(),\n"
		"	globalThis.crypto.getRandomValues(new Uint16Array(3)).join(),\n"
		"	globalThis.crypto.randomUUID(), crypto.randomInt(1 << 30),\n"
		"	crypto.randomFillSync(new Uint32Array(3), 1).join()];\n"
		"if (new Set(drawn).size < drawn.length || !drawn[6].startsWith('0,')) process.exit(1);\n"
		"let threw = 0;\n"
		"for (const f of [() => crypto.randomBytes(-1), () => crypto.randomInt(3, 2)])\n"
		"	try { f(); } catch { threw++; }\n"
		"if (threw < 2) process.exit(1);\n"
		"const later = (f) => new Promise((done) => f((e, v) => done(v)));\n"
		"drawn.push((await later((f) => crypto.randomBytes(4, f))).toString('hex'),\n"
		"	await later((f) => crypto.randomInt(9, 1 << 30, f)),\n"
		"	(await later((f) => crypto.randomFill(new Uint32Array(2), f))).join(),\n"
		"	await new Promise((done) => new Worker(\n"
		"		'require(\"worker_threads\").parentPort.postMessage(Math.random())',\n"
		"		{ eval: true }).on('message', done)));\n"
		"console.log(drawn.join(' '));\n");
	check_draws("node $HERE/draws.mjs", "Node");
	/* What the user requires is required, too. */
	cli_write("own.cjs", "%s", "process.stdout.write('own ');");
	cr_assert_eq(
		cli_run("NODE_OPTIONS=\"--require $HERE/own.cjs\" $REDRACE_ONCE check --clients 1 "
			"--no-cache -- sh -c '[ \"$(node -e 0)\" = \"own \" ] && redis-cli -p "
			"$REDIS_PORT INCR c' 2>&1"),
		0, "%s", cli_output);
}

Test(check_random, php)
{
	need("php");
	check_draws(
		"php -r 'echo bin2hex(random_bytes(8)), \" \", mt_rand(), \" \", rand(), \" \", "
		"str_shuffle(\"abcdefghijkl\"), random_int(0, 99999);'",
		"PHP");
}

Test(check_random, ruby)
{
	need("ruby");
	check_draws("ruby -rsecurerandom -e 'puts SecureRandom.uuid + SecureRandom.hex(4)'",
		    "Ruby");
}

Test(check_random, perl)
{
	need("perl");
	check_draws("perl -e 'print rand, \" \", join(\",\", keys %{{map { $_ => 1 } 1 .. 30}})'",
		    "Perl");
}

Test(check_random, java)
{
	need("javac");
	cli_write("Draws.java", "%s",
		  "public class Draws { public static void main(String[] a) {\n"
		  "    System.out.println(java.util.UUID.randomUUID() + \" \" +\n"
		  "        new java.security.SecureRandom().nextLong()); } }\n");
	cr_assert_eq(cli_run("javac -d $HERE $HERE/Draws.java 2>&1"), 0, "%s", cli_output);
	check_draws("java -XX:+UseSerialGC -Xshare:auto -cp $HERE Draws", "Java");
}

Test(check_random, shells_and_tools)
{
	need("bash");
	need("openssl");
	check_draws("bash -c 'echo $RANDOM $SRANDOM $RANDOM'; mktemp -u XXXXXXXXXX; "
		    "head -c 8 /dev/urandom | od -An -tx1; cat /proc/sys/kernel/random/uuid; "
		    "openssl rand -hex 8; tr -dc a-z </dev/urandom | head -c 20",
		    "a tool");
}

/* ---- Process ids ----------------------------------------------------------------------- */

/* Calls that take and return process ids agree with each other, as the program itself sees. */
Test(check_random, process_ids_of_c)
{
	cr_assert_eq(cli_run("cc -O1 -o $HERE/pids tests/check/programs/pids.c -pthread 2>&1 && "
			     "$HERE/pids 2>&1"),
		     0, "%s", cli_output);
	check_draws_with("--fixed-pids", "$HERE/pids", "C");
	check_draws_with("--fixed-pids", "echo $$; (sh -c 'echo $$ $PPID'); $HERE/pids & wait $!",
			 "sh");
}

Test(check_random, process_ids_of_python)
{
	need("/usr/bin/python3");
	cli_write(
		"pids.py", "%s",
		"import os, socket, subprocess, sys, threading, uuid\n"
		"print(uuid.uuid1(), uuid.uuid1(), os.getppid())\n"
		"print(f'{socket.gethostname()}:{os.getpid()}:{threading.get_ident()}')\n"
		"threading.Thread(target=lambda: print(threading.get_native_id())).start()\n"
		"child = subprocess.Popen(['sh', '-c', 'echo $$ $PPID'], stdout=subprocess.PIPE)\n"
		"said = child.communicate()[0].split()\n"
		"assert [int(pid) for pid in said] == [child.pid, os.getpid()] and not child.wait()\n"
		"print(child.pid)\n");
	check_draws_with("--fixed-pids", "/usr/bin/python3 $HERE/pids.py", "Python");
}

Test(check_random, process_ids_of_other_languages)
{
	need("bash");
	check_draws_with("--fixed-pids",
			 "bash -c 'echo $$ $BASHPID $RANDOM $(echo $BASHPID $RANDOM)'", "bash");
	need("perl");
	check_draws_with("--fixed-pids",
			 "perl -e '$| = 1; print \"$$ \"; fork // die; wait; print \"$$ \", rand'",
			 "Perl");
	need("ruby");
	check_draws_with(
		"--fixed-pids",
		"ruby -e 'puts Process.pid, rand, `echo $$`, [*1..99].shuffle; $stdout.flush; "
		"Process.wait fork { puts Process.pid, rand }'",
		"Ruby");
	need("php");
	check_draws_with("--fixed-pids",
			 "php -r 'echo getmypid(), \" \", lcg_value(), \" \", uniqid(\"\", true);'",
			 "PHP");
	need("node");
	check_draws_with("--fixed-pids",
			 "node -e 'console.log(process.pid, process.ppid, "
			 "child_process.execSync(\"echo $$\").toString())'",
			 "Node");
}

/* A directory of its own for temporary files, and what the user has set stays. */
Test(check_random, what_programs_are_given)
{
	cr_assert_eq(cli_run("$REDRACE_ONCE check --clients 1 --no-cache -- sh -c "
			     "'[ -d $TMPDIR ] && [ -z \"$(ls -A $TMPDIR)\" ] && touch $TMPDIR/x && "
			     "redis-cli -p $REDIS_PORT INCR c' 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run("PYTHONHASHSEED=7 $REDRACE_ONCE check --clients 1 --no-cache -- sh -c "
			     "'[ $PYTHONHASHSEED = 7 ] && redis-cli -p $REDIS_PORT INCR c' 2>&1"),
		     0, "%s", cli_output);
}

/* ---- What the check makes of it -------------------------------------------------------- */

/* A program in Python that talks to Redis by r(...), and imports what it names, for some modules take as
 * long as Python; jq's answer to the JSON of the check, which another program may start. */
static void check_python_by(const char *starter, const char *options, const char *text, int code,
			    const char *filter)
{
	static const char *const modules[] = { "_sha256.", "hashlib.", "os.",  "random.",
					       "secrets.", "time.",    "uuid." };
	char imports[200] = "import raw; r = raw.Connection()\n";

	need("/usr/bin/python3");
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++) {
		if (strstr(text, modules[i]))
			sprintf(imports + strlen(imports), "import %.*s\n",
				(int)strcspn(modules[i], "."), modules[i]);
	}
	cli_write("draws.py", "%s%s\n", imports, text);
	cr_assert_eq(
		cli_runf("%s $REDRACE_ONCE check --no-cache -o $HERE/result.json %s -- " CLI_PYTHON
			 "draws.py 2>&1",
			 starter, options),
		code, "%s: %s", text, cli_output);
	cr_assert_eq(cli_runf("jq -e '.cases[0].properties | ., (%s)' $HERE/result.json", filter),
		     0, "%s: %s", text, cli_output);
}

static void check_python(const char *options, const char *text, int code, const char *filter)
{
	check_python_by("", options, text, code, filter);
}

/* A client is told another's value as it is, so that it may make anything of it. */
Test(check_random, what_is_made_of_values_is_made_of_those_that_were_sent)
{
	static const char *const jobs[] = { "'-'", "'_'", "'.'", "''" };
	char text[400];

	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		snprintf(text, sizeof(text),
			 "job = %s\n"
			 "r('SET', 'job' + %s + job, 'x'); r('LPUSH', 'queue', job)\n"
			 "if not r('GET', 'job' + %s + r('RPOP', 'queue')): r('RPUSH', 'lost', 1)",
			 i % 2 ? "raw.token()" : "raw.dashed(raw.token())", jobs[i], jobs[i]);
		check_python(i > 0 ? "--skeptic off --final 'EXISTS lost' 0" :
				     "--final 'EXISTS lost' 0",
			     text, 0, ".found == null");
	}
	check_python("--final 'SCARD seen' 1",
		     "r('SETNX', 'first', raw.token()); r('SADD', 'seen', r('GET', 'first')[0])", 0,
		     ".found == null");
}

Test(check_random, a_random_amount_is_lost)
{
	check_python("",
		     "v = int(r('GET', 'sum') or 0)\n"
		     "r('SET', 'sum', v + random.randrange(10**6, 10**7))",
		     1, ".anomaly == \"lost update\" and .seed == 1");
	check_python("", "r('INCRBY', 'sum', random.randrange(10**6, 10**7))", 0,
		     ".randomness.is_controlled");
}

Test(check_random, a_link_of_a_chain_is_lost)
{
	check_python("",
		     "head = r('GET', 'head') or ''\n"
		     "r('SET', 'head', _sha256.sha256((head + raw.token()).encode()).hexdigest())",
		     1, ".anomaly == \"lost update\"");
	check_python(
		"",
		"r('EVAL', \"local h = redis.call('GET', KEYS[1]) or ''; redis.call('SET', KEYS[1], "
		"redis.sha1hex(h .. ARGV[1]))\", 1, 'head', raw.token())",
		0, ".found == null");
}

/* The data is the same in each order: the skeptic renames tokens, but not those that are equal. */
Test(check_random, a_job_is_taken_by_another_client)
{
	check_python("",
		     "job = raw.dashed(raw.token())\n"
		     "r('SET', 'job_' + job, 'x'); r('LPUSH', 'queue', job)\n"
		     "if not r('GET', 'job_' + r('RPOP', 'queue')): r('RPUSH', 'lost', 1)",
		     0, ".skeptic.verdict == \"agrees\"");
}

/* What one of equal clients does is not learned again with what another one draws: such a lock took
 * 110 runs when it was. */
Test(check_random, equal_clients_share_what_is_known_of_them)
{
	static const char text[] =
		"token = raw.token()\n"
		"while not r('SET', 'lock', token, 'NX', 'PX', 10000): time.sleep(.01)\n"
		"r('SET', 'n', int(r('GET', 'n') or 0) + 1)\n"
		"if r('GET', 'lock') == token: r('DEL', 'lock')";

	check_python("", text, 0, ".starts < 85 and .skeptic.verdict == \"agrees\"");
}

/* What the first of equal clients does in a history, each of the others is run to do, too: here one
 * does something else in a history that is not the longest. Neither paths that are played nor the
 * skeptic are asked, and no seed shows it. */
Test(check_random, equal_clients_are_run_in_each_history)
{
	check_python("--audit 0 --skeptic off",
		     "r('RPUSH', 'drawn', uuid.uuid4().hex)\n"
		     "if r('INCR', 'turn') == 1: r('INCR', 'c'); r('INCR', 'c')\n"
		     "elif os.environ['REDRACE_CLIENT'] == 'A': r('INCR', 'c')\n"
		     "else: r('SET', 'c', int(r('GET', 'c') or 0) + 1)",
		     1, ".anomaly == \"lost update\"");
}

/* Where runs differ and the program has asked for its process id, that is the same from then on. */
Test(check_random, process_ids_are_fixed_where_runs_differ)
{
	static const char *const tokens[] = {
		"uuid.uuid1().hex",
		"f'{os.uname().nodename}:{os.getpid()}'",
		"__import__('subprocess').check_output(['sh', '-c', 'echo $$'])",
	};
	const char *container = "unshare --map-root-user --pid --fork --mount-proc";
	char text[400];

	if (cli_runf("%s true", container) != 0)
		container = "";
	/* In a container they are short: only clients that are known to draw them have the same table. */
	for (size_t i = 0; i < sizeof(tokens) / sizeof(tokens[0]); i++) {
		snprintf(text, sizeof(text),
			 "token = %s\n"
			 "while not r('SET', 'lock', token, 'NX'): time.sleep(.01)\n"
			 "r('SET', 'n', int(r('GET', 'n') or 0) + 1); r('DEL', 'lock')",
			 tokens[i]);
		check_python_by(i == 1 ? container : "", "", text, 0,
				".randomness.is_controlled and .randomness.has_fixed_pids and "
				".starts < 85 and .skeptic.verdict == \"agrees\"");
	}
	check_python("", "r('INCR', 'n'); print(os.getpid())", 0, ".randomness.has_fixed_pids");
	check_python("", "os.getpid(); r('INCR', 'n')", 0, ".randomness.has_fixed_pids | not");
}

/* What another client makes of a process id is made of the one that was sent. */
Test(check_random, a_worker_is_found_by_its_process_id)
{
	static const char text[] =
		"me = f'{os.getpid()}:{secrets.token_hex(6)}'\n"
		"r('SET', 'alive-' + me.replace(':', '-'), 1)\n"
		"r('SADD', 'workers', me)\n"
		"for other in r('SMEMBERS', 'workers'):\n"
		"    if not r('GET', 'alive-' + other.replace(':', '-')): r('RPUSH', 'dead', 1)";

	check_python("--final 'EXISTS dead' 0", text, 0, ".randomness.is_controlled");
}

/* The finding is replayed with the process ids with which it was found. */
Test(check_random, a_finding_keeps_its_process_ids)
{
	check_python("--save $HERE/found.race",
		     "while not r('SET', 'lock', uuid.uuid1().hex, 'NX'): r('DEL', 'lock')\n"
		     "r('SET', 'n', int(r('GET', 'n') or 0) + 1); r('DEL', 'lock')",
		     1, ".randomness.has_fixed_pids");
	cr_assert_eq(
		cli_run("grep -q -- --fixed-pids $HERE/found.race && $REDRACE_ONCE check "
			"--no-cache --replay $HERE/found.race -o $HERE/again.json -- env " CLI_PYTHON
			"draws.py 2>&1; [ $? = 1 ] && jq -e "
			"'.cases[0].properties.randomness.has_fixed_pids' $HERE/again.json"),
		0, "%s", cli_output);
}

/* What starts an app counts its processes by what /proc says of its own. */
Test(check_random, an_app_has_fixed_process_ids)
{
	need("curl");
	if (cli_run("/usr/bin/python3 -c 'import redis' 2>&1") != 0)
		cli_skip("redis-py is not installed: make deps-peers");
	cr_assert_eq(cli_run("$REDRACE_ONCE check --no-cache --audit 1 --skeptic off --fixed-pids "
			     "--init examples/check/stock.redis --app 'exec /usr/bin/python3 "
			     "examples/check/shop.py' --request 'curl -s -X POST {app}/buy' 2>&1"),
		     1, "%s", cli_output);
}

/* Runs that go on side by side must not share a file that is named by a process id. Of the ways to make
 * one, the skeptic plays the first: it asks what the program sends, which is the same. */
static void check_made_file(const char *options, const char *making)
{
	char text[500];

	snprintf(text, sizeof(text),
		 "name = os.environ['HERE'] + f'/made.{os.getpid()}'\n"
		 "%s; r('ECHO', 'x'); assert os.path.exists(name)\n"
		 "while not r('SET', 'lock', uuid.uuid1().hex, 'NX'): time.sleep(.01)\n"
		 "r('INCR', 'n'); r('DEL', 'lock')",
		 making);
	check_python(options, text, 0,
		     "(.randomness.is_controlled | not) and (.randomness.has_fixed_pids | not)");
}

Test(check_random, what_is_not_controlled_is_said)
{
	check_made_file("--allow-outside $HERE", "open(name, 'w')");
}

Test(check_random, directories_named_by_process_ids_are_not_shared)
{
	check_made_file("--allow-outside $HERE --skeptic off", "os.mkdir(name)");
}

Test(check_random, files_that_children_make_are_not_shared)
{
	check_made_file("--allow-outside $HERE --skeptic off", "os.system('echo >' + name)");
}

/* A static program draws from the kernel, at each start another token: whole tokens are renamed. In which
 * of the wrong ones terms grow while data with other names are sorted, the tokens say. */
Test(check_random, a_static_program_is_not_controlled)
{
	if (cli_run("cc -static -o $HERE/static tests/check/programs/uncontrolled.c 2>&1") != 0)
		cli_skip("no static C library");
	for (int i = 0; i < 6; i++)
		cr_assert_eq(
			cli_runf("$REDRACE_ONCE check --no-cache -o $HERE/result.json -- "
				 "$HERE/static %s 2>&1; [ $? = %d ] && jq -e "
				 "'.cases[0].properties | (.randomness.is_controlled | not) and "
				 ".anomaly == %s' $HERE/result.json",
				 i > 0 ? "wrong" : "right", i > 0,
				 i > 0 ? "\"lost update\"" : "null"),
			0, "%s", cli_output);
}

/* Too short to be exchanged. */
Test(check_random, equal_clients_draw_small_numbers)
{
	check_python("",
		     "if r('INCR', 'n') == 1: r('INCRBY', 'sum', random.randrange(100))\n"
		     "else: r('SET', 'sum', int(r('GET', 'sum') or 0) + random.randrange(1, 100))",
		     1, ".anomaly == \"lost update\"");
}

/* A client that draws once more is not another one for it. */
Test(check_random, a_later_draw_is_alike)
{
	check_python("",
		     "while not r('SET', 'lock', raw.token(), 'NX'): time.sleep(.01)\n"
		     "r('SET', 'n', int(r('GET', 'n') or 0) + 1); r('DEL', 'lock')",
		     0, ".found == null");
}

/* One of three takes the other way, by chance: another seed shows it, and is named. */
Test(check_random, a_choice_is_found_with_its_seed)
{
	static const char text[] =
		"r('INCR', 'n')\n"
		"if random.random() < .3: r('SET', 'c', int(r('GET', 'c') or 0) + 1)\n"
		"else: r('INCR', 'c')";

	check_python("--save $HERE/found.race", text, 1,
		     ".anomaly == \"lost update\" and .randomness.searches >= 1");
	cr_assert_eq(cli_run("seed=$(jq .cases[0].properties.seed $HERE/result.json); "
			     "$REDRACE_ONCE check --no-cache --replay $HERE/found.race -o "
			     "$HERE/again.json -- " CLI_PYTHON "draws.py 2>&1; [ $? = 1 ] && "
			     "[ $seed = $(jq .cases[0].properties.seed $HERE/again.json) ]"),
		     0, "%s", cli_output);
	check_python("", "r('INCR', 'c') if random.random() < .5 else r('INCRBY', 'c', 1)", 0,
		     ".randomness.searches > 1 and .randomness.seeds == 8");
}

/* Who draws nothing needs one seed. */
Test(check_random, other_seeds_are_for_those_that_draw)
{
	cr_assert_eq(cli_run("$REDRACE_ONCE check --no-cache -o $HERE/result.json -- sh -c "
			     "'redis-cli -p $REDIS_PORT INCR c' 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run("jq -e '.cases[0].properties.randomness.seeds == 1' "
			     "$HERE/result.json"),
		     0);
}
