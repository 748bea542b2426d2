plain.o: harness/base/plain.c harness/base/text.h harness/base/memory.h

harness/base/text.h:

harness/base/memory.h:
