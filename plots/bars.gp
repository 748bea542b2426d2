# SPDX-License-Identifier: MIT
# A bar for each strategy, sorted; beside it its figures as a table. With two
# figures (is_pair) two points instead, joined. Needs name, heading, xlabel, unit
# and heads, what stands over the columns of the table.
here = ARG0[:strlen(ARG0) - strlen("bars.gp")]
load work . "/settings.gp"
load work . "/" . name . ".gp"
width = 1000
height = 160 + (rows < 3 ? 32 : 26) * rows
about = configuration . " · " . setting
load here . "common.gp"

table = work . "/bars-" . name . ".tsv"
set xlabel xlabel
set yrange [rows - 0.4:-0.6]
set border 1
set ytics scale 0
set grid xtics noytics
set lmargin 24
set tmargin 5.5
set bmargin 3.5

# The columns of the table stand right of the axis, in characters.
at1 = 1.5 + width1
at2 = at1 + (width2 > 0 ? 2 + width2 : 0)
at3 = at2 + (width3 > 0 ? 2 + width3 : 0)
set rmargin at3 + 3
head = word(heads, 1) eq "median" && repeats == 1 ? "" : word(heads, 1)
head2 = word(heads, 2) eq "interval" && coverage == 0 ? "range" : word(heads, 2)
set label 1 head at graph 1, graph 1 right offset character at1, 0.9 font ",13" textcolor "#404040"
if (width2 > 0) { set label 2 head2 at graph 1, graph 1 right offset character at2, 0.9 font ",13" textcolor "#404040" }

if (n_lossy && !is_pair) { set label 3 "hatched: not promised to be exact" at graph 0, graph 1 left offset character 0, 0.9 font ",13" textcolor "#404040" }

if (is_pair) {
    low = low_end / 1.5
    edge = high_end * 1.5
    set logscale x 10
    set xrange [low:edge]
    eval "set xtics " . log_ticks(low, edge, unit, 100)
} else {
    edge = unit eq "share" ? 1 : high_end > 0 ? high_end * 1.03 : 1
    set xrange [0:edge]
    eval "set xtics " . (high_end > 0 ? linear_ticks(edge, unit) : "('0' 0)")
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
    "table using 6:1 with points pointtype 5 pointsize 1.1 linecolor 7"
columns = "table using (edge):1:7 with labels right offset character at1, 0, " . \
    "table using (edge):1:8 with labels right offset character at2, 0 textcolor '#404040', " . \
    "table using (edge):1:9 with labels right offset character at3, 0 textcolor '#404040'"
groups = n_heads ? ", '" . work . "/heads-" . name . ".tsv' using (low_edge):1:2 with labels left offset character -22, 0 textcolor '#404040'" : ""
low_edge = is_pair ? low : 0

eval "plot " . (is_pair ? pair : bars) . ", " . columns . groups
