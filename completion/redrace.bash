# SPDX-License-Identifier: MIT
# Completion of redrace for bash. What can come next is asked of the program.

_redrace() {
	local current=${COMP_WORDS[COMP_CWORD]} word found
	local -a before=() words=()

	# --format=json comes as three words.
	for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
		[[ -z $word || $word == = ]] || before+=("$word")
	done
	[[ $current != = ]] || current=
	COMPREPLY=()
	found=$("${COMP_WORDS[0]}" help --complete -- "${before[@]}" 2>/dev/null) ||
		return 0
	while IFS= read -r word; do
		case $word in
		@files)
			compopt -o filenames 2>/dev/null
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < \
				<(compgen -f -- "$current")
			;;
		@directories)
			compopt -o filenames 2>/dev/null
			mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < \
				<(compgen -d -- "$current")
			;;
		-*) [[ $current != -* ]] || words+=("$word") ;;
		*) words+=("$word") ;;
		esac
	done <<<"$found"
	# Names may hold anything, and compgen -W would run it.
	for word in "${words[@]}"; do
		[[ $word != "$current"* ]] || COMPREPLY+=("$word")
	done
}

complete -F _redrace redrace
