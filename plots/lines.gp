# SPDX-License-Identifier: MIT
# A line for each strategy, its name at the line's end; many are shared out over
# several panels, by kind, with the others in grey behind. Needs name, heading,
# xlabel, ylabel, unit, is_log and xscale: "clients" or "percentile".
here = ARG0[:strlen(ARG0) - strlen("lines.gp")]
load work . "/settings.gp"
load work . "/" . name . ".gp"
columns = n_panels > 1 ? 2 : 1
panel_rows = (n_panels + columns - 1) / columns
width = n_panels > 1 ? 1280 : 1000
height = n_panels > 1 ? 132 + 270 * panel_rows : 560
about = (xscale eq "clients" ? (processes > 1 ? sprintf("%d processes, clients are their threads · ", processes) : "1 process, clients are its threads · ") : configuration . " · ") . (xscale eq "clients" ? setting : setting_of_pool)
load here . "common.gp"

table = work . "/lines-" . name . ".tsv"
set border 3
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
} else {
    set logscale x 10
    # In a panel of many decades only every second one has room for its name.
    if (n_panels > 1 && right > 2e3) {
        set xtics nomirror ("0 %%" 1, "" 10, "99 %%" 100, "" 1000, "99.99 %%" 1e4, "" 1e5, "99.9999 %%" 1e6)
    } else {
        set xtics nomirror ("0 %%" 1, "90 %%" 10, "99 %%" 100, "99.9 %%" 1000, "99.99 %%" 1e4, "99.999 %%" 1e5, "99.9999 %%" 1e6)
    }
    set xrange [1:right < 100 ? 100 : right]
}
set rmargin 25
set lmargin 12
set style fill transparent solid 0.15 noborder

# A name, its point, and a thin line from the line's end to it.
at_height(y) = is_log ? bottom * (top / bottom) ** y : bottom + (top - bottom) * y
name_line(i) = sprintf("set label %d line_name[%d] at graph 1.035, first %.10g left offset character 0.8, 0 point pointtype %d pointsize 1 linecolor %d; set arrow %d from %.10g, %.10g to graph 1.03, first %.10g nohead linecolor '#909090' linewidth 0.7", \
    i, i, at_height(name_y[i]), point(line_style[i]), colour(line_style[i]), i, end_x[i], end_y[i], at_height(name_y[i]))
behind(p, i) = line_panel[i] == p ? "" : sprintf("table index %d using 1:2 with lines linecolor '#d4d4d4' linewidth 1, ", i - 1)
ribbon(p, i) = line_panel[i] != p || repeats == 1 || xscale ne "clients" ? "" : \
    sprintf("table index %d using 1:3:4 with filledcurves linecolor %d, ", i - 1, colour(line_style[i]))
drawn(p, i) = line_panel[i] != p ? "" : \
    sprintf("table index %d using 1:2 with linespoints linecolor %d dashtype %d pointtype %d %s linewidth 2 pointsize 0.9, ", i - 1, \
        colour(line_style[i]), dash(line_style[i]), point(line_style[i]), xscale eq "clients" ? "" : "pointinterval 9")

if (n_panels > 1) { set multiplot layout panel_rows, columns margins 0.09, 0.84, 82.0 / height, 1 - 105.0 / height spacing 0.27, 78.0 / height }
do for [p = 1:n_panels] {
    if (n_panels > 1) { set title panel_title[p] offset 0, -0.6 } else { set tmargin 5; set bmargin 3.8 }
    unset label
    unset arrow
    if (p == 1) {
        set label 1001 heading at screen 0, screen 1 offset character 1.5, -1.3 left font ",20"
        set label 1002 about at screen 0, screen 1 offset character 1.5, -2.9 left font ",13" textcolor "#404040"
    }
    if (n_panels == 1 || p > n_panels - columns) { set xlabel xlabel } else { unset xlabel }
    if (n_panels == 1 || p % columns == 1) { set ylabel ylabel } else { unset ylabel }
    curves = ""
    do for [i = 1:n_lines] { curves = curves . behind(p, i) }
    do for [i = 1:n_lines] { curves = curves . ribbon(p, i) }
    do for [i = 1:n_lines] {
        curves = curves . drawn(p, i)
        if (line_panel[i] == p) { eval name_line(i) }
    }
    eval "plot " . curves . "NaN notitle"
}
if (n_panels > 1) { unset multiplot }
