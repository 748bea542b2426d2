# SPDX-License-Identifier: MIT
# What all plots share. Needs dir, format ("svg" or "png") and name.

if (format eq "svg") {
    set terminal svg size 960,560 dynamic font "sans-serif,14" background "white" noenhanced
} else {
    set terminal pngcairo size 1440,840 font "sans-serif,14" background "white" noenhanced fontscale 1.3 linewidth 1.5
}
set output sprintf("%s/plots/%s.%s", dir, name, format)
set datafile separator comma
set datafile columnheaders
set colorsequence podo
set border 3 linecolor "gray40"
set tics nomirror textcolor "gray20"
set grid linecolor "gray88" linetype 1

summary = dir . "/summary.csv"

# Okabe and Ito's colours by line, yellow (5) left out.
colour(i) = word("1 2 3 4 6 7 8", 1 + int(i) % 7) + 0
# 12345678 -> "12,345,678"
grouped(x) = x < 1000 ? sprintf("%.0f", x) : \
    x < 1e6 ? sprintf("%d,%03d", int(x / 1000), int(x) % 1000) : \
    sprintf("%d,%03d,%03d", int(x / 1e6), int(x / 1000) % 1000, int(x) % 1000)

# The rows of summary.csv: strategy (2), expectation (3), threads (4), n (6).
stats summary using 0 nooutput
rows = int(STATS_records)

# Solid while colours last, then dashed.
dash(i) = 1 + (int(i) - 1) / 7

# Where a whisker stands, or nowhere when it has no length.
whisker(low, high, middle) = column(low) < column(high) ? column(middle) : NaN
