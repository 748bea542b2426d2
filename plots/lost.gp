# SPDX-License-Identifier: MIT
# Lost updates per strategy: a bar to the median, a whisker from min to max. Of
# a sweep over threads, the runs with the most.
name = "lost"
load ARG0[:strlen(ARG0) - strlen("lost.gp")] . "common.gp"

stats summary using "threads" nooutput
threads = int(STATS_max)
chosen = sprintf("< awk -F, 'NR == 1 || $4 == %d' '%s'", threads, summary)
stats chosen using "lost_max" nooutput
rows = int(STATS_records)
top = STATS_max > 0 ? STATS_max : 1

set title sprintf("Lost updates: what is missing from the final count (%d %s)", \
    threads, threads == 1 ? "thread" : "threads")
set xlabel "increments lost"
set xrange [0:top * 1.18]
set yrange [rows - 0.4:-0.6]
set format x "%.0s%c"
set grid noytics
set border 1
set ytics scale 0
unset key
set style fill solid 0.85 noborder

# A label for what is at the bar's end; clearly 0 where nothing is lost.
end(lost) = lost > 0 ? "  " . grouped(lost) : "  0 – exact"


plot chosen using (column("lost_median") / 2):0:(column("lost_median") / 2):(0.32):ytic(stringcolumn("strategy")) \
         with boxxyerror linecolor 6, \
     chosen using (whisker("lost_min", "lost_max", "lost_median")):0:"lost_min":"lost_max" \
         with xerrorbars pointtype 0 linecolor "gray20", \
     chosen using (column("lost_max")):0:(end(column("lost_median"))) \
         with labels left textcolor "gray20"
