# SPDX-License-Identifier: MIT
# What fail-overs lose: a row per strategy and place, a point for each WAIT. Needs
# work (the directory of failover-page), out and format.
here = ARG0[:strlen(ARG0) - strlen("failover.gp")]
load work . "/settings.gp"
heading = "Increments that a fail-over loses"
about = "two fail-overs by kill -9, replicas cut off for 200 ms before each (lock servers have none)"
load here . "about.gp"
width = 560
height = top_px + 26 + 26 * rows + 70
load here . "common.gp"

set xlabel "acknowledged, and gone: %"
set yrange [rows - 0.4:-0.6]
set border 1
set ytics scale 0
set grid xtics noytics
set lmargin at screen from_left(250)
set rmargin at screen from_left(width - 20)
set tmargin at screen from_top(top_px + 26)
set bmargin at screen from_top(top_px + 26 + 26 * rows)
edge = most > 0 ? most * 1.08 : 1
set xrange [-edge * 0.02:edge]
set xtics nomirror
set label 1 "● no WAIT" at screen from_left(250), screen from_top(top_px + 14) left font ",14" textcolor linetype 7
set label 2 "□ WAIT 1" at screen from_left(350), screen from_top(top_px + 14) left font ",14" textcolor linetype 6
set label 3 "△ WAIT 2" at screen from_left(450), screen from_top(top_px + 14) left font ",14" textcolor linetype 4

plot work . "/wait0.tsv" using 1:2:ytic(stringcolumn(3)) with points pointtype 7 pointsize 1.3 linecolor 7, \
    work . "/wait1.tsv" using 1:2 with points pointtype 4 pointsize 1.3 linewidth 2 linecolor 6, \
    work . "/wait2.tsv" using 1:2 with points pointtype 8 pointsize 1.3 linewidth 2 linecolor 4
