files.o: harness/base/files.c harness/base/files.h harness/base/error.h \
  harness/base/machine.h harness/base/memory.h harness/base/text.h

harness/base/files.h:

harness/base/error.h:

harness/base/machine.h:

harness/base/memory.h:

harness/base/text.h:
