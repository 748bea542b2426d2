system.o: harness/check/app/system.c harness/check/app/app.h \
  harness/base/marks.h harness/check/sockets.h

harness/check/app/app.h:

harness/base/marks.h:

harness/check/sockets.h:
