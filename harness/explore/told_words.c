/* SPDX-License-Identifier: MIT */
/* Transitions and what they consist of, in words. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/reply.h"
#include "play/play.h"
#include "told.h"

#define MS_NS INT64_C(1000000)

/* ---- Names ------------------------------------------------------------------- */

/* "tokenA", "tokenA2" of a later attempt. */
static void name_token(uint64_t mask, char name[16])
{
	const int bit = mask ? __builtin_ctzll(mask) : -1;
	const int generation = bit % RR_GENERATIONS;

	if (bit < 0)
		snprintf(name, 16, "token");
	else if (generation == 0)
		snprintf(name, 16, "token%c", 'A' + bit / RR_GENERATIONS);
	else
		snprintf(name, 16, "token%c%d", 'A' + bit / RR_GENERATIONS, generation + 1);
}

bool rr_told_name_tokens(struct rr_told *told)
{
	const struct rr_terms *terms = &told->explorer->terms;

	told->tokens = calloc(terms->n_names + 1, sizeof(*told->tokens));
	for (size_t i = 0; told->tokens && i < terms->n_names; i++) {
		const struct rr_term_name *it = &terms->names[i];
		struct rr_told_token *token = &told->tokens[i];

		for (size_t j = 0; j < it->n_bytes; j++)
			snprintf(&token->hex[2 * j], 3, "%02x", it->bytes[j]);
		token->length = 2 * it->n_bytes;
		name_token(it->mask, token->name);
	}
	told->n_tokens = terms->n_names;
	return told->tokens != NULL;
}

static const struct rr_told_token *find_token(const struct rr_told *told, const char *text)
{
	for (size_t i = 0; i < told->n_tokens; i++) {
		const struct rr_told_token *token = &told->tokens[i];

		if (token->length && strncmp(text, token->hex, token->length) == 0)
			return token;
	}
	return NULL;
}

char *rr_told_tidy(const struct rr_told *told, const char *text)
{
	char *tidy = NULL;
	size_t size;
	FILE *file = open_memstream(&tidy, &size);

	while (file && *text) {
		const struct rr_told_token *token = find_token(told, text);

		if (token)
			fputs(token->name, file);
		else
			fputc(*text, file);
		text += token ? token->length : 1;
	}
	if (file)
		fclose(file);
	return tidy;
}

static const char *script_name(const struct rr_told *told, const char *source)
{
	const struct rr_told_script *script = told->config->scripts;

	for (; script && script->part; script++) {
		if (strstr(source, script->part))
			return script->name;
	}
	return "script";
}

static bool is_script_call(const struct rl_command *command)
{
	return command->n_words > 2 && (strcasecmp(command->words[0].text, "EVALSHA") == 0 ||
					strcasecmp(command->words[0].text, "EVAL") == 0);
}

/* Its hash or its text is not told, nor how many keys it has. */
static char *join_script_call(const struct rr_told *told, const struct rl_command *command)
{
	const char *word = command->words[1].text;
	const char *source = rr_scripts_find(&told->explorer->scripts, word);
	char *rest = rr_join_words(&command->words[3], command->n_words - 3);
	char *text = NULL;

	if (rest &&
	    asprintf(&text, "EVAL %s %s", script_name(told, source ? source : word), rest) < 0)
		text = NULL;
	free(rest);
	return text;
}

/* "SET lock:0 tokenA NX PX 10000"; malloc'd. */
static char *told_command(const struct rr_told *told, uint32_t number)
{
	const struct rl_command *command = &told->explorer->terms.command[number].words;
	char *text = is_script_call(command) ? join_script_call(told, command) :
					       rr_join_words(command->words, command->n_words);
	char *tidy = text ? rr_told_tidy(told, text) : NULL;

	free(text);
	return tidy;
}

static char *told_reply(const struct rr_told *told, uint32_t number)
{
	char *text = NULL, *tidy = NULL;
	size_t size;
	FILE *file = open_memstream(&text, &size);

	if (!file)
		return NULL;
	rr_write_reply(file, &told->explorer->terms.reply[number].reply);
	fclose(file);
	if (text)
		tidy = rr_told_tidy(told, text);
	free(text);
	return tidy;
}

/* ---- What happens ---------------------------------------------------------------- */

/* [client, server, kind, text, reply]; -1 and null where there is none. The kind is
 * "command", "mark", "time", "fault" or "own". Frees `reply`. */
static bool add_happening(json_t *events, int client, int server, const char *kind,
			  const char *text, char *reply)
{
	json_t *event = json_pack("[i, i, s, s, s?]", client, server, kind, text ? text : "?",
				  reply);

	free(reply);
	return json_array_append_new(events, event) == 0;
}

static bool happens_asking(const struct rr_told *told, json_t *events,
			   const struct rr_action *action)
{
	const int client = action->is_late ? -1 : action->client;
	char *text;
	bool good;

	if (action->question.kind == RR_ASK_TICK)
		return add_happening(events, -1, action->server, "fault",
				     "its clock jumps forward by more than a lease", NULL);
	if (action->question.kind == RR_ASK_WIPE)
		return add_happening(events, -1, action->server, "fault", "starts again, empty",
				     NULL);
	if (action->question.kind != RR_ASK_COMMAND)
		return true;
	text = told_command(told, action->command);
	good = add_happening(events, client, action->server, "command", text,
			     action->answer == RR_ANSWER_REPLY ? told_reply(told, action->reply) :
								 strdup("the reply is lost"));
	free(text);
	return good;
}

static bool happens_unheard(const struct rr_told *told, json_t *events,
			    const struct rr_action *action)
{
	static const char *const whys[] = {
		[RR_ANSWER_REPLY] = "",
		[RR_ANSWER_LOST] = "the reply is lost",
		[RR_ANSWER_SHUT] = "the connection is closed",
		[RR_ANSWER_REFUSED] = "the server is down",
		[RR_ANSWER_UNHEARD] = "the reply is lost",
	};
	char *text = told_command(told, action->command);
	const bool good = add_happening(events, action->client, action->server, "command", text,
					strdup(whys[action->answer]));

	free(text);
	return good;
}

static const char *own_step(const struct rr_action *action)
{
	switch (action->stop.kind) {
	case RR_STOP_LOCK:
		return "takes its mutex";
	case RR_STOP_UNLOCK:
		return "gives its mutex back";
	case RR_STOP_SLEEP:
		return "has slept";
	case RR_STOP_CLOCK:
		return "reads its clock";
	default:
		return NULL;
	}
}

static bool happens_feeding(json_t *events, const struct rr_action *action)
{
	const int client = action->client;
	const char *own = own_step(action);
	bool good = true;

	if (own)
		good = add_happening(events, client, -1, "own", own, NULL);
	if (good && action->was_inside && (action->has_entered || !action->is_inside))
		good = add_happening(events, client, -1, "mark", "leaves the critical section",
				     NULL);
	if (good && action->has_entered)
		good = add_happening(events, client, -1, "mark", "enters the critical section",
				     NULL);
	if (good && action->n_counted)
		good = add_happening(events, client, -1, "mark", "counts its increment as done",
				     NULL);
	return good;
}

static bool happens_passing(json_t *events, int64_t ns)
{
	char text[60];

	snprintf(text, sizeof(text), "%.4g s pass", (double)(ns / MS_NS / 100) / 10);
	return add_happening(events, -1, -1, "time", text, NULL);
}

static bool add_action(const struct rr_told *told, json_t *events, const struct rr_action *action)
{
	switch ((enum rr_action_kind)action->kind) {
	case RR_ACTION_ASK:
		return happens_asking(told, events, action);
	case RR_ACTION_FEED:
		return happens_feeding(events, action);
	case RR_ACTION_CRASH:
		return add_happening(events, action->client, -1, "fault", "crashes", NULL);
	case RR_ACTION_ANSWER:
		return happens_unheard(told, events, action);
	case RR_ACTION_TIME:
		return happens_passing(events, action->ns);
	case RR_ACTION_DOWN:
		return add_happening(events, -1, action->server, "fault", "is down", NULL);
	case RR_ACTION_UP:
		return add_happening(events, -1, action->server, "fault", "is back, empty", NULL);
	}
	return false;
}

/* ---- What a move is called ---------------------------------------------------------- */

static const char *server_name(const struct rr_told *told, size_t server, char name[RR_SERVER_NAME])
{
	rr_recorder_server_name(name, "data", server);
	return told->explorer->program.n_servers > 1 ? name : "redis";
}

/* What a client does when it goes on with something that is no command. */
static const char *own_verb(const struct rr_told *told)
{
	static const char *const verbs[] = {
		[RR_STOP_SLEEP] = "sleep", [RR_STOP_WAIT] = "wait", [RR_STOP_LISTEN] = "wait",
		[RR_STOP_CLOCK] = "clock", [RR_STOP_LOCK] = "lock", [RR_STOP_UNLOCK] = "unlock",
		[RR_STOP_JOIN] = "join",   [RR_STOP_ENDED] = "end",
	};

	for (size_t i = 0; i < told->actions.n; i++) {
		const struct rr_action *action = &told->actions.all[i];
		const uint8_t kind = action->stop.kind;

		if (action->kind == RR_ACTION_FEED && kind < sizeof(verbs) / sizeof(verbs[0]) &&
		    verbs[kind])
			return verbs[kind];
	}
	return "go";
}

/* The command that a move consists of. */
static const struct rr_action *moved_command(const struct rr_told *told)
{
	for (size_t i = 0; i < told->actions.n; i++) {
		const struct rr_action *action = &told->actions.all[i];

		if (action->kind == RR_ACTION_ANSWER ||
		    (action->kind == RR_ACTION_ASK && action->question.kind == RR_ASK_COMMAND))
			return action;
	}
	return NULL;
}

static const char *command_verb(const struct rr_told *told, const struct rr_action *action)
{
	const struct rl_command *command =
		action ? &told->explorer->terms.command[action->command].words : NULL;

	if (!command)
		return "go";
	return is_script_call(command) ? "EVAL" : command->words[0].text;
}

/* "A:GET"; with several servers "A:GET@n1". */
static void command_cue(const struct rr_told *told, char who, const char *kind,
			char cue[RR_TOLD_CUE])
{
	const struct rr_action *action = moved_command(told);
	char name[RR_SERVER_NAME];

	snprintf(cue, RR_TOLD_CUE, "%s%c:%.30s", kind, who, command_verb(told, action));
	if (action && told->explorer->program.n_servers > 1) {
		const size_t used = strlen(cue);

		snprintf(cue + used, RR_TOLD_CUE - used, "@%s",
			 server_name(told, action->server, name));
	}
}

void rr_told_cue(const struct rr_told *told, struct rr_transition it, char cue[RR_TOLD_CUE])
{
	static const char *const kinds[] = {
		[RR_DO_BEGIN] = "begin:",     [RR_DO_LATE] = "late:",
		[RR_DO_NOTICE] = "notice:",   [RR_DO_RETURN] = "return:",
		[RR_DO_WAIT] = "wait",        [RR_DO_NEAR] = "near",
		[RR_DO_LOSE] = "lose-reply:", [RR_DO_DROP] = "drop:",
		[RR_DO_CRASH] = "crash:",     [RR_DO_RESTART] = "restart:",
		[RR_DO_JUMP] = "jump:",       [RR_DO_HALF] = "half",
		[RR_DO_WHOLE] = "whole",      [RR_DO_PAUSE_HALF] = "pause-half",
		[RR_DO_PAUSE] = "pause",
	};
	const char who = (char)('A' + it.who);
	char name[RR_SERVER_NAME];

	if (it.kind == RR_DO_EXECUTE)
		command_cue(told, who, "", cue);
	else if (it.kind == RR_DO_GO)
		snprintf(cue, RR_TOLD_CUE, "%c:%s", who, own_verb(told));
	else if (it.kind == RR_DO_RETURN || it.kind == RR_DO_RESTART || it.kind == RR_DO_JUMP)
		snprintf(cue, RR_TOLD_CUE, "%s%s", kinds[it.kind], server_name(told, it.who, name));
	else if (strchr(kinds[it.kind], ':'))
		snprintf(cue, RR_TOLD_CUE, "%s%c", kinds[it.kind], who);
	else
		snprintf(cue, RR_TOLD_CUE, "%s", kinds[it.kind]);
}

/* How long a move takes. */
static int64_t passed_ns(const struct rr_told *told)
{
	int64_t ns = 0;

	for (size_t i = 0; i < told->actions.n; i++)
		ns += told->actions.all[i].kind == RR_ACTION_TIME ? told->actions.all[i].ns : 0;
	return ns;
}

/* Does it end an attempt in vain, so that its client will sleep and begin another? */
static bool is_refusal(const struct rr_told *told, struct rr_transition it, uint32_t to)
{
	const struct rr_product *product = told->graph->product;
	const uint32_t *key = rr_graph_key(told->graph, to);
	bool counts = false;

	if (it.kind > RR_DO_BEGIN || rr_product_part(product, key, it.who)->is_crashed)
		return false;
	for (size_t i = 0; i < told->actions.n; i++)
		counts |= told->actions.all[i].n_counted > 0;
	return !counts && rr_product_client(product, key, it.who)->is_attempt;
}

/* The word for redrace play; "" = it has none for that. */
static void played_word(const struct rr_told *told, struct rr_transition it, const char *cue,
			char word[RR_TOLD_CUE])
{
	const int64_t ns = passed_ns(told);

	if (ns)
		snprintf(word, RR_TOLD_CUE, "tick:%" PRId64 "ms", (ns + MS_NS - 1) / MS_NS);
	else if (it.kind <= RR_DO_GO || it.kind == RR_DO_LOSE || it.kind == RR_DO_CRASH ||
		 it.kind == RR_DO_RESTART)
		snprintf(word, RR_TOLD_CUE, "%.*s", (int)strcspn(cue, "@"), cue);
	else
		word[0] = '\0';
}

/* What is said before it is done: "GET counter:0", "crashes", "10 s pass". */
static char *move_label(const struct rr_told *told, struct rr_transition it, json_t *events)
{
	const struct rr_action *command = moved_command(told);
	json_t *event = json_array_get(events, 0);
	const char *text = json_string_value(json_array_get(event, 3));

	if (it.kind == RR_DO_EXECUTE && command)
		return told_command(told, command->command);
	if (it.kind == RR_DO_LOSE)
		return strdup("its next reply is lost");
	return strdup(text ? text : "goes on");
}

/* Whose move it is; -1 = nobody's. */
static int mover(struct rr_transition it)
{
	return it.kind == RR_DO_EXECUTE || it.kind == RR_DO_GO || it.kind == RR_DO_BEGIN ||
			       it.kind == RR_DO_LOSE || it.kind == RR_DO_DROP ||
			       it.kind == RR_DO_CRASH ?
		       it.who :
		       -1;
}

/* The server that its first event is about; -1 = none. */
static int moved_server(const json_t *events, const struct rr_action *command)
{
	if (command)
		return command->server;
	return (int)json_integer_value(json_array_get(json_array_get(events, 0), 1));
}

json_t *rr_told_move(const struct rr_told *told, struct rr_transition it, const char *cue,
		     uint32_t to)
{
	json_t *events = json_array(), *move = NULL;
	char word[RR_TOLD_CUE], *label = NULL;
	bool good = events != NULL;

	for (size_t i = 0; i < told->actions.n && good; i++)
		good = add_action(told, events, &told->actions.all[i]);
	played_word(told, it, cue, word);
	if (good)
		label = move_label(told, it, events);
	if (label)
		move = json_pack("{s:s, s:s, s:s, s:i, s:i, s:b, s:b, s:O}", "cue", cue, "play",
				 word, "label", label, "who", mover(it), "server",
				 moved_server(events, moved_command(told)), "fault",
				 rr_transition_is_fault(it), "refused", is_refusal(told, it, to),
				 "events", events);
	free(label);
	json_decref(events);
	return move;
}
