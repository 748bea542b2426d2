# SPDX-License-Identifier: MIT
# Makes manual pages of lib/redislock.h: a page for each of its sections, and a link to it for
# each function and type that the section declares.
#	awk -f docs/header.awk -v dir=DIR -v date=DATE lib/redislock.h	writes DIR/NAME.3
#	awk -f docs/header.awk lib/redislock.h				prints the names
# Knows what that file uses: sections, comments, prototypes, types, macros; code in a comment
# stands behind a tab.

function escape(text) {
	gsub(/\\/, "\\e", text)
	return text ~ /^[.']/ ? "\\&" text : text
}

# A comment as paragraphs; lines that begin with a tab are code.
function describe(comment,    n, line, i, code, text) {
	sub(/^\/\*\n?/, "", comment)
	sub(/[ \n]*\*\/$/, "", comment)
	n = split(comment, line, "\n")
	for (i = 1; i <= n; i++) {
		sub(/^ \*/, "", line[i])
		sub(/^ /, "", line[i])
		if ((line[i] ~ /^\t/) != code) {
			code = !code
			body = body (code ? ".Bd -literal -offset indent\n" : ".Ed\n.Pp\n")
		}
		text = line[i]
		sub(/^\t/, "", text)
		if (code || text ~ /[^ \t]/)
			body = body escape(text) "\n"
		else
			body = body ".Pp\n"
	}
	if (code)
		body = body ".Ed\n"
}

function verbatim(text) {
	body = body ".Bd -literal -offset indent\n"
	gsub(/\\/, "\\e", text)
	body = body text ".Ed\n.Pp\n"
}

function add_name(name) {
	if (name in owner)
		return
	owner[name] = section
	names[++n_names] = name
}

# "TYPE NAME(ARGUMENTS);", on one line.
function add_function(text,    name, type, arguments, part, n, i) {
	gsub(/[ \t\n]+/, " ", text)
	sub(/ ?__attribute__.*/, "", text)
	sub(/;? *$/, "", text)
	match(text, /rdl_[a-z_0-9]+\(/)
	name = substr(text, RSTART, RLENGTH - 1)
	type = substr(text, 1, RSTART - 1)
	arguments = substr(text, RSTART + RLENGTH)
	sub(/\)$/, "", arguments)
	sub(/ $/, "", type)
	synopsis = synopsis ".Ft " type "\n.Fn " name
	n = split(arguments, part, /, /)
	for (i = 1; i <= n; i++)
		synopsis = synopsis " \"" part[i] "\""
	synopsis = synopsis "\n"
	add_name(name)
	about = about (about == "" ? "" : ", ") name
}

# What was said about the functions that have come, under their names.
function end_group() {
	if (about != "")
		body = body ".Ss " about "\n"
	if (comment != "") {
		describe(comment)
		body = body ".Pp\n"
	}
	if (types != "")
		verbatim(types)
	about = comment = types = ""
}

function end_section(    i, file) {
	end_group()
	if (n_names == 0 || dir == "") {
		for (i = 1; i <= n_names; i++)
			print names[i]
	} else {
		file = dir "/" names[1] ".3"
		gsub(/(\.Pp\n)+/, ".Pp\n", body)
		gsub(/\.Pp\n\.Ss/, ".Ss", body)
		gsub(/\.Pp\n\.Bd/, ".Bd", body)
		sub(/\.Pp\n$/, "", body)
		sub(/^\.Pp\n/, "", body)
		printf ".\\\" Made of redislock.h by docs/header.awk.\n.Dd %s\n.Dt %s 3\n.Os\n.nh\n.Sh NAME\n", date,
			toupper(names[1]) >file
		for (i = 1; i <= n_names; i++) {
			printf ".Nm %s%s\n", names[i], i < n_names ? " ," : "" >file
			if (i > 1)
				printf ".so man3/%s.3\n", names[1] >(dir "/" names[i] ".3")
		}
		printf ".Nd %s\n.Sh LIBRARY\nlibredislock\n.Pq pkg-config redislock , \\-lredislock\n", title >file
		printf ".Sh SYNOPSIS\n.In redislock.h\n%s.Sh DESCRIPTION\n%s", synopsis, body >file
		printf ".Sh SEE ALSO\n.Xr redislock 3\n" >file
		close(file)
	}
	for (i in names)
		delete names[i]
	n_names = 0
	synopsis = body = ""
}

/^\/\* ---- .* -+ \*\/$/ {
	end_section()
	section = $0
	sub(/^\/\* ---- /, "", section)
	sub(/ -+ \*\/$/, "", section)
	title = tolower(substr(section, 1, 1)) substr(section, 2)
	next
}
section == "" { next }

# A comment of its own line, or lines.
!within && /^\/\*/ {
	end_group()
	comment = $0
	within = $0 ~ /\*\/$/ ? "" : "comment"
	next
}
within == "comment" {
	comment = comment "\n" $0
	if (/\*\/$/)
		within = ""
	next
}
!within && /^$/ {
	end_group()
	next
}

# Types and macros, as they are.
!within && /^(struct|enum)( rdl_[a-z_]+)? \{/ || !within && /^static inline/ {
	within = "type"
}
within == "type" {
	if ($0 ~ /^(struct|enum) rdl_/)
		add_name($2)
	types = types $0 "\n"
	if (/;$/ && /^}/ || /^}$/ || /^enum.*};$/)
		within = ""
	next
}
/^#(if|endif|ifdef)|^}|^extern/ { next }
/^#define/ || within == "macro" {
	types = types $0 "\n"
	within = /\\$/ ? "macro" : ""
	next
}
/^typedef/ || within == "typedef" {
	if (match($0, /\(\*rdl_[a-z_]+/))
		add_name(substr($0, RSTART + 2, RLENGTH - 2))
	types = types $0 "\n"
	within = /;$/ ? "" : "typedef"
	next
}
{
	prototype = prototype " " $0
	if (/;$/) {
		add_function(substr(prototype, 2))
		prototype = ""
	}
}
END { end_section() }
