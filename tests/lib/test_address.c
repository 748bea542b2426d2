/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "address.h"

static struct rdl_address parsed(const char *uri)
{
	struct rdl_address address;
	char error[400] = "";

	cr_assert(rdl_address_parse(&address, uri, error, sizeof(error)), "%s: %s", uri, error);
	return address;
}

Test(address, full_redis_uri)
{
	const struct rdl_address a = parsed("redis://me:s%40crt@example.org:7000/3");

	cr_assert_not(a.is_unix);
	cr_assert_str_eq(a.host, "example.org");
	cr_assert_eq(a.port, 7000);
	cr_assert_eq(a.db, 3);
	cr_assert_str_eq(a.user, "me");
	cr_assert_str_eq(a.password, "s@crt");
}

Test(address, short_forms)
{
	cr_assert_eq(parsed("redis://h").port, 6379);
	cr_assert_eq(parsed("redis://h/").db, 0);
	cr_assert_str_eq(parsed("redis://:pw@h").user, "");
	cr_assert_str_eq(parsed("redis://:pw@h").password, "pw");
	cr_assert_str_eq(parsed("redis://[::1]:7/2").host, "::1");
	cr_assert_eq(parsed("redis://[::1]:7/2").port, 7);
	cr_assert_str_eq(parsed("unix:///run/r.sock?db=4").host, "/run/r.sock");
	cr_assert_eq(parsed("unix:///run/r.sock?db=4").db, 4);
}

Test(address, refuses_what_it_cannot_read)
{
	static const char *const bad[] = {
		"",
		"localhost",
		"http://h",
		"redis://",
		"redis://h:0",
		"redis://h:65536",
		"redis://h:x",
		"redis://h/x",
		"redis://h/-1",
		"redis://u:%zz@h",
		"redis://[::1",
		"unix://",
		"unix:///s?x=1",
		"redis://u:a%00b@h",
		"redis://%00@h",
		"redis://h,i",
		"redis+sentinel://h",
		"redis+sentinel://h/",
		"redis+sentinel://h,/s",
		"redis+sentinel://h/s/x",
		"redis+sentinel:///s",
		"redis+cluster://",
		"redis+cluster://h/1",
		"redis+cluster://h,i:0",
		"redis+cluster://h,",
		"unix:///s?db=",
		"redis://h/99999999999",
	};
	char uri[300] = "unix:///", error[400];
	struct rdl_address address;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error[0] = '\0';
		cr_assert_not(rdl_address_parse(&address, bad[i], error, sizeof(error)),
			      "'%s' was taken", bad[i]);
		cr_assert_neq(error[0], '\0', "'%s' has no message", bad[i]);
	}
	memset(uri + 8, 'x', 200);
	cr_assert_not(rdl_address_parse(&address, uri, error, sizeof(error)),
		      "a socket path of 201 bytes was taken");
}

/* Who mistypes one has most likely typed a password. */
Test(address, no_piece_of_a_uri_is_in_a_message)
{
	static const char *const bad[] = {
		"redis://u:hunter2@h:x",
		"redis://u:hunter2@",
		"redis://hunter2%zz@h",
		"redis://h/hunter2",
		"redis://hunter2:x",
		"unix:///s?hunter2",
		"hunter2://x",
		"redis+cluster://h/hunter2",
		"redis+sentinel://u:hunter2@h",
		"redis+cluster://h,i:hunter2",
	};
	struct rdl_address address;
	char error[400];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_not(rdl_address_parse(&address, bad[i], error, sizeof(error)),
			      "'%s' was taken", bad[i]);
		cr_assert_null(strstr(error, "hunter2"), "%s", error);
	}
}

Test(address, sentinels_and_a_cluster)
{
	const struct rdl_address s =
		parsed("redis+sentinel://me:pw@a,[::1]:7,c:26380/my%2Fmaster/3");
	const struct rdl_address c = parsed("redis+cluster://a:7000,b");
	char text[400];

	cr_assert_eq(s.kind, RDL_ADDRESS_SENTINEL);
	cr_assert_str_eq(s.host, "a");
	cr_assert_eq(s.port, 26379);
	cr_assert_str_eq(s.more, "[::1]:7,c:26380");
	cr_assert_str_eq(s.service, "my/master");
	cr_assert_eq(s.db, 3);
	cr_assert_str_eq(s.password, "pw");
	rdl_address_print(&s, text, sizeof(text));
	cr_assert_str_eq(text, "redis+sentinel://a:26379,[::1]:7,c:26380/"
			       "my/master/3");
	cr_assert_eq(c.kind, RDL_ADDRESS_CLUSTER);
	rdl_address_print(&c, text, sizeof(text));
	cr_assert_str_eq(text, "redis+cluster://a:7000,b");
	cr_assert_eq(parsed("redis+cluster://a/").port, 6379);
}

Test(address, the_nodes_of_a_list_one_by_one)
{
	const struct rdl_address s = parsed("redis+sentinel://me:pw@a,[::1]:7,c/m/3");
	char uri[400] = "redis+cluster://h", error[400];
	struct rdl_address node;

	cr_assert(rdl_address_node(&s, 0, &node));
	cr_assert_str_eq(node.host, "a");
	cr_assert(rdl_address_node(&s, 1, &node));
	cr_assert_str_eq(node.host, "::1");
	cr_assert_eq(node.port, 7);
	cr_assert(rdl_address_node(&s, 2, &node));
	cr_assert_str_eq(node.host, "c");
	cr_assert_eq(node.port, 26379);
	cr_assert_eq(node.kind, RDL_ADDRESS_SERVER);
	cr_assert_str_eq(node.password, "pw");
	cr_assert_eq(node.db, 0);
	cr_assert_not(rdl_address_node(&s, 3, &node));
	for (int i = 1; i < RDL_NODES_MAX; i++)
		strcat(uri, ",h");
	cr_assert(rdl_address_node(&(struct rdl_address){ 0 }, 0, &node));
	cr_assert(rdl_address_parse(&node, uri, error, sizeof(error)));
	strcat(uri, ",h");
	cr_assert_not(rdl_address_parse(&node, uri, error, sizeof(error)));
}

Test(address, prints_without_secrets)
{
	char text[400];
	struct rdl_address a = parsed("redis://me:secret@h:1/2");

	rdl_address_print(&a, text, sizeof(text));
	cr_assert_str_eq(text, "redis://h:1/2");
	a = parsed("unix:///s?db=1");
	rdl_address_print(&a, text, sizeof(text));
	cr_assert_str_eq(text, "unix:///s?db=1");
}
