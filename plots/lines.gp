# SPDX-License-Identifier: MIT
# A line for each strategy, its name at the line's end; many are shared out over
# several panels, by kind, with the others in grey. Needs name, heading, xlabel,
# ylabel, unit, is_log and xscale: "clients", "rate", "percentile" or "time".
here = ARG0[:strlen(ARG0) - strlen("lines.gp")]
load work . "/settings.gp"
load work . "/" . name . ".gp"
is_swept = xscale eq "clients" || xscale eq "rate"
about = (xscale eq "clients" ? (processes > 1 ? sprintf("%d processes, clients are their threads", processes) : "1 process, clients are its threads") : configuration) . \
    " · " . (is_swept ? setting : setting_of_pool)
load here . "about.gp"
width = 560
panel_px = n_panels > 1 ? 210 : 330
head_px = n_panels > 1 ? 34 : 8
gap_px = n_panels > 1 ? 36 : 0
height = top_px + n_panels * (head_px + panel_px + gap_px) + 70
load here . "common.gp"

panel_heading = ""
set multiplot
do for [p = 1:n_panels] {
    panel_top = top_px + head_px + (p - 1) * (head_px + panel_px + gap_px)
    is_last = p == n_panels
    load here . "panel.gp"
    do for [i = 0:n_lines_of_about] { unset label 1001 + i }
}
unset multiplot
