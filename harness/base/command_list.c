/* SPDX-License-Identifier: MIT */
#include "command_list.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "memory.h"

/* All words of a command lie behind its first one. */
void rr_command_list_add(struct rr_command_list *list, const struct rdl_word *words, size_t n)
{
	struct rdl_command *command;
	size_t size = 1;
	char *at;

	for (size_t i = 0; i < n; i++)
		size += words[i].length + 1;
	rr_array_grow(&list->all, list->n, sizeof(*list->all));
	command = &list->all[list->n++];
	*command = (struct rdl_command){ .n_words = n };
	at = rr_malloc(size);
	for (size_t i = 0; i < n; i++) {
		command->words[i] = (struct rdl_word){ at, words[i].length };
		memcpy(at, words[i].text, words[i].length);
		at[words[i].length] = '\0';
		at += words[i].length + 1;
	}
}

void rr_command_list_release(struct rr_command_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		free((char *)list->all[i].words[0].text);
	free(list->all);
	*list = (struct rr_command_list){ .n = 0 };
}
