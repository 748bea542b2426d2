# SPDX-License-Identifier: MIT
# Makes redrace-race(5) of docs/races.md: awk -f docs/races.awk -v date=DATE
# docs/races.md. Knows what that file uses: headings, paragraphs, tables of two or
# more columns, fenced code, `code`, links. is_open: a paragraph has begun in this
# section; is_over: it, or a table, has ended.

# Backslashes and quotes that roff would take for its own; `code` in bold.
function inline(text,    out, part) {
	gsub(/\\/, "\\e", text)
	gsub(/\\e\|/, "|", text)
	text = unlink(text)
	while (match(text, /`[^`]+`/)) {
		part = substr(text, RSTART + 1, RLENGTH - 2)
		out = out dashes(substr(text, 1, RSTART - 1)) "\\fB" dashes(part) "\\fP"
		text = substr(text, RSTART + RLENGTH)
	}
	out = out dashes(text)
	gsub(/'/, "\\(aq", out)
	return out ~ /^[.]/ ? "\\&" out : out
}

# [text](address) is its text.
function unlink(text) {
	while (match(text, /\[[^]`]+\]\([^)]*\)/)) {
		link = substr(text, RSTART + 1, RLENGTH - 1)
		sub(/\].*/, "", link)
		text = substr(text, 1, RSTART - 1) link substr(text, RSTART + RLENGTH)
	}
	return text
}

function dashes(text) {
	gsub(/-/, "\\-", text)
	return text
}

function literal(line) {
	gsub(/\\/, "\\e", line)
	gsub(/-/, "\\-", line)
	gsub(/'/, "\\(aq", line)
	print (line ~ /^[.]/ ? "\\&" : "") line
}

function leave_table() {
	if (in_table)
		print ".El"
	is_over = is_over || in_table
	in_table = 0
}

# A row: the first column is the tag, the others are what it means.
function row(line,    n, cell, i) {
	gsub(/\\\|/, "\001", line)
	n = split(line, cell, /[ ]*\|[ ]*/)
	for (i = 2; i < n; i++)
		gsub(/\001/, "|", cell[i])
	tag = inline(cell[2])
	gsub(/"/, "\\(dq", tag)
	print ".It " tag
	for (i = 3; i < n; i++)
		print inline(cell[i])
}

BEGIN {
	print ".\\\" Made of docs/races.md by docs/races.awk."
	print ".Dd " date "\n.Dt REDRACE-RACE 5\n.Os"
	print ".Sh NAME\n.Nm redrace-race\n.Nd the language of .race files"
}

/^```/ {
	leave_table()
	print in_code ? ".Ed" : ".Bd -literal -offset indent"
	is_over = in_code
	in_code = !in_code
	next
}
in_code { literal($0); next }
/^# / {
	print ".Sh SYNOPSIS\n.Nm redrace play\n.Ar FILE Ns .race"
	print ".Sh DESCRIPTION"
	next
}
/^## / {
	leave_table()
	print ".Sh " toupper(substr($0, 4))
	is_open = is_over = 0
	next
}
/^\|--/ || /^\|[ -]*\|[ -|]*$/ { next }
/^\|/ && !in_table {
	print ".Bl -tag -width Ds"
	in_table = 1
	next
}
/^\|/ { row($0); next }
/^$/ { leave_table(); is_over = is_over || is_open; next }
{
	leave_table()
	if (is_over)
		print ".Pp"
	is_over = 0
	is_open = 1
	print inline($0)
}

END {
	leave_table()
	print ".Sh SEE ALSO\n.Xr redrace 1 ,\n.Xr redrace-play 1"
}
