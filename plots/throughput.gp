# SPDX-License-Identifier: MIT
# Throughput of each strategy with one number of threads: bars.
name = "throughput"
load ARG0[:strlen(ARG0) - strlen("throughput.gp")] . "common.gp"

stats summary using "threads" nooutput
threads = int(STATS_min)
stats summary using "processes" nooutput
processes = int(STATS_min)
stats summary using "increments_per_s_max" nooutput
top = STATS_max

set title "Throughput with " . (processes == 1 ? "" : sprintf("%d processes of ", processes)) . \
    sprintf("%d %s", threads, threads == 1 ? "thread" : "threads")
set xlabel "increments per second"
set yrange [rows - 0.4:-0.6]
set format x "%.0s%c"
set grid noytics
set border 1
set ytics scale 0
unset key
set style fill solid 0.85 noborder

set xrange [0:top * 1.18]

plot summary using (column("increments_per_s_median") / 2):0:(column("increments_per_s_median") / 2):(0.32):ytic(stringcolumn("strategy")) \
         with boxxyerror linecolor 3, \
     summary using (whisker("increments_per_s_low", "increments_per_s_high", "increments_per_s_median")):0:"increments_per_s_low":"increments_per_s_high" \
         with xerrorbars pointtype 0 linecolor "gray20", \
     summary using "increments_per_s_high":0:("  " . grouped(column("increments_per_s_median"))) \
         with labels left textcolor "gray20"
