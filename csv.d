csv.o: harness/base/csv.c harness/base/csv.h harness/base/error.h \
  harness/base/files.h harness/base/memory.h

harness/base/csv.h:

harness/base/error.h:

harness/base/files.h:

harness/base/memory.h:
