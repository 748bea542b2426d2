# SPDX-License-Identifier: MIT
# Who was in the critical section when: a lane for each client. Needs name, heading
# and strategy.
here = ARG0[:strlen(ARG0) - strlen("holders.gp")]
load work . "/settings.gp"
load work . "/lanes.gp"
about = configuration . " · " . setting_of_one . " · " . (n_not_alone > 0 ? \
    sprintf("dark: alone; hatched: with another; grey bands: two at the same time (%d of %d traced were not alone)", n_not_alone, n_holds) : \
    sprintf("dark: in the critical section; thin: asking; no client met another in it, %d times traced", n_holds))
load here . "about.gp"
width = 560
height = top_px + 34 * n_lanes + 70
load here . "common.gp"

holds = work . "/holds.tsv"
overlaps = work . "/overlaps.tsv"
set border 1
set lmargin at screen from_left(190)
set rmargin at screen from_left(width - 30)
set tmargin at screen from_top(top_px)
set bmargin at screen from_top(top_px + 34 * n_lanes + 8)
set yrange [n_lanes + 0.7:0.3]
set ytics scale 0 ()
do for [i = 1:n_lanes] { set ytics add (lane_name[i] i) }
set grid xtics noytics
set xrange [0:length_ns]
set xlabel "time, from the first that is shown"
eval "set xtics nomirror " . wide_linear_ticks(length_ns, "ns")
bands = n_overlaps ? sprintf("overlaps using 1:(%f):1:2:(0.3):(%f) with boxxyerror linecolor '#bbbbbb' fillstyle solid 0.6 noborder, ", \
    (n_lanes + 1) / 2.0, n_lanes + 0.7) : ""
eval "plot " . bands . \
    "holds using 2:1:($3 - $2):(0) with vectors nohead linewidth 1 linecolor '#606060', " . \
    "holds using (column(5) == 0 ? $3 : NaN):1:3:4:($1 - 0.28):($1 + 0.28) with boxxyerror linecolor 6 fillstyle solid 0.9 border linetype -1, " . \
    "holds using (column(5) == 1 ? $3 : NaN):1:3:4:($1 - 0.28):($1 + 0.28) with boxxyerror linecolor 7 fillstyle pattern 5 border linetype -1"
