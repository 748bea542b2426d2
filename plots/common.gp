# SPDX-License-Identifier: MIT
# What all plots share. Needs work (the directory of tables.awk), out (the file
# to write, without its suffix), format ("svg" or "png"), and from the script:
# width and height in pixels, heading, and about, which was given to lines_of().
# Plots are narrow, so that they can be read on a telephone, at 360 pixels.

set encoding utf8
if (format eq "svg") {
    eval sprintf("set terminal svg size %d,%d dynamic font 'sans-serif,15' background 'white' noenhanced", width, height)
} else {
    eval sprintf("set terminal pngcairo size %d,%d font 'sans-serif,15' background 'white' noenhanced fontscale 1.2 linewidth 1.6", \
        width * 1.6, height * 1.6)
}
set output out . "." . format
set datafile separator tab
set colorsequence podo
set border 3 linecolor "#606060"
set tics nomirror textcolor "#202020"
set grid linecolor "#e0e0e0" linetype 1
unset key

# Places in pixels, from the left and from the top.
from_left(x) = x / (1.0 * width)
from_top(y) = 1 - y / (1.0 * height)
set label 1001 heading at screen from_left(12), screen from_top(24) left font ",18"
do for [i = 1:n_lines_of_about] {
    set label 1001 + i about_line(i) at screen from_left(12), screen from_top(30 + 18 * i) left font ",14" textcolor "#404040"
}

# A line is told by colour, dashes and points: Okabe and Ito's colours, yellow
# (5) left out.
colour(i) = word("1 7 6 4 8 2 3", 1 + (i - 1) % 7) + 0
dash(i) = word("1 2 4 3 5", 1 + (i - 1) % 5) + 0
point(i) = word("7 5 9 13 11 6 4 8 12 10", 1 + (i - 1) % 10) + 0

# 12345678 -> "12,345,678"; 0.25 -> "0.25"
grouped(x) = x != floor(x) ? sprintf("%g", x) : x < 1000 ? sprintf("%.0f", x) : \
    x < 1e6 ? sprintf("%d,%03d", int(x / 1000), int(x) % 1000) : \
    sprintf("%d,%03d,%03d", int(x / 1e6), int(x / 1000) % 1000, int(x) % 1000)
duration(ns) = ns == 0 ? "0" : ns < 1e3 ? sprintf("%g ns", ns) : ns < 1e6 ? sprintf("%g µs", ns / 1e3) : \
    ns < 1e9 ? sprintf("%g ms", ns / 1e6) : sprintf("%g s", ns / 1e9)
worded(unit, x) = unit eq "ns" ? duration(x) : unit eq "%" ? grouped(x) . " %%" : grouped(x)

# Ticks as a list for "set xtics (...)": all different, at most seven or so. On a
# linear axis from 0 in steps of 1, 2 or 5; on a logarithmic one at 1, 2, 5 of
# each decade, or at the decades alone if the ends are more than many times apart.
size_of(x) = 10.0 ** floor(log10(x))
step_of(top) = top / size_of(top) > 5 ? 2 * size_of(top) : top / size_of(top) > 2 ? size_of(top) : size_of(top) / 2
# Across, there is room for three or four.
wide_step_of(top) = 2 * step_of(top)
next_linear(x, step, top, unit) = x > top * 1.0001 ? "" : \
    sprintf("'%s' %.10g, ", worded(unit, x), x) . next_linear(x + step, step, top, unit)
linear_ticks(top, unit) = "(" . next_linear(0, step_of(top), top, unit) . "'' -1)"
wide_linear_ticks(top, unit) = "(" . next_linear(0, wide_step_of(top), top, unit) . "'' -1)"
at_decade(x, low, high, unit) = x < low || x > high ? "" : sprintf("'%s' %.10g, ", worded(unit, x), x)
next_decade(x, low, high, unit, many) = x > high ? "" : at_decade(x, low, high, unit) . \
    (high / low > many ? "" : at_decade(2 * x, low, high, unit) . at_decade(5 * x, low, high, unit)) . \
    next_decade(10 * x, low, high, unit, many)
log_ticks(low, high, unit, many) = "(" . next_decade(size_of(low), low, high, unit, many) . "'' 1e-30)"
# The same in px pixels: as many decades as have room for their words.
next_power(x, step, low, high, unit) = x > high ? "" : at_decade(x, low, high, unit) . next_power(step * x, step, low, high, unit)
px_ticks(low, high, unit, px) = px / log10(high / low) > 260 ? log_ticks(low, high, unit, 1e9) : \
    "(" . next_power(size_of(low), px / log10(high / low) > 62 ? 10 : 100, low, high, unit) . "'' 1e-30)"
