/* SPDX-License-Identifier: MIT */
/* Time inside programs that are checked: they wait for minutes, and it costs nothing. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(check_time, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

/* A program that waits for 100 seconds hangs, if they really pass. */
#define CHECK "$REDRACE check --audit 1 --hangs-after 90 "

/* A program that fails is told by an exit code that is not the one wanted. */
static void check_program(const char *text, int code)
{
	cli_write("program", "%s\n", text);
	cr_assert_eq(cli_run("HERE=$HERE " CHECK "-- sh $HERE/program 2>&1"), code, "%s: %s", text,
		     cli_output);
}

static void compile(const char *name)
{
	cr_assert_eq(cli_runf("cc -O1 -o $HERE/%s tests/check/programs/%s.c -pthread 2>&1", name,
			      name),
		     0, "%s", cli_output);
}

/* ---- C ------------------------------------------------------------------------- */

static void check_waits(const char *const *names, size_t n)
{
	char text[200];

	compile("waits");
	for (size_t i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "$HERE/waits %s && " CLI "INCR counter", names[i]);
		check_program(text, 0);
	}
}

#define CHECK_WAITS(...)                                  \
	check_waits((const char *const[]){ __VA_ARGS__ }, \
		    sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

Test(check_time, waits_for_threads_cost_nothing)
{
	CHECK_WAITS("cond_timedwait_realtime", "cond_timedwait_monotonic", "cond_clockwait",
		    "cond_until_later", "sem_timedwait", "sem_clockwait", "mutex_timedlock",
		    "timedjoin", "futex_wait", "futex_wait_bitset");
}

Test(check_time, alarms_come_when_nobody_can_go_on)
{
	CHECK_WAITS("alarm", "setitimer", "alarm_in_sleep", "sigtimedwait");
}

Test(check_time, waits_for_descriptors_and_sleeping_cost_nothing)
{
	CHECK_WAITS("ppoll", "pselect", "epoll_pwait2", "usleep", "thrd_sleep");
}

/* Time passes to the end of one sleep after the other. */
Test(check_time, each_sleeper_wakes_at_its_own_time)
{
	CHECK_WAITS("two_sleepers", "killed_sleeper");
}

Test(check_time, a_loop_that_reads_the_clock_ends)
{
	CHECK_WAITS("spin", "spin_beside_a_sleeper");
}

/* ---- Other languages --------------------------------------------------------------- */

static void need(const char *command, const char *what)
{
	if (cli_run(command) != 0)
		cli_skip("%s is not there", what);
}

static const char python[] =
	"import queue, signal, subprocess, threading, time\n"
	"def wait(lock): lock.acquire(); return lock.acquire(timeout=100)\n"
	"def get():\n"
	"    try: queue.Queue().get(timeout=100)\n"
	"    except queue.Empty: pass\n"
	"def alarm():\n"
	"    signal.signal(signal.SIGALRM, lambda *_: None)\n"
	"    signal.alarm(100); signal.pause()\n"
	"def thread():\n"
	"    t = threading.Thread(target=time.sleep, args=(100,))\n"
	"    t.start(); t.join()\n"
	"def run():\n"
	"    try: subprocess.run(['sleep', '1000'], timeout=100)\n"
	"    except subprocess.TimeoutExpired: pass\n"
	"def spin():\n"
	"    end = time.time() + 100\n"
	"    while time.time() < end: pass\n"
	"def turn():\n"
	"    done = []\n"
	"    threading.Thread(target=lambda: done.append(1)).start()\n"
	"    while not done: pass\n"
	"    time.sleep(100)\n"
	"for f in (threading.Event().wait, lambda t: wait(threading.Lock())), (lambda t: get(), lambda t: alarm()), (lambda t: thread(), lambda t: run()), (lambda t: spin(), lambda t: turn()):\n"
	"    for g in f:\n"
	"        begun = time.monotonic(); g(100)\n"
	"        assert 100 <= time.monotonic() - begun < 100.1, g\n";

Test(check_time, python)
{
	char text[SUPPORT_DIRECTORY + 4000];

	need("/usr/bin/python3 -c ''", "Python");
	snprintf(text, sizeof(text),
		 "/usr/bin/python3 - <<'END' || exit 1\n%sEND\n" CLI "INCR counter", python);
	check_program(text, 0);
}

Test(check_time, node)
{
	need("node -e ''", "Node");
	check_program(
		"node -e 'const t = performance.now(); setTimeout(() => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100000); process.exit(Math.round((performance.now() - t) / 1000) == 200 ? 0 : 1); }, 100000)' || exit 1\n" CLI
		"INCR counter",
		0);
}

Test(check_time, java)
{
	static const char text[] = "java -Xshare:auto -cp $HERE T || exit 1\n" CLI "INCR counter";

	need("java -version 2>&1 && command -v javac", "Java");
	cr_assert_eq(
		cli_run("cat >$HERE/T.java <<'END'\n"
			"import java.util.concurrent.*;\n"
			"public class T { public static void main(String[] a) throws Exception {\n"
			"long t = System.nanoTime(); Object o = new Object();\n"
			"Thread.sleep(500); synchronized (o) { o.wait(500); }\n"
			"ScheduledExecutorService s = Executors.newScheduledThreadPool(1);\n"
			"s.schedule(() -> {}, 500, TimeUnit.MILLISECONDS).get(); s.shutdown();\n"
			"System.exit(Math.round((System.nanoTime() - t) / 1e8) == 15 ? 0 : 1); } }\n"
			"END\njavac -d $HERE $HERE/T.java 2>&1"),
		0, "%s", cli_output);
	check_program(text, 0);
}

/* A heartbeat that is written now is not years old, nor a file that was there before new. */
Test(check_time, files_are_changed_by_the_programs_clock)
{
	check_program(
		"/usr/bin/python3 -c 'import os, tempfile, time; f = tempfile.TemporaryFile(); "
		"time.sleep(50); old = os.stat(os.__file__).st_mtime; "
		"os.fchmod(f.fileno(), 0); now = time.time(); "
		"exit(not (0 <= now - os.fstat(f.fileno()).st_ctime < 1 and old < now - 60))' "
		"|| exit 1\n" CLI "INCR counter",
		0);
}

/* ---- Whether all threads sleep ------------------------------------------------------ */

/* There is always one that runs, but to a look at one after the other all sleep. */
Test(check_time, threads_that_wake_each_other_do_not_sleep)
{
	compile("handing");
	check_program("sleep 1000 & $HERE/handing || exit 1\nkill $!\n" CLI "INCR counter", 0);
}

/* ---- Times of day in values ------------------------------------------------------------ */

#define UNTIL "--crashes 1 --ignore lock --data-only -- " CLI_PYTHON "until "

/* The lock of a client that has crashed: on a real server the other one comes in when the
 * time is over that the lock's value says, and only then. */
Test(check_time, a_lock_whose_value_says_when_it_ends_is_no_deadlock)
{
	static const char program[] =
		"cat >$HERE/until <<'END'\n"
		"import raw, sys, time\n"
		"r, lasts = raw.Connection(), int(sys.argv[1])\n"
		"while True:\n"
		"    value, now = r('GET', 'lock'), int(time.time())\n"
		"    if value is None:\n"
		"        if r('SETNX', 'lock', now + lasts) == 1: break\n"
		"    elif int(value) < now:\n"
		"        if r('GETSET', 'lock', now + lasts) == value: break\n"
		"    time.sleep(1)\n"
		"r('INCR', 'counter')\n"
		"r('DEL', 'lock')\nEND\n";

	cr_assert_eq(cli_run(program), 0);
	cr_assert_eq(cli_run(CHECK "-o $HERE/result.json " UNTIL "600 2>&1"), 0, "%s", cli_output);
	cli_assert_json(".held_clock != null");
	cr_assert_eq(cli_run(CHECK "-o $HERE/result.json " UNTIL "300000 2>&1"), 1, "%s",
		     cli_output);
	cli_assert_property("search.verdict", "no_progress");
}

/* ---- Times of day that are data ------------------------------------------------------- */

static void check_python(const char *init, const char *text, int code)
{
	cli_write("init", "%s\n", init);
	cli_write("program.py", "import raw, time\nr = raw.Connection()\n%s\n", text);
	cr_assert_eq(cli_run(CHECK "--init $HERE/init -- " CLI_PYTHON "program.py 2>&1"), code,
		     "%s: %s", text, cli_output);
}

/* Where nobody has waited, one is a number as any other: two customers are told one appointment, a
 * payment is lost, an invoice has the number of another. */
Test(check_time, times_of_day_are_compared_where_nobody_has_waited)
{
	static const char none[] = "# nothing", invoice[] = "SET invoice 1900000000";

	check_python(none,
		     "slot = float(r('GET', 'next') or time.time())\n"
		     "r('SET', 'next', slot + 900); print('your slot: %d' % slot)",
		     1);
	check_python(none,
		     "until = float(r('HGET', 'user', 'paid') or time.time())\n"
		     "r('HSET', 'user', 'paid', until + 3600)",
		     1);
	check_python(none, "print(r('INCRBY', 'next', 900) - 900 + int(time.time()))", 0);
	check_python(invoice, "r('SET', 'invoice', int(r('GET', 'invoice')) + 1)", 1);
	check_python(invoice, "print(r('INCR', 'invoice'))", 0);
}

/* How long a client has waited is in what it writes, and says nothing of what it did. */
Test(check_time, how_long_a_client_has_waited_is_not_compared)
{
	check_python("# nothing",
		     "while not r('SET', 'lock', 1, 'NX'):\n    time.sleep(0.5)\n"
		     "r('SET', 'last', int(time.time() * 1000)); r('INCR', 'n'); r('DEL', 'lock')",
		     0);
}

/* What ends differ in only because time has passed is named, and takes the yes away. */
Test(check_time, what_moves_with_the_clock_is_no_yes)
{
	cli_write("moves.py", "import raw, sys, time\n"
			      "r = raw.Connection()\n"
			      "for i in range(3):\n"
			      "    if r('SET', 'lock', 1, 'NX'): break\n"
			      "    time.sleep(0.5)\n"
			      "else: sys.exit(1)\n"
			      "r('SET', 'last', int(time.time() * 1000))\n"
			      "r('DEL', 'lock')\n");
	cr_assert_eq(cli_run(CHECK "-o $HERE/moves.json -- " CLI_PYTHON "moves.py 2>&1"), 2, "%s",
		     cli_output);
	cr_assert_eq(cli_run("jq -e '.cases[0].properties | .not_compared == [\"last\"] and "
			     ".not_searched_because' $HERE/moves.json"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run(CHECK "--ignore last -o $HERE/moves.json -- " CLI_PYTHON
				   "moves.py 2>&1"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run("jq -e '.cases[0].properties.not_compared == []' $HERE/moves.json"), 0,
		     "%s", cli_output);
}
