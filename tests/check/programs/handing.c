/* SPDX-License-Identifier: MIT */
/* Threads that wake each other in a ring, one after the other: time must not pass
 * meanwhile, though somebody else sleeps. */
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <time.h>

enum { THREADS = 4, ROUNDS = 20000 };

static sem_t turn[THREADS];

static void *hand_on(void *number)
{
	const intptr_t self = (intptr_t)number;

	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&turn[self]);
		sem_post(&turn[(self + 1) % THREADS]);
	}
	return NULL;
}

int main(void)
{
	const time_t begin = time(NULL);
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		sem_init(&turn[i], 0, i == 0);
	for (intptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, hand_on, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return time(NULL) == begin ? 0 : 1;
}
