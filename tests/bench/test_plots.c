/* SPDX-License-Identifier: MIT */
/* The plots of real results: drawn without a warning, and legible. */
#include "../cli.h"

#include <stdio.h>
#include <string.h>

TestSuite(plots, .init = cli_setup, .fini = cli_teardown, .timeout = 600);

static void need_gnuplot(void)
{
	if (cli_run("command -v gnuplot") != 0)
		cli_skip("no gnuplot");
}

/* Runs a small bench in $HERE/a and draws it; what is printed besides the last
 * line is a warning. */
static void draw_bench(const char *arguments)
{
	char command[400];

	need_gnuplot();
	snprintf(command, sizeof(command),
		 "$REDRACE bench %s --warmup 10 --output $HERE/a >$HERE/table 2>&1; "
		 "sh plots/draw $HERE/a >$HERE/drawn 2>&1; code=$?; "
		 "grep -v '^plots:' $HERE/drawn; exit $code",
		 arguments);
	cr_assert_eq(cli_run(command), 0, "%s: %s", arguments, cli_output);
	cr_assert_str_empty(cli_output, "%s: %s", arguments, cli_output);
	cr_assert_eq(cli_run("sh tests/check_plots $HERE/a/plots/*.svg"), 0, "%s: %s", arguments,
		     cli_output);
}

/* All texts of the picture, as they follow one another: lines are wrapped. */
static void assert_shown(const char *file, const char *text)
{
	cr_assert_eq(
		cli_runf("sed -n 's/.*<text>//p' $HERE/a/plots/%s | sed 's/<[^>]*>//g' | tr -s ' \\n' '  ' |"
			 " grep -F -e '%s'",
			 file, text),
		0, "%s does not say '%s'", file, text);
}

Test(plots, one_strategy)
{
	draw_bench("lua-delifequals --increments 100");
	assert_shown("throughput.svg", "2 threads · 100 increments, closed loop");
	assert_shown("lost.svg", "nothing was lost");
	cr_assert_eq(cli_run("cd $HERE/a/plots && ls *.png | tr -d '\\n'"), 0);
	cr_assert_str_eq(cli_output, "commands.pngfairness.png"
				     "lost.pngthroughput.pngwait.png");
	cr_assert_eq(cli_run("grep -c 'left out: a quantile needs 100 increments' $HERE/drawn"), 0);
}

Test(plots, all_strategies_are_grouped)
{
	draw_bench("--all-strategies --increments 60 --repeats 2");
	assert_shown("throughput.svg", "a timestamp as lock");
	assert_shown(
		"throughput.svg",
		"2 threads · 60 increments, closed loop · unix, one processor · median of 2 repeats and their range");
}

/* As many decades as 100,000,000 increments have, in panels. */
Test(plots, percentiles_of_many_increments_have_room)
{
	draw_bench("--all-strategies --increments 200 --repeats 2");
	cr_assert_eq(
		cli_run("for file in $HERE/a/percentiles/*-p1.csv; do echo 99000000,99.9999,99999900,1000000,0 >>$file; done;"
			" sh plots/draw $HERE/a >$HERE/drawn 2>&1 && sh tests/check_plots $HERE/a/plots/percentiles.svg"),
		0, "%s", cli_output);
	assert_shown("percentiles.svg", "99.99 %");
	assert_shown("percentiles.svg", "a lock in a key (2 of ");
	assert_shown(
		"percentiles.svg",
		"2 threads · 200 increments, closed loop · unix, one processor · 2 repeats pooled, no median of them");
}

Test(plots, sweep_draws_lines)
{
	draw_bench("--threads 1,2,4,8,16 --increments 60");
	assert_shown("scaling.svg", "local-mutex-per-op");
	assert_shown("lost-share.svg", "none");
	assert_shown("counts.svg", "Lost updates and throughput over clients");
	assert_shown("wait-over-clients.svg", "The longest wait for a turn");
	assert_shown("lost.svg", "16 threads · 60 increments, closed loop");
	cr_assert_neq(cli_run("test -e $HERE/a/plots/throughput.svg"), 0);
}

/* A band behind each line of a sweep that was repeated, and its words. */
Test(plots, intervals_of_several_repeats_are_bands)
{
	draw_bench("none incr --threads 1,2 --increments 60 --repeats 2");
	assert_shown("scaling.svg",
		     "1 process, clients are its threads · 60 increments, closed loop · unix, one "
		     "processor · median of 2 repeats and their range");
	cr_assert_eq(cli_run("grep -c 'fill-opacity = .0.10' $HERE/a/plots/scaling.svg"), 0);
	cr_assert_str_eq(cli_output, "2\n");
}

Test(plots, processes_are_no_threads)
{
	draw_bench("none incr --processes 4 --threads 1 --increments 200");
	assert_shown("lost.svg", "4 processes × 1 thread = 4 clients");
}

Test(plots, refused_attempts_are_no_increments)
{
	draw_bench(
		"lua-delifequals redlock --threads 4 --wait fail-fast --hold-us 900 --increments 200");
	assert_shown("throughput.svg",
		     "4 threads · 200 increments, closed loop, 900 µs of work · --wait fail-fast");
	cr_assert_eq(cli_run("grep -c '% refused' $HERE/a/plots/throughput.svg"), 0);
	cr_assert_eq(cli_run("sh tests/check_csv $HERE/a"), 0, "%s", cli_output);
}

/* Bars are sorted: the first name is that of the fastest, which on a busy machine may be any. */
Test(plots, bars_are_sorted_and_show_medians)
{
	need_gnuplot();
	cr_assert_eq(
		cli_run("$REDRACE bench redlock set-nx-ex incr --increments 300 --repeats 3 --output $HERE/a >$HERE/table && sh plots/draw $HERE/a &&"
			"awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"increments_per_s_median\") c = i; next } { print $c, $2 }' $HERE/a/summary.csv | sort -rn >$HERE/medians &&"
			"awk '{ x = sprintf(\"%.0f\", $1); print $2; print (x + 0 >= 1000 ? int(x / 1000) \",\" substr(x, length(x) - 2) : x) }' $HERE/medians >$HERE/expected &&"
			"grep '[a-z]' $HERE/expected >$HERE/names &&"
			"grep -oE '>(incr|set-nx-ex|redlock)<' $HERE/a/plots/throughput.svg | tr -d '<>' | diff $HERE/names - &&"
			"while read x; do grep -F \">$x<\" $HERE/a/plots/throughput.svg || exit 9; done <$HERE/expected >/dev/null"),
		0, "%s", cli_output);
}

/* The median and its interval are the same wherever they stand. */
Test(plots, table_summary_and_plots_agree)
{
	draw_bench("none incr local-mutex --increments 11000 --repeats 6");
	cr_assert_eq(
		cli_run("awk -F, 'function grouped(x) { x = sprintf(\"%.0f\", x); return x + 0 >= 1000 ? substr(x, 1, length(x) - 3) \",\" substr(x, length(x) - 2) : x }"
			"NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }"
			"function rate(which) { return grouped($at[\"increments_per_s_\" which]) }"
			"{ print $2, grouped($at[\"final_value_median\"]), grouped($at[\"lost_median\"]), rate(\"median\"), rate(\"low\"), rate(\"high\"), grouped($at[\"lost_low\"]) \"–\" grouped($at[\"lost_high\"]) }' $HERE/a/summary.csv |"
			"while read name final lost median low high range; do"
			" grep -E \"^$name +$final +$lost +$median \" $HERE/table || exit 1;"
			" grep -A2 \"^$name \" $HERE/table | grep -E \"^  from .* $low( |\\$)\" || exit 2;"
			" grep -A2 \"^$name \" $HERE/table | grep -E \"^  to .* $high( |\\$)\" || exit 3;"
			" grep -F \">$median<\" $HERE/a/plots/throughput.svg || exit 4;"
			" grep -F \">$low–$high<\" $HERE/a/plots/throughput.svg || exit 5;"
			" [ $name != none ] || grep -F \">$range<\" $HERE/a/plots/lost.svg || exit 6; done"),
		0, "%s", cli_output);
	cr_assert_eq(
		cli_run("tr '\\n' ' ' <$HERE/table | grep -c 'median of 6 repeats; from, to: its 96.9 % interval, value 1 to 6'"),
		0);
	assert_shown(
		"lost.svg",
		"2 threads · 11,000 increments, closed loop · unix, one processor · median of 6 repeats and its 96.9 % interval");
}

/* At 360 pixels its smallest letters have nine; and it has colours for dark pages. */
Test(plots, follow_dark_pages_and_can_be_read_on_a_telephone)
{
	draw_bench("none incr --threads 1,2 --increments 300 --repeats 2");
	cr_assert_eq(
		cli_run("for f in $HERE/a/plots/*.svg; do grep -q 'prefers-color-scheme: dark' $f || exit 1;"
			" awk '/viewBox/ { split($0, box, /[ \"]+/); for (i in box) if (box[i] == \"viewBox=\") width = box[i + 3] }"
			" match($0, /font-size=\"[0-9.]+\"/) { size = substr($0, RSTART + 11, RLENGTH - 12); if (size * 360 / width < 9) exit 1; n++ }"
			" END { if (n < 5) exit 1 }' $f || { echo $f; exit 1; };"
			" python3 -S -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' $f || exit 1; done"),
		0, "%s", cli_output);
}

/* Lines over the rates, but for those that were not sustained; written by hand, because a busy machine
 * may sustain none. */
Test(plots, open_loops_have_lines_over_their_rates)
{
	need_gnuplot();
	cli_write(
		"runs.csv",
		"run_id,increments,transport,placement,persistence,hold_us,keys,seconds_per_cell\n"
		"1,1000,unix,same,none,0,1,2\n");
	cli_write(
		"summary.csv",
		"strategy,threads,processes,n,verdict,expectation,lock,policy,rate_asked,lat_p50_ns_median,"
		"lat_p50_ns_low,lat_p50_ns_high\n"
		"incr,2,1,6,exact,exact,none,none,50%%,30000,29000,31000\n"
		"incr,2,1,6,exact,exact,none,none,95%%,90000,80000,95000\n"
		"setnx,2,1,6,exact,exact,key,backoff:1-2us,50%%,60000,50000,70000\n"
		"setnx,2,1,6,exact,exact,key,backoff:1-2us,95%%,,,\n");
	cr_assert_eq(
		cli_run("mkdir $HERE/a && mv $HERE/*.csv $HERE/a && sh plots/draw $HERE/a >$HERE/drawn 2>&1;"
			" cat $HERE/drawn; sh tests/check_plots $HERE/a/plots/*.svg"),
		0, "%s", cli_output);
	cli_assert_prints("tail-over-rate is left out: a quantile needs 100 increments beyond it");
	assert_shown("median-over-rate.svg", "2 threads · 2 s of each, open loop · unix");
	assert_shown("median-over-rate.svg", "95 %");
	cr_assert_neq(cli_run("test -e $HERE/a/plots/lost.svg"), 0);
}

/* ---- Who was in the critical section when ---------------------------------- */

/* A mutex of each process: the two processes meet inside, even if one begins late. */
Test(plots, overlaps_of_holders_are_marked)
{
	draw_bench(
		"local-mutex none --processes 2 --threads 1 --hold-us 5000 --increments 200 --trace 100");
	assert_shown("holders-local-mutex.svg", "client 2, process 2");
	assert_shown("holders-local-mutex.svg", "dark: alone; hatched: with another");
	cr_assert_eq(
		cli_run("awk -F, '$7 > 0' $HERE/a/holders/local-mutex-t1-p2-r1.csv | grep -q . && ls $HERE/a/holders"),
		0);
	cr_assert_str_eq(cli_output, "local-mutex-t1-p2-r1.csv\n");
}

/* The last five of each client, in order, one after the other. */
Test(plots, trace_keeps_the_last_of_each_client)
{
	draw_bench("lua-delifequals --threads 3 --increments 90 --trace 5");
	assert_shown(
		"holders-lua-delifequals.svg",
		"dark: in the critical section; thin: asking; no client met another in it, 15 times traced");
	cr_assert_eq(
		cli_run("awk -F, 'NR > 1 { n[$1]++; if ($4 > $5 || $5 >= $6 || $5 < left || $7) exit 1; left = $6 }"
			"END { exit !(NR == 16 && n[1] == 5 && n[2] == 5 && n[3] == 5) }' $HERE/a/holders/*.csv"),
		0);
}

Test(plots, nothing_is_traced_unless_asked_for)
{
	cr_assert_eq(
		cli_run("$REDRACE bench incr --increments 10 --warmup 0 --output $HERE/a >$HERE/t && test ! -e $HERE/a/holders"),
		0);
	cli_assert_one_line("$REDRACE bench incr --threads 200 --trace 10000 --output $HERE/b 2>&1",
			    RR_EXIT_USAGE, "--trace 10000 with 200 clients");
}

/* After a bench whose pictures could not be drawn. */
Test(plots, how_to_draw_them_later_is_said)
{
	static const char make[] =
		"cd $HERE && PATH=$HERE/bin:$PATH make -s -o $HERE/made/redrace bench "
		"B=$HERE/made 2>&1 | tail -n 1";

	need_gnuplot();
	cr_assert_eq(
		cli_run("cp -r Makefile make plots $HERE && mkdir $HERE/bin $HERE/made && "
			"$REDRACE bench --increments 200 --output $HERE/a incr >/dev/null 2>&1;"
			"printf '#!/bin/sh\nexit 1\n' >$HERE/bin/gnuplot; "
			"printf '#!/bin/sh\nmkdir -p results; ln -sfn $HERE/a results/latest\n' >$HERE/made/redrace;"
			"chmod +x $HERE/bin/gnuplot $HERE/made/redrace"),
		0, "%s", cli_output);
	cr_assert_eq(cli_run(make), 0);
	cr_assert_str_eq(cli_output, "pictures: make plots\n");
	cr_assert_eq(cli_run("rm $HERE/bin/gnuplot"), 0);
	cr_assert_eq(cli_run(make), 0);
	cr_assert_str_eq(cli_output, "plots: results/latest/plots\n");
}

/* A shell that a signal ends does not do what it is to do at its exit, unless told. */
Test(plots, drawing_that_is_ended_leaves_nothing)
{
	need_gnuplot();
	cr_assert_eq(
		cli_run("$REDRACE bench --increments 200 --repeats 1 --output $HERE/a none incr >/dev/null 2>&1;"
			"mkdir $HERE/bin; printf '#!/bin/sh\\n: >$HERE/draws; while [ -e $HERE/draws ] && [ ! -e $HERE/told ]; do sleep 0.05; done\\n' >$HERE/bin/gnuplot; chmod +x $HERE/bin/gnuplot;"
			"PATH=$HERE/bin:$PATH sh plots/draw $HERE/a >/dev/null 2>&1 & p=$!; until [ -e $HERE/draws ] || ! kill -0 $p; do sleep 0.05; done; ls $HERE | grep -c rr-plots; kill -TERM $p; : >$HERE/told; wait $p; echo $?; ls $HERE | grep rr-plots; true"),
		0);
	cr_assert_str_eq(cli_output, "1\n143\n", "%s", cli_output);
}

/* The six lines of the first lesson, in both languages. So few increments may lose nothing: 2. */
Test(plots, of_the_lesson)
{
	need_gnuplot();
	cr_assert_eq(cli_run("$REDRACE bench none incr --threads 1,2 --increments 100 --warmup 0"
			     " --output $HERE/a || [ $? = 2 ]"),
		     0, "%s", cli_output);
	cr_assert_eq(cli_run("head -1 $HERE/a/simple.csv; grep -c . $HERE/a/simple.csv"), 0);
	cr_assert_str_eq(cli_output,
			 "strategy,threads,expected,final,lost,increments_per_s,p99_us\n5\n");
	cr_assert_eq(cli_run("grep -E '^incr,2,100,100,0,[0-9]+,$' $HERE/a/simple.csv"), 0);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(
			cli_runf(
				"sed -n '/```gnuplot/,/```/{/```/d;p}' docs/teaching%s.md >$HERE/a/simple.gp;"
				" cd $HERE/a && grep -c . simple.gp && gnuplot simple.gp 2>&1 >simple.svg &&"
				" grep -c -F '>incr<' simple.svg",
				i ? ".zh" : ""),
			0, "%s", cli_output);
		cr_assert_str_eq(cli_output, "6\n2\n");
	}
}

/* The picture of what make bench-floor found, strategies in the order of their round trips. */
Test(plots, price_of_safety)
{
	need_gnuplot();
	cli_write("price.csv", "strategy,round_trips,commands_of_one,commands_of_many,floor_per_s,"
			       "one_per_s,many_per_s,many,of_floor\n"
			       "set-nx-ex,4,4.00,4.60,5000.0,4500.0,3000.0,8,0.900\n"
			       "incr,1,1.00,1.00,20000.0,20000.0,80000.0,8,1.000\n");
	cr_assert_eq(cli_run("sh plots/price $HERE && sh tests/check_plots $HERE/price.svg"), 0,
		     "%s", cli_output);
	cr_assert_eq(
		cli_run("grep -oE '>(set-nx-ex|incr|0.90)<' $HERE/price.svg | tr -d '\\n'; "
			"grep -c 'prefers-color-scheme: dark' $HERE/price.svg; test -s $HERE/price.png"),
		0);
	cr_assert_str_eq(cli_output, ">incr<>set-nx-ex<>0.90<1\n", "%s", cli_output);
	cli_assert_one_line("sh plots/price $HERE/none 2>&1", RR_EXIT_FILE, "make bench-floor");
}
