# SPDX-License-Identifier: MIT
# A bar for each strategy, sorted; next to it its figures as a table. With more than
# one figure (is_pair) points instead, joined. Needs name, heading, xlabel, unit
# and heads, the words over the columns of the table.
here = ARG0[:strlen(ARG0) - strlen("bars.gp")]
load work . "/settings.gp"
load work . "/" . name . ".gp"
about = configuration . " · " . setting . (n_lossy && !is_pair ? " · hatched: not promised to be exact" : "")
load here . "about.gp"
width = 560
plot_px = (rows < 3 ? 32 : 26) * rows
height = top_px + 26 + plot_px + 70
load here . "common.gp"

table = work . "/bars-" . name . ".tsv"
set xlabel xlabel
set yrange [rows - 0.4:-0.6]
set border 1
set ytics scale 0
set grid xtics noytics

# The columns of the table stand right of the axis, their right ends in pixels.
digit = 8.4
right_px = width - 12
end3 = right_px
# A head may be wider than its column.
head1 = word(heads, 1) eq "median" && repeats == 1 ? "" : word(heads, 1)
head2 = word(heads, 2) eq "interval" && coverage == 0 ? "range" : word(heads, 2)
head3 = words(heads) > 2 ? word(heads, 3) : ""
wider(n, head) = n == 0 ? 0 : digit * (n > strlen(head) ? n : strlen(head)) + 12
end2 = end3 - wider(width3, head3)
end1 = end2 - wider(width2, head2)
plot_right = end1 - wider(width1, head1) - 2
set lmargin at screen from_left(16 + 9 * longest)
set rmargin at screen from_left(plot_right)
set tmargin at screen from_top(top_px + 26)
set bmargin at screen from_top(top_px + 26 + plot_px)
head_y = from_top(top_px + 14)
set label 1 head1 at screen from_left(end1), screen head_y right font ",14" textcolor "#404040"
if (width2 > 0) { set label 2 head2 at screen from_left(end2), screen head_y right font ",14" textcolor "#404040" }
if (width3 > 0) { set label 3 head3 at screen from_left(end3), screen head_y right font ",14" textcolor "#404040" }

if (is_pair) {
    low = low_end / 1.5
    edge = high_end * 1.5
    set logscale x 10
    set xrange [low:edge]
    eval "set xtics " . px_ticks(low, edge, unit, plot_right - 16 - 9 * longest)
} else {
    edge = unit eq "share" ? 1 : high_end > 0 ? high_end * 1.03 : 1
    set xrange [0:edge]
    eval "set xtics " . (high_end > 0 ? wide_linear_ticks(edge, unit) : "('0' 0)")
}
set xtics nomirror
if (name eq "lost" && high_end == 0) { set label 4 "nothing was lost" at graph 0.5, graph 0.5 center textcolor "#404040" }

# Full colour where the count is promised, hatched where it is not.
is(lossy, x) = column(3) == lossy ? x : NaN
bar(lossy) = sprintf("table using (is(%d, $4) / 2):1:(is(%d, $4) / 2):(0.33):ytic(stringcolumn(2)) with boxxyerror", lossy, lossy)
whiskers = "table using (strcol(8) eq '' ? NaN : $4):1:5:6 with xerrorbars pointtype 0 linewidth 1.5 linecolor 'black'"
bars = bar(0) . " linecolor 6 fillstyle solid 0.75 noborder, " . bar(1) . " linecolor 7 fillstyle pattern 5 border linetype -1, " . whiskers
pair = "table using 5:1:($6 - $5):(0):ytic(stringcolumn(2)) with vectors nohead linewidth 3 linecolor '#808080', " . \
    "table using 5:1 with points pointtype 6 pointsize 1.1 linewidth 2 linecolor 6, " . \
    "table using 6:1 with points pointtype 5 pointsize 1.1 linecolor 7, " . \
    "table using 10:1 with points pointtype 13 pointsize 1.2 linecolor 4"
column_of(i, px) = sprintf("table using (edge):1:%d with labels right offset graph %.6f, 0", 6 + i, \
    (px - plot_right) / (plot_right - 16 - 9 * longest)) . " font ',14' textcolor '#202020'"
columns = column_of(1, end1) . (width2 > 0 ? ", " . column_of(2, end2) : "") . (width3 > 0 ? ", " . column_of(3, end3) : "")
groups = n_heads ? ", '" . work . "/heads-" . name . ".tsv' using (low_edge):1:2 with labels left offset graph " . \
    sprintf("%.6f", (12.0 - 16 - 9 * longest) / (plot_right - 16 - 9 * longest)) . ", 0 textcolor '#404040'" : ""
low_edge = is_pair ? low : 0

eval "plot " . (is_pair ? pair : bars) . ", " . columns . groups
