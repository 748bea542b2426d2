# SPDX-License-Identifier: MIT
# One panel of lines.gp or counts.gp: number p of what name.gp describes, panel_px high
# from panel_top on; is_last has the words under its axis.
table = work . "/lines-" . name . ".tsv"
set border 3
unset logscale
if (is_log) {
    set logscale y 10
    eval "set ytics nomirror " . log_ticks(bottom, top, unit, 5000)
} else {
    eval "set ytics nomirror " . linear_ticks(top, unit)
}
set yrange [bottom:top]
if (xscale eq "clients") {
    set logscale x 2
    eval "set xtics nomirror (" . client_ticks . ")"
    set xrange [*:right * 1.0001]
} else { if (xscale eq "rate") {
    eval "set xtics nomirror (" . client_ticks . ")"
    set xrange [0:right * 1.0001]
} else { if (xscale eq "time") {
    set xtics nomirror ("0 %%" 0, "25 %%" 25, "50 %%" 50, "75 %%" 75, "100 %%" 100)
    set xrange [0:100]
} else {
    set logscale x 10
    set xtics nomirror ("0 %%" 1, "90 %%" 10, "99 %%" 100, "99.9 %%" 1000, "99.99 %%" 1e4, "" 1e5, "99.9999 %%" 1e6)
    if (right > 2e4) { set xtics nomirror ("0 %%" 1, "" 10, "99 %%" 100, "" 1000, "99.99 %%" 1e4, "" 1e5, "99.9999 %%" 1e6) }
    set xrange [1:right < 100 ? 100 : right]
}}}
plot_left = 110
plot_width = width - 44 - 9 * longest - plot_left
set lmargin at screen from_left(plot_left)
set rmargin at screen from_left(plot_left + plot_width)
set tmargin at screen from_top(panel_top)
set bmargin at screen from_top(panel_top + panel_px)
set style fill transparent solid 0.1 noborder

# A name, its point, and a thin line from the line's end to it.
at_height(y) = is_log ? bottom * (top / bottom) ** y : bottom + (top - bottom) * y
at_name = 1 + 18.0 / plot_width
name_line(i) = sprintf("set label %d line_name[%d] at graph %.6f, first %.10g left offset character 0.8, 0 point pointtype %d pointsize 1 linecolor %d; set arrow %d from %.10g, %.10g to graph %.6f, first %.10g nohead linecolor '#909090' linewidth 0.7", \
    i, i, at_name, at_height(name_y[i]), point(line_style[i]), colour(line_style[i]), i, end_x[i], end_y[i], at_name - 0.005, at_height(name_y[i]))
others_in(p, i) = line_panel[i] == p ? "" : sprintf("table index %d using 1:2 with lines linecolor '#d4d4d4' linewidth 1, ", i - 1)
ribbon(p, i) = line_panel[i] != p || repeats == 1 || !is_swept ? "" : \
    sprintf("table index %d using 1:3:4 with filledcurves linecolor %d, ", i - 1, colour(line_style[i]))
drawn(p, i) = line_panel[i] != p ? "" : \
    sprintf("table index %d using 1:2 with linespoints linecolor %d dashtype %d pointtype %d %s linewidth 2 pointsize 0.9, ", i - 1, \
        colour(line_style[i]), dash(line_style[i]), point(line_style[i]), is_swept ? "" : "pointinterval 9")

do for [i = 1:999] { unset label i }
unset arrow
title_of_panel = n_panels > 1 ? panel_title[p] : panel_heading
set label 998 title_of_panel at graph 0, graph 1 left offset character 0, 0.8 textcolor "#202020"
if (is_last) { set xlabel xlabel } else { unset xlabel }
set ylabel ylabel offset character 1.2, 0
curves = ""
do for [i = 1:n_lines] { curves = curves . others_in(p, i) }
do for [i = 1:n_lines] { curves = curves . ribbon(p, i) }
do for [i = 1:n_lines] {
    curves = curves . drawn(p, i)
    if (line_panel[i] == p) { eval name_line(i) }
}
eval "plot " . curves . "NaN notitle"
