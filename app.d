app.o: harness/check/app/app.c harness/check/app/app.h \
  harness/base/marks.h harness/base/text.h

harness/check/app/app.h:

harness/base/marks.h:

harness/base/text.h:
