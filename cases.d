cases.o: harness/base/cases.c harness/base/cases.h harness/base/error.h \
  harness/base/format.h harness/base/files.h harness/base/machine.h \
  harness/base/memory.h harness/base/text.h

harness/base/cases.h:

harness/base/error.h:

harness/base/format.h:

harness/base/files.h:

harness/base/machine.h:

harness/base/memory.h:

harness/base/text.h:
