cmd_merge.o: harness/cmd_merge.c harness/base/memory.h \
  harness/base/option.h harness/base/error.h harness/base/format.h \
  scenarios/strategy.h lib/driver.h lib/redislock.h harness/base/shard.h \
  harness/base/cases.h harness/base/text.h harness/commands.h

harness/base/memory.h:

harness/base/option.h:

harness/base/error.h:

harness/base/format.h:

scenarios/strategy.h:

lib/driver.h:

lib/redislock.h:

harness/base/shard.h:

harness/base/cases.h:

harness/base/text.h:

harness/commands.h:
