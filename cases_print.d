cases_print.o: harness/base/cases_print.c harness/base/cases.h \
  harness/base/error.h harness/base/format.h harness/base/memory.h \
  harness/base/text.h

harness/base/cases.h:

harness/base/error.h:

harness/base/format.h:

harness/base/memory.h:

harness/base/text.h:
