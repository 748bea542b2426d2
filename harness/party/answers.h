/* SPDX-License-Identifier: MIT */
/* What requests of an app were answered, as its ending says: the records that redrace-app has
 * written down (base/marks.h), each an ending of its own. */
#ifndef RR_ANSWERS_H
#define RR_ANSWERS_H

#include "endings.h"

/* The answer of a request, by the ending of the app: the number of an ending; -1: none. */
long rr_answers_get(struct rr_endings *endings, long ending, size_t request);

/* Has the app ended by itself? Then no answer is a refusal. */
bool rr_answers_miss_app(struct rr_endings *endings, long ending);

/* What an answer means; `refused`: see rr_instance_config. A refusal is also an HTTP status 409, 412,
 * 423, 425, 428, 429 or 503. Any other 4xx or 5xx is a failure. */
struct rr_request_end rr_answers_judge(struct rr_endings *endings, long answer,
				       const char *refused);

/* The command of a request in a few words: "POST /buy", "LPUSH jobs x"; what was answered, its first line.
 * malloc'd. */
char *rr_request_words(const char *command);
char *rr_answer_words(struct rr_ending answer);

/* Were so many requests answered alike? */
bool rr_answers_are_same(struct rr_endings *endings, size_t n_requests, long a, long b);

/* As rr_endings_vary(), of each answer. */
void rr_answers_vary(struct rr_endings *endings, size_t n_requests, long a, long b);

#endif
