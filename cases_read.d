cases_read.o: harness/base/cases_read.c harness/base/cases.h \
  harness/base/error.h harness/base/format.h harness/base/files.h \
  harness/base/memory.h

harness/base/cases.h:

harness/base/error.h:

harness/base/format.h:

harness/base/files.h:

harness/base/memory.h:
