/* SPDX-License-Identifier: MIT */
#include "placement.h"

#include <sched.h>

int rr_placement_nth(int n)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return -1;
	n %= CPU_COUNT(&set);
	for (int i = CPU_SETSIZE; i-- > 0;) {
		if (CPU_ISSET(i, &set) && n-- == 0)
			return i;
	}
	return -1;
}

int rr_placement_cpu(void)
{
	return rr_placement_nth(0);
}

void rr_placement_pin(int cpu)
{
	cpu_set_t set;

	if (cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int rr_placement_count(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) != 0)
		return 1;
	return CPU_COUNT(&set);
}
