pool.o: harness/base/pool.c harness/base/pool_worker.h \
  harness/base/pool.h harness/base/machine.h harness/base/processes.h \
  harness/base/error.h harness/base/memory.h harness/base/progress.h \
  harness/base/text.h

harness/base/pool_worker.h:

harness/base/pool.h:

harness/base/machine.h:

harness/base/processes.h:

harness/base/error.h:

harness/base/memory.h:

harness/base/progress.h:

harness/base/text.h:
