# SPDX-License-Identifier: MIT
# The lines under a heading, of 62 characters at most: about_line(1) to
# about_line(n_lines_of_about) of about. Loaded before common.gp, because how
# high a plot is depends on them.
wrapped(t, i, line) = i > words(t) ? line : \
    strlen(line) + strlen(word(t, i)) >= 62 ? line . "\n" . wrapped(t, i + 1, word(t, i)) : \
    wrapped(t, i + 1, line eq "" ? word(t, i) : line . " " . word(t, i))
about = wrapped(about, 1, "")
ends(t) = strstrt(t, "\n") == 0 ? 0 : 1 + ends(t[strstrt(t, "\n") + 1:])
n_lines_of_about = 1 + ends(about)
nth_line(t, i) = i > 1 ? nth_line(t[strstrt(t, "\n") + 1:], i - 1) : strstrt(t, "\n") == 0 ? t : t[:strstrt(t, "\n") - 1]
about_line(i) = nth_line(about, i)
# Where the plot itself begins, in pixels from the top, without a line of heads.
top_px = 46 + 18 * n_lines_of_about
