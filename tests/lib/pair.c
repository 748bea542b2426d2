/* SPDX-License-Identifier: MIT */
#include "pair.h"

struct support support;
struct rl_link *link_, *other;

void pair_setup(void)
{
	support_open(&support, 1);
	link_ = support_link(&support, 0);
	other = support_link(&support, 0);
}

void pair_teardown(void)
{
	rl_link_free(link_);
	rl_link_free(other);
	support_close(&support);
}
