# SPDX-License-Identifier: MIT
# Throughput over threads: a line per strategy, its name at the line's end, the
# bootstrap interval as a ribbon.
name = "scaling"
load ARG0[:strlen(ARG0) - strlen("scaling.gp")] . "common.gp"

stats summary using "threads" nooutput
first = STATS_min
last = STATS_max
stats summary using "increments_per_s_low" nooutput
bottom = STATS_min * 0.7
stats summary using "increments_per_s_high" nooutput
top = STATS_max * 1.4

set title "Throughput over threads"
set xlabel "threads"
set ylabel "increments per second"
set logscale x 2
set logscale y 10
set format y "%.0s%c"
unset key
set rmargin 24

set xrange [first:last * 1.0001]
set yrange [bottom:top]
set xtics (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)

# Names in the order in which the strategies are listed.
names = system("tail -n +2 '" . summary . "' | cut -d, -f2 | awk '!seen[$0]++' | tr '\n' ' '")
of(value, i) = stringcolumn("strategy") eq word(names, i) ? column(value) : NaN

# Where names go: at the ends, moved apart where lines end close together.
ends = system("tail -n +2 '" . summary . "' | awk -F, -v last=" . sprintf("%d", last) . \
    " '$4 == last { print $18, $2 }' | sort -g | " . \
    sprintf("awk -v gap=%f ", 0.045 * log10(top / bottom)) . \
    "'{ y = log($1) / log(10); if (NR > 1 && y < before + gap) y = before + gap; before = y; print $2 \":\" 10 ^ y }'")
name_at(i) = system("printf '%s\\n' '" . ends . "' | sed -n 's/^" . word(names, i) . "://p'") + 0

do for [i = 1:words(names)] {
    set label i word(names, i) at last, name_at(i) left offset 1, 0 textcolor linetype colour(i - 1)
}

plot for [i = 1:words(names)] summary using (of("threads", i)):(of("increments_per_s_low", i)):(of("increments_per_s_high", i)) \
         with filledcurves fillcolor linetype colour(i - 1) fillstyle transparent solid 0.18, \
     for [i = 1:words(names)] summary using (of("threads", i)):(of("increments_per_s_median", i)) \
         with linespoints linetype colour(i - 1) dashtype dash(i) pointtype i linewidth 2 pointsize 0.9
