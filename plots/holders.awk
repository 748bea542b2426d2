# SPDX-License-Identifier: MIT
# Chooses what a picture of holders/STRATEGY-....csv shows: about forty times in a
# critical section, around the first at which two were in it, if there is one.
#
#	awk -v out=DIR -f holders.awk FILE
#
# out/holds.tsv     lane, asked, entered, left (ns), is not alone
# out/overlaps.tsv  from, to: two in the same critical section
# out/lanes.gp      names of the lanes, how long it is, how many overlaps there are
BEGIN {
	FS = ","
	SHOWN = 40
}

FNR == 1 { next }

{
	n++
	client[n] = $1
	key[n] = $3
	asked[n] = $4
	entered[n] = $5
	left[n] = $6
	others[n] = $7
	if (!($1 in first) || $5 < first[$1])
		first[$1] = $5
	if ($1 + 0 > clients)
		clients = $1 + 0
	overlapping += ($7 > 0)
	title[$1] = "client " $1 ", process " $2
}

END {
	lanes = out "/lanes.gp"
	print "n_holds = " n + 0 >lanes
	if (n == 0)
		exit
	choose_window()
	print_holds()
	print_overlaps()
	print_lanes()
}

# Rings begin at different times; what is shown begins when all of them have.
function choose_window(    i, c) {
	from = 1
	for (c in first)
		while (from < n - 10 && entered[from] < first[c])
			from++
	for (i = from; i <= n && !others[i]; i++)
		;
	if (i <= n && i - SHOWN / 2 > from)
		from = i - SHOWN / 2
	to = from + SHOWN - 1 < n ? from + SHOWN - 1 : n
	zero = asked[from]
	for (i = from; i <= to; i++)
		if (entered[i] < zero)
			zero = entered[i]
}

function print_holds(    i, begin) {
	for (i = from; i <= to; i++) {
		begin = asked[i] < zero ? zero : asked[i]
		printf "%d\t%.0f\t%.0f\t%.0f\t%d\n", lane_of(i), begin - zero, \
			entered[i] - zero, left[i] - zero, (others[i] > 0) >(out "/holds.tsv")
		if (left[i] - zero > length_ns)
			length_ns = left[i] - zero
	}
}

# Only clients that are seen get a lane, if there are many.
function lane_of(i) {
	if (!(client[i] in lane)) {
		if (clients <= 16) {
			lane[client[i]] = client[i]
			n_lanes = clients
		} else
			lane[client[i]] = ++n_lanes
		name[lane[client[i]]] = title[client[i]]
	}
	return lane[client[i]]
}

function print_overlaps(    i, j, end) {
	printf "" >(out "/overlaps.tsv")
	for (i = from; i <= to; i++)
		for (j = i + 1; j <= to && entered[j] < left[i]; j++) {
			if (key[i] != key[j])
				continue
			end = left[i] < left[j] ? left[i] : left[j]
			printf "%.0f\t%.0f\n", entered[j] - zero, end - zero >(out "/overlaps.tsv")
			n_overlaps++
		}
}

function print_lanes(    i) {
	print "length_ns = " length_ns >lanes
	print "n_lanes = " n_lanes >lanes
	print "n_overlaps = " n_overlaps + 0 >lanes
	print "n_shown = " to - from + 1 >lanes
	print "n_not_alone = " overlapping + 0 >lanes
	print "array lane_name[" n_lanes "]" >lanes
	for (i = 1; i <= n_lanes; i++) {
		if (i in name)
			what = name[i]
		else
			what = i in title ? title[i] : "client " i
		print "lane_name[" i "] = \"" what "\"" >lanes
	}
}
