nodes.o: harness/suite/nodes.c harness/suite/nodes.h harness/base/error.h \
  harness/base/memory.h

harness/suite/nodes.h:

harness/base/error.h:

harness/base/memory.h:
