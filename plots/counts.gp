# SPDX-License-Identifier: MIT
# What the documents are about, in one picture: over the number of clients, which share
# of the increments is lost, and how many are done in a second.
here = ARG0[:strlen(ARG0) - strlen("counts.gp")]
load work . "/settings.gp"
xscale = "clients"
is_swept = 1
heading = "Lost updates and throughput over clients"
about = (processes > 1 ? sprintf("%d processes, clients are their threads", processes) : "1 process, clients are its threads") . " · " . setting
load here . "about.gp"
width = 560
panel_px = 250
height = top_px + 2 * (panel_px + 36) + 70
xlabel = "clients"
load here . "common.gp"

set multiplot
do for [which = 1:2] {
    name = word("counts-lost counts-rate", which)
    load work . "/" . name . ".gp"
    is_log = which == 2
    unit = which == 1 ? "%" : "count"
    ylabel = which == 1 ? "lost" : "increments per second"
    panel_heading = ""
    panel_top = top_px + 12 + (which - 1) * (panel_px + 36)
    is_last = which == 2
    p = 1
    load here . "panel.gp"
    do for [i = 0:n_lines_of_about] { unset label 1001 + i }
}
unset multiplot
