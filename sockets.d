sockets.o: harness/check/sockets.c harness/check/sockets.h

harness/check/sockets.h:
