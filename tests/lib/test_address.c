/* SPDX-License-Identifier: MIT */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "redislock.h"

static struct rl_address parsed(const char *uri)
{
	struct rl_address address;
	char error[400] = "";

	cr_assert(rl_address_parse(&address, uri, error, sizeof(error)),
		  "%s: %s", uri, error);
	return address;
}

Test(address, full_redis_uri)
{
	const struct rl_address a =
		parsed("redis://me:s%40crt@example.org:7000/3");

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
		"", "localhost", "http://h", "redis://", "redis://h:0",
		"redis://h:65536", "redis://h:x", "redis://h/x", "redis://h/-1",
		"redis://u:%zz@h", "redis://[::1", "unix://", "unix:///s?x=1",
		"unix:///s?db=", "redis://h/99999999999",
	};
	char uri[300] = "unix:///", error[400];
	struct rl_address address;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		error[0] = '\0';
		cr_assert_not(rl_address_parse(&address, bad[i], error,
					       sizeof(error)),
			      "'%s' was taken", bad[i]);
		cr_assert_neq(error[0], '\0', "'%s' has no message", bad[i]);
	}
	memset(uri + 8, 'x', 200);
	cr_assert_not(rl_address_parse(&address, uri, error, sizeof(error)),
		      "a socket path of 201 bytes was taken");
}

Test(address, prints_without_secrets)
{
	char text[400];
	struct rl_address a = parsed("redis://me:secret@h:1/2");

	rl_address_print(&a, text, sizeof(text));
	cr_assert_str_eq(text, "redis://h:1/2");
	a = parsed("unix:///s?db=1");
	rl_address_print(&a, text, sizeof(text));
	cr_assert_str_eq(text, "unix:///s?db=1");
}
