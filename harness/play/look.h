/* SPDX-License-Identifier: MIT */
/* Asking the servers of a race, over connections of our own. */
#ifndef RR_LOOK_H
#define RR_LOOK_H

#include "scenery.h"

/* A command of our own; false when no reply can be had. */
bool rr_look_ask(struct rr_scenery *scenery, int server, size_t n,
		 const char *const words[], char text[RR_REPLY_TEXT_SIZE]);

/* KEY, or KEY@SERVER: the key's name into `name`, its server's number. */
int rr_look_split(const struct rr_scenery *scenery, const char *key,
		  char name[RR_VALUE_SIZE]);

/* A key's value, whatever its type; "(nil)" when it is not there. */
bool rr_look_read(struct rr_scenery *scenery, int server, const char *key,
		  char text[RR_REPLY_TEXT_SIZE]);

/* The same of KEY or KEY@SERVER, as much as is shown. */
bool rr_look_read_shown(struct rr_scenery *scenery, const char *key,
			char value[RR_VALUE_SIZE]);

#endif
