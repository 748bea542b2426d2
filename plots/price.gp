# SPDX-License-Identifier: MIT
# The price of safety: round trips and commands of an increment, and how near a strategy comes to
# its floor, the time that its round trips take. Needs work (the directory of price), out and format.
here = ARG0[:strlen(ARG0) - strlen("price.gp")]
load work . "/settings.gp"
heading = "The price of safety"
about = sprintf("○ round trips of an increment, one client · ■ its commands, %d clients, refused attempts too · the floor of a strategy is its round trips times %.1f µs, one INCR; of floor: how near one client comes", clients, us)
load here . "about.gp"
width = 560
plot_px = 26 * rows
height = top_px + 26 + plot_px + 70
load here . "common.gp"

table = work . "/price.tsv"
set xlabel "per increment"
set yrange [rows - 0.4:-0.6]
set border 1
set ytics scale 0
set grid xtics noytics
set lmargin at screen from_left(16 + 9 * longest)
set rmargin at screen from_left(width - 90)
set tmargin at screen from_top(top_px + 26)
set bmargin at screen from_top(top_px + 26 + plot_px)
edge = most * 1.3
set logscale x 2
set xrange [0.8:edge]
set xtics nomirror ("1" 1, "2" 2, "4" 4, "8" 8, "16" 16, "32" 32, "64" 64)
set label 1 "of floor" at screen from_left(width - 12), screen from_top(top_px + 14) right font ",14" textcolor "#404040"
to_column = 78.0 / (width - 106 - 9 * longest)
plot table using 3:1:($4 - $3):(0):ytic(stringcolumn(2)) with vectors nohead linewidth 3 linecolor "#808080", \
    table using 3:1 with points pointtype 6 pointsize 1.2 linewidth 2 linecolor 6, \
    table using 4:1 with points pointtype 5 pointsize 1.1 linecolor 7, \
    table using (edge):1:5 with labels right offset graph to_column, 0 font ",14" textcolor "#202020"
