# SPDX-License-Identifier: MIT
# Prepares what the gnuplot scripts draw: chosen, sorted, grouped, worded.
#
#	awk -v out=DIR -v from=RESULTS -f tables.awk runs.csv summary.csv
#
# out/settings.gp   what titles say, which plots there are, how large they are
# out/bars-*.tsv    a row per strategy: y, is lossy, value, low, high, columns
# out/heads-*.tsv   headings of groups: y, text
# out/lines-*.tsv   a block per strategy: x, middle, low, high
# out/*.gp          for lines: which panel, which style, where the name goes
BEGIN {
	FS = ","
	MANY = 12 # more bars than this are grouped by kind
	FULL = 9  # more lines than this go into several panels
	PANEL = 6 # lines in each of them
}

FNR == 1 {
	split("", at)
	for (i = 1; i <= NF; i++)
		at[$i] = i
	files++
	next
}

# The settings of the newest bench: the last row.
files == 1 {
	increments = $at["increments"]
	transport = $at["transport"]
	placement = $at["placement"]
	persistence = $at["persistence"]
	hold_us = $at["hold_us"]
	keys = $at["keys"]
	seconds = $at["seconds_per_cell"]
	seen[$at["run_id"]] = 1
	next
}

{
	name = $at["strategy"]
	if (!(name in number)) {
		number[name] = ++n
		strategy[n] = name
	}
	i = number[name]
	threads = $at["threads"] + 0
	processes = $at["processes"] + 0
	# An open loop is swept over its rates.
	if ($at["rate_asked"] != "") {
		is_open = 1
		open_threads = threads
		threads = $at["rate_asked"] + 0
		in_pct += $at["rate_asked"] ~ /%/
		n_open++
	}
	if (!(threads in swept)) {
		swept[threads] = 1
		sweep[++n_sweep] = threads
	}
	if (threads > most)
		most = threads
	if ($at["n"] > repeats) {
		repeats = $at["n"]
		coverage = $at["coverage_pct"]
	}
	policy = $at["policy"]
	sub(/:.*/, "", policy)
	if (policy != "none" && policy != "backoff")
		waits = policy
	if ($at["dead_holders"] > 0)
		has_dead = 1
	stuck[i, threads] = $at["verdict"] == "stuck"
	has[i, threads] = 1
	kind[i, threads] = $at["expectation"] == "lossy" ? "lossy" : $at["lock"]
	for (f in at)
		value[i, threads, f] = $at[f]
}

END {
	if (n == 0) {
		print "no rows" >"/dev/stderr"
		exit 65
	}
	clients = most * processes
	if (is_open)
		clients = open_threads * processes
	name_kinds()
	for (i = 1; i <= n; i++)
		longest = length(strategy[i]) > longest ? length(strategy[i]) : longest
	per = is_open ? 1 : processes
	print_settings()
	if (is_open) {
		sort_sweep()
		if (in_pct != 0 && in_pct != n_open)
			n_sweep = 0
		print_lines("median-over-rate", "lat_p50_ns", 1, 0)
		print_lines("tail-over-rate", "lat_p99_ns", 1, 0)
		exit
	}
	print_bars("lost", "lost", -1)
	print_bars("throughput", "increments_per_s", -1)
	print_bars("commands", "commands_per_increment", 1)
	print_bars("fairness", "fairness_jain", -1)
	print_bars("latency", "lat_p99_ns", 1)
	print_bars("wait", "wait_max_ns", 1)
	if (n_sweep > 1) {
		sort_sweep()
		print_lines("scaling", "increments_per_s", 1, 0)
		print_lines("lost-share", "lost_pct", 0, 1)
		print_lines("commands-over-clients", "commands_per_increment", 1, 0)
		print_lines("fairness-over-clients", "fairness_jain", 0, 0)
		print_lines("luckiest-over-clients", "luckiest_pct", 0, 0)
		print_lines("wait-over-clients", "wait_max_ns", 1, 1)
		choose_for_counts()
		print_lines("counts-lost", "lost_pct", 0, 0)
		print_lines("counts-rate", "increments_per_s", 1, 0)
		split("", is_left_out)
	}
	print_spectra("percentiles")
	print_spectra("time")
}

# ---- Words ------------------------------------------------------------------

function name_kinds() {
	order = "lossy none mutex key timestamp counter queue quorum"
	heading["lossy"] = "lossy"
	heading["none"] = "exact without a lock"
	heading["mutex"] = "a mutex of the process"
	heading["key"] = "a lock in a key"
	heading["timestamp"] = "a timestamp as lock"
	heading["counter"] = "a counter as lock"
	heading["queue"] = "a queue for the lock"
	heading["quorum"] = "a quorum of locks"
}

# 1234567 -> 1,234,567
function grouped(x,    text, sign) {
	sign = x < 0 ? "-" : ""
	text = sprintf("%.0f", x < 0 ? -x : x)
	while (match(text, /^[0-9]+[0-9][0-9][0-9](,|$)/) && length_of_first(text) > 3)
		text = substr(text, 1, length_of_first(text) - 3) "," \
			substr(text, length_of_first(text) - 2)
	return sign text
}

function length_of_first(text) {
	match(text, /^[0-9]+/)
	return RLENGTH
}

function count(number, one, many) {
	return grouped(number) " " (number == 1 ? one : many)
}

# 1234567 ns -> 1.23 ms
function duration(ns) {
	if (ns < 1e3)
		return sprintf("%.0f ns", ns)
	if (ns < 1e6)
		return three_digits(ns / 1e3) " µs"
	if (ns < 1e9)
		return three_digits(ns / 1e6) " ms"
	return three_digits(ns / 1e9) " s"
}

function three_digits(x) {
	return sprintf(x < 9.995 ? "%.2f" : x < 99.95 ? "%.1f" : "%.0f", x)
}

function worded(figure, x) {
	if (figure ~ /_ns$/)
		return duration(x)
	if (figure == "commands_per_increment")
		return sprintf("%.1f", x)
	if (figure == "fairness_jain")
		return sprintf("%.2f", x)
	if (figure == "lost" && x == 0)
		return "0 – exact"
	return grouped(x)
}

function configuration(threads) {
	if (processes == 1)
		return count(threads, "thread", "threads")
	return processes " processes × " count(threads, "thread", "threads") " = " \
		processes * threads " clients"
}

function print_settings(    text, i, list) {
	file = out "/settings.gp"
	text = seconds > 0 ? seconds " s of each" : count(increments, "increment", "increments")
	text = text (is_open ? ", open loop" : ", closed loop")
	if (keys > 1)
		text = text ", " keys " keys"
	if (hold_us > 0)
		text = text ", " duration(hold_us * 1000) " of work"
	if (waits != "")
		text = text " · --wait " waits
	text = text " · " transport ", " (placement == "same" ? "one processor" : "not pinned")
	if (has_dead)
		text = text " · after a dead holder"
	if (persistence != "none" && persistence != "own")
		text = text ", persistence " persistence
	print "setting_of_one = \"" text (repeats > 1 ? " · the first of " repeats " repeats" : "") "\"" >file
	print "setting_of_pool = \"" text (repeats > 1 ? " · " repeats " repeats pooled, no median of them" : "") "\"" >file
	text = text " · " (repeats > 1 ? "median of " repeats " repeats" : "1 repeat")
	if (repeats > 1)
		text = text (coverage > 0 ? " and its " coverage " % interval" : " and their range")
	print "setting = \"" text "\"" >file
	print "configuration = \"" configuration(is_open ? open_threads : most) "\"" >file
	print "longest = " longest >file
	print "most = " most >file
	print "processes = " processes >file
	print "clients = " clients >file
	print "repeats = " repeats >file
	print "coverage = " coverage + 0 >file
	print "is_open = " is_open + 0 >file
	print "is_sweep = " (n_sweep > 1) >file
	for (i = 1; i <= n_sweep; i++)
		list = list (i > 1 ? ", " : "") (in_pct ? "'" sweep[i] " %%' " : "") sweep[i] * per
	print "client_ticks = \"" list "\"" >file
}

# ---- Bars -------------------------------------------------------------------

function figure_of(i, figure, which) {
	return value[i, most, figure "_" which] + 0
}

function comes_before(i, j, figure, direction,    x, y) {
	x = figure_of(i, figure, "median") * direction
	y = figure_of(j, figure, "median") * direction
	return x < y || (x == y && strategy[i] < strategy[j])
}

# Fills chosen[] with those of a kind, or with all, and sorts them.
function choose(figure, direction, wanted,    i, j, k, kept) {
	kept = 0
	for (i = 1; i <= n; i++) {
		if (!has[i, most] || (wanted != "" && kind[i, most] != wanted))
			continue
		for (j = kept++; j > 0 && comes_before(i, chosen[j], figure, direction); j--)
			chosen[j + 1] = chosen[j]
		chosen[j + 1] = i
	}
	return kept
}

function print_bars(plot, figure, direction,    i, kinds, k, y) {
	bars = out "/bars-" plot ".tsv"
	heads = out "/heads-" plot ".tsv"
	printf "" >bars
	printf "" >heads
	width[1] = width[2] = width[3] = 0
	n_heads = n_lossy = 0
	low_end = high_end = 0
	y = 0
	if (n <= MANY)
		y = print_group(figure, direction, "", y)
	else {
		kinds = split(order, kind_at, " ")
		for (k = 1; k <= kinds; k++)
			y = print_group(figure, direction, kind_at[k], y)
	}
	close(bars)
	close(heads)
	file = out "/" plot ".gp"
	print "rows = " y >file
	print "n_heads = " n_heads >file
	print "n_lossy = " n_lossy >file
	print "width1 = " width[1] >file
	print "width2 = " width[2] >file
	print "width3 = " width[3] >file
	print "low_end = " low_end >file
	print "high_end = " high_end >file
}

function print_group(figure, direction, wanted, y,    kept, k, i) {
	kept = choose(figure, direction, wanted)
	if (kept && wanted != "") {
		y += y > 0 ? 0.4 : 0
		print y "\t" heading[wanted] >heads
		n_heads++
		y++
	}
	for (k = 1; k <= kept; k++)
		print_bar(chosen[k], figure, y++)
	return y
}

# In characters, not bytes; LC_ALL=C.
function length_of(text) {
	gsub(/[\200-\277]/, "", text)
	return length(text)
}

function widen(column, text) {
	if (length_of(text) > width[column])
		width[column] = length_of(text)
	return text
}

# The text next to a bar: the median, its interval or range, and a remark.
function print_bar(i, figure, y,    middle, low, high, first, second, third, time) {
	middle = figure_of(i, figure, "median")
	low = figure_of(i, figure, "low")
	high = figure_of(i, figure, "high")
	first = worded(figure, middle)
	second = worded(figure, low) != worded(figure, high) ? \
		worded(figure, low) "–" worded(figure, high) : ""
	if (figure == "lost" && low == 0 && high > 0)
		second = "0–" grouped(high)
	if (figure == "lost" && middle == 0 && kind[i, most] == "lossy")
		first = "0"
	if (kind[i, most] == "lossy")
		n_lossy++
	third = ""
	if (figure == "fairness_jain" && clients > 1)
		third = sprintf("%.0f %%", figure_of(i, "luckiest_pct", "median"))
	# Nothing was done: nothing was lost, either.
	if (stuck[i, most]) {
		first = "stuck"
		second = ""
	}
	if (figure == "increments_per_s" && figure_of(i, "recovery_ns", "median") > 0)
		third = "back in " duration(figure_of(i, "recovery_ns", "median"))
	if (figure == "increments_per_s" && figure_of(i, "failed_pct", "median") > 0)
		third = sprintf("%.0f %% refused", figure_of(i, "failed_pct", "median"))
	# Quantiles of too few increments are not known.
	if (figure == "lat_p99_ns") {
		low = figure_of(i, "lat_p50_ns", "median")
		high = middle
		first = low > 0 ? duration(low) : "–"
		second = high > 0 ? duration(high) : "–"
		if (low <= 0)
			low = "NaN"
		if (high <= 0)
			middle = high = "NaN"
		time = figure_of(i, "lat_time_p50_ns", "median")
		third = time > 0 ? duration(time) : "–"
		if (time > high_end)
			high_end = time
	}
	if (low != "NaN" && high == "NaN" && low > high_end)
		high_end = low
	if (low != "NaN" && (low_end == 0 || low < low_end))
		low_end = low
	if (high != "NaN" && high > high_end)
		high_end = high
	printf "%g\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", y, strategy[i], \
		kind[i, most] == "lossy", middle, low, high, widen(1, first), \
		widen(2, second), widen(3, third), (time > 0 ? time : "NaN") >bars
}

# ---- Lines ------------------------------------------------------------------

function sort_sweep(    i, j, t) {
	for (i = 2; i <= n_sweep; i++) {
		t = sweep[i]
		for (j = i - 1; j > 0 && sweep[j] > t; j--)
			sweep[j + 1] = sweep[j]
		sweep[j + 1] = t
	}
}

# The kind at most clients; a strategy that has no run there, at fewer.
function kind_of(i,    k, t) {
	for (t = n_sweep; t >= 1; t--) {
		if (has[i, sweep[t]])
			return kind[i, sweep[t]]
	}
}

# At most as many as one panel holds: all that lose, and of the others the first ones.
function choose_for_counts(    i, room) {
	room = FULL
	for (i = 1; i <= n; i++)
		room -= has_line(i, "lost_pct", 1)
	for (i = 1; i <= n; i++)
		is_left_out[i] = !has_line(i, "lost_pct", 1) && room-- <= 0
}

function has_line(i, figure, only_positive,    t) {
	for (t = 1; t <= n_sweep; t++) {
		if (has[i, sweep[t]] && value[i, sweep[t], figure "_median"] != "" && (!only_positive || value[i, sweep[t], figure "_max"] > 0))
			return 1
	}
	return 0
}

function log10(x) {
	return log(x) / log(10)
}

function begin_lines(plot) {
	lines = out "/lines-" plot ".tsv"
	printf "" >lines
	n_lines = 0
	bottom = top = right = 0
}

function line_point(x, middle, low, high) {
	printf "%.10g\t%.10g\t%.10g\t%.10g\n", x, middle, low, high >lines
	if (bottom == 0 || low < bottom)
		bottom = low
	if (high > top)
		top = high
	if (x > right)
		right = x
	end_x[n_lines] = x
	end_y[n_lines] = middle
}

function begin_line(i) {
	if (n_lines)
		printf "\n\n" >lines
	line[++n_lines] = i
}

function print_lines(plot, figure, is_log, only_positive,    i, t, threads) {
	begin_lines(plot)
	for (i = 1; i <= n; i++) {
		if (!has_line(i, figure, only_positive) || is_left_out[i])
			continue
		begin_line(i)
		for (t = 1; t <= n_sweep; t++) {
			threads = sweep[t]
			if (has[i, threads] && (!is_log || value[i, threads, figure "_low"] > 0))
				line_point(threads * per, value[i, threads, figure "_median"], \
					value[i, threads, figure "_low"], value[i, threads, figure "_high"])
		}
	}
	close(lines)
	if (figure == "lost_pct" || figure == "fairness_jain" || figure == "luckiest_pct") {
		bottom = 0
		top = figure == "lost_pct" ? (top > 0 ? top * 1.05 : 1) : figure == "luckiest_pct" ? 100 : 1
	}
	finish_lines(plot, is_log)
}

# Of all repeats pooled: latencies over their percentile, as far as 100 increments lie beyond it; or over
# the share of all clients' time that was spent in shorter increments.
function print_spectra(plot,    i, path, rows, row, fields, x, y, all, k) {
	begin_lines(plot)
	for (i = 1; i <= n; i++) {
		if (!has[i, most] || value[i, most, "lat_p50_ns_median"] <= 0)
			continue
		path = from "/percentiles/" strategy[i] "-t" most "-p" processes ".csv"
		rows = all = 0
		while ((getline row <path) > 0) {
			split(row, fields, ",")
			if (fields[1] + 0 <= 0 || fields[4] + 0 < 1)
				continue
			x[++rows] = plot == "time" ? 100 - fields[5] : fields[4] + 0
			y[rows] = fields[1] + 0
			all = fields[3] + 0
		}
		close(path)
		if (all < 200)
			continue
		begin_line(i)
		for (k = 1; k <= rows && (plot == "time" || x[k] * 100 <= all * 1.0001); k++)
			line_point(x[k], y[k], y[k], y[k])
	}
	close(lines)
	finish_lines(plot, 1)
}

# Puts lines into panels: one, or one for each kind; a kind of many lines gets
# several, kinds of few share one.
function make_panels(    kinds, k, i, members, parts, p, room) {
	n_panels = 1
	title[1] = ""
	for (i = 1; i <= n_lines; i++)
		panel[i] = 1
	if (n_lines <= FULL)
		return
	n_panels = room = 0
	kinds = split(order, kind_at, " ")
	for (k = 1; k <= kinds; k++) {
		members = 0
		for (i = 1; i <= n_lines; i++) {
			if (kind_of_line(line[i]) == kind_at[k])
				member[++members] = i
		}
		if (members == 0)
			continue
		parts = int((members + PANEL - 1) / PANEL)
		if (members <= room) {
			title[n_panels] = title[n_panels] "; " heading[kind_at[k]]
			for (i = 1; i <= members; i++)
				panel[member[i]] = n_panels
			room -= members
			continue
		}
		for (p = 1; p <= parts; p++)
			title[n_panels + p] = heading[kind_at[k]] (parts > 1 ? " (" p " of " parts ")" : "")
		for (i = 1; i <= members; i++)
			panel[member[i]] = n_panels + 1 + int((i - 1) * parts / members)
		n_panels += parts
		room = parts > 1 ? 0 : PANEL - 1 - members
	}
}

function kind_of_line(i) {
	return n_sweep > 1 ? kind_of(i) : kind[i, most]
}

# Names stand at the lines' ends, moved apart and kept inside the picture.
function spread_names(p, gap,    i, j, m, y) {
	m = 0
	for (i = 1; i <= n_lines; i++) {
		if (panel[i] != p)
			continue
		y = height_of(end_y[i])
		for (j = m++; j > 0 && height_of(end_y[by_height[j]]) > y; j--)
			by_height[j + 1] = by_height[j]
		by_height[j + 1] = i
	}
	for (j = 1; j <= m; j++) {
		y = height_of(end_y[by_height[j]])
		name_y[by_height[j]] = j > 1 && y < name_y[by_height[j - 1]] + gap ? \
			name_y[by_height[j - 1]] + gap : y
	}
	for (j = m; j >= 1; j--) {
		y = j == m ? (n_panels > 1 ? 0.95 : 0.99) : name_y[by_height[j + 1]] - gap
		if (name_y[by_height[j]] > y)
			name_y[by_height[j]] = y
	}
}

# Where a value stands in the picture, from 0 to 1.
function height_of(y) {
	if (is_log_axis)
		return log10(y / bottom) / log10(top / bottom)
	return (y - bottom) / (top - bottom)
}

function finish_lines(plot, is_log,    i, p, style) {
	file = out "/" plot ".gp"
	print "n_lines = " n_lines >file
	if (n_lines == 0)
		return
	is_log_axis = is_log
	if (is_log) {
		bottom = bottom / 1.25
		top = top * 1.25
	}
	# A flat line still needs two ticks around it.
	while (is_log && top / bottom < 8) {
		bottom /= 1.2
		top *= 1.2
	}
	make_panels()
	print "n_panels = " n_panels >file
	printf "bottom = %.10g\ntop = %.10g\nright = %.10g\n", bottom, top, right >file
	print "array panel_title[" n_panels "]" >file
	for (p = 1; p <= n_panels; p++) {
		print "panel_title[" p "] = \"" title[p] "\"" >file
		spread_names(p, n_panels > 1 ? 0.085 : plot ~ /^counts/ ? 0.07 : 0.05)
	}
	print "array line_name[" n_lines "]; array line_panel[" n_lines "]; array line_style[" n_lines "]" >file
	print "array end_x[" n_lines "]; array end_y[" n_lines "]; array name_y[" n_lines "]" >file
	split("", style)
	for (i = 1; i <= n_lines; i++) {
		printf "line_name[%d] = \"%s\"; line_panel[%d] = %d; line_style[%d] = %d\n", \
			i, strategy[line[i]], i, panel[i], i, ++style[panel[i]] >file
		printf "end_x[%d] = %.10g; end_y[%d] = %.10g; name_y[%d] = %.6f\n", \
			i, end_x[i], i, end_y[i], i, name_y[i] >file
	}
	print "others = " n - n_lines >file
}
