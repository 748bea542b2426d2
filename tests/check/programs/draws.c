/* SPDX-License-Identifier: MIT */
/* Prints a line of what it draws at random in all ways that C has, in a child and in threads. */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void print(unsigned long long number)
{
	printf("%016llx ", number);
}

static void *draw(void *into)
{
	getrandom(into, sizeof(uint64_t), 0);
	return NULL;
}

/* A device, by each of two ways to open one. */
static void read_devices(void)
{
	uint64_t drawn[2] = { 0, 0 };
	const int fd = open("/dev/urandom", O_RDONLY);
	FILE *file = fopen("/dev/random", "r");

	if (!file || read(fd, &drawn[0], sizeof(drawn[0])) < 8 || fread(&drawn[1], 8, 1, file) < 1)
		exit(1);
	close(fd);
	fclose(file);
	print(drawn[0]);
	print(drawn[1]);
}

static void draw_in_threads(void)
{
	pthread_t threads[3];
	uint64_t drawn[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, draw, &drawn[i]);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < 3; i++)
		print(drawn[i]);
}

/* In children: made by fork(2) at once, and by posix_spawn(3), which prints one number. */
static void draw_in_children(char *self)
{
	char *const argv[] = { self, "once", NULL };
	int ends[2][2];
	uint64_t drawn;
	pid_t child;

	for (int i = 0; i < 2; i++) {
		if (pipe(ends[i]) != 0)
			exit(1);
		if (fork() == 0) {
			draw(&drawn);
			_exit(write(ends[i][1], &drawn, sizeof(drawn)) != sizeof(drawn));
		}
	}
	for (int i = 0; i < 2; i++) {
		if (read(ends[i][0], &drawn, sizeof(drawn)) != sizeof(drawn))
			exit(1);
		print(drawn);
	}
	while (wait(NULL) > 0)
		continue;
	for (int i = 0; i < 2; i++) {
		fflush(stdout);
		if (posix_spawn(&child, self, NULL, NULL, argv, environ) != 0)
			exit(1);
		waitpid(child, NULL, 0);
	}
}

/* What the C library makes of a file and a directory for temporary files. */
static void draw_names(void)
{
	char file[300], directory[300];
	const char *where = getenv("TMPDIR");

	snprintf(file, sizeof(file), "%s/XXXXXX.txt", where ? where : "/tmp");
	snprintf(directory, sizeof(directory), "%s/XXXXXX", where ? where : "/tmp");
	if (mkstemps(file, 4) < 0 || !mkdtemp(directory) || unlink(file) || rmdir(directory))
		exit(1);
	printf("%s %s ", strrchr(file, '/') + 1, strrchr(directory, '/') + 1);
}

int main(int argc, char **argv)
{
	uint64_t drawn[2];

	if (argc > 1) {
		draw(drawn);
		print(drawn[0]);
		return 0;
	}
	syscall(SYS_getrandom, &drawn[0], sizeof(drawn[0]), 0);
	if (getentropy(&drawn[1], sizeof(drawn[1])) != 0)
		return 1;
	print(drawn[0]);
	print(drawn[1]);
	print(arc4random());
	print((uintptr_t)malloc(10));
	read_devices();
	draw_in_threads();
	draw_in_children(argv[0]);
	draw_names();
	puts("");
	return 0;
}
