# SPDX-License-Identifier: MIT
# The percentile spectrum: latency over 1/(1-p), so that each further nine of
# the percentile takes the same width. First repeat, most threads.
name = "percentiles"
load ARG0[:strlen(ARG0) - strlen("percentiles.gp")] . "common.gp"

stats summary using "threads" nooutput
threads = int(STATS_max)
stats summary using "processes" nooutput
processes = int(STATS_max)

set title sprintf("Latency of one increment, waiting included (%d %s)", \
    threads * processes, threads * processes == 1 ? "client" : "clients")
set xlabel "percentile"
set ylabel "latency"
set logscale xy 10
set xtics ("0%%" 1, "90%%" 10, "99%%" 100, "99.9%%" 1000, "99.99%%" 1e4, "99.999%%" 1e5)
set ytics ("1 us" 1e3, "10 us" 1e4, "100 us" 1e5, "1 ms" 1e6, "10 ms" 1e7, "100 ms" 1e8, "1 s" 1e9)
unset key
set rmargin 24

names = system("tail -n +2 '" . summary . "' | cut -d, -f2 | awk '!seen[$0]++' | tr '\n' ' '")
file(i) = sprintf("%s/percentiles/%s-t%d-p%d-r1.csv", dir, word(names, i), threads, processes)
stats file(1) using 4 nooutput
set xrange [1:STATS_max < 100 ? 100 : STATS_max]

# The last value of each spectrum inside the picture, moved apart.
ends = system("for n in " . names . "; do awk -F, -v n=$n 'NR > 1 { y = $1 } END { print y, n }' '" . dir . \
    "'/percentiles/$n-t" . threads . "-p" . processes . "-r1.csv; done | sort -g | " . \
    "awk '{ y = log($1) / log(10); if (NR > 1 && y < before + 0.17) y = before + 0.17; before = y; print $2 \":\" 10 ^ y }'")
name_at(i) = system("printf '%s\\n' '" . ends . "' | sed -n 's/^" . word(names, i) . "://p'") + 0

do for [i = 1:words(names)] {
    set label i word(names, i) at graph 1, first name_at(i) left offset 1, 0 textcolor linetype colour(i - 1)
}

plot for [i = 1:words(names)] file(i) using 4:1 every ::1 \
         with linespoints linetype colour(i - 1) dashtype dash(i) pointtype i pointinterval 8 linewidth 2 pointsize 0.8
