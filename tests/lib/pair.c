/* SPDX-License-Identifier: MIT */
#include "pair.h"

struct support support;
struct rdl_link *link_, *other;

void pair_setup(void)
{
	support_open(&support, 1);
	link_ = support_link(&support, 0);
	other = support_link(&support, 0);
}

void pair_teardown(void)
{
	rdl_link_free(link_);
	rdl_link_free(other);
	support_close(&support);
}

bool pair_increment(struct rdl_link *link)
{
	struct rdl_reply reply;
	long long value = 0;

	return rdl_run(link, &reply, "GET counter") == RDL_OK &&
	       (rdl_reply_is_nil(&reply) || rdl_reply_number(&reply, &value)) &&
	       rdl_run(link, &reply, "SET counter %lld", value + 1) == RDL_OK;
}
