pool_worker.o: harness/base/pool_worker.c harness/base/pool_worker.h \
  harness/base/pool.h harness/base/machine.h harness/base/processes.h \
  harness/base/error.h harness/base/memory.h

harness/base/pool_worker.h:

harness/base/pool.h:

harness/base/machine.h:

harness/base/processes.h:

harness/base/error.h:

harness/base/memory.h:
