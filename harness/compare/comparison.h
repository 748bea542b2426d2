/* SPDX-License-Identifier: MIT */
/*
 * What ends are compared by: programs that say whether they have printed the same, and what the
 * user asks for.
 */
#ifndef RR_COMPARISON_H
#define RR_COMPARISON_H

#include "base/error.h"
#include "scheduler/scheduler.h"

struct rr_programs;
struct rr_client_place;

/* How the outputs of two ends are compared. */
enum rr_likeness {
	RR_LIKE_PLAIN,    /* as they are */
	RR_LIKE_THOROUGH, /* but for what another run with the same replies prints otherwise, and
			   * what says only how long a client has waited: clients are run for that */
	RR_LIKE_BUT_TIMES /* and but for times of day */
};

/* What is left out, as bits, when what is believed of programs is verified. */
enum rr_left_out {
	RR_LEAVE_HISTORIES = 1, /* that are the same: what was found is played, or nothing is
				 * said of others */
	RR_LEAVE_NAMES = 2      /* of equal clients: they play what was found, or nothing is
				 * judged yet */
};

/* What is played for real. */
enum rr_play {
	RR_PLAY_NOTHING,
	RR_PLAY_PATHS,   /* at random, of which there are many */
	RR_PLAY_FINDING, /* by all clients */
	RR_PLAY_ORDER    /* a serial one, which nothing new is played for */
};

/* Programs of others, as a search and the comparison of its ends need them (check/programs.h). */
struct rr_explored_programs {
	void (*init)(struct rr_programs *programs, struct rr_program *program);
	/* Before each search: what was learned of them counts from now on. `withdrawn`: by the search
	 * before it, see rr_beliefs_begin(). */
	bool (*begin_search)(struct rr_programs *programs, unsigned withdrawn);
	/* Behind each. `left_out`: enum rr_left_out. */
	enum rr_going (*verify)(struct rr_programs *programs, unsigned left_out,
				struct rr_error *error);
	/* Looks, last place first, whether what is sent there is random: of what is to be played. */
	enum rr_going (*verify_places)(struct rr_programs *programs,
				       const struct rr_client_place *places, size_t n,
				       struct rr_error *error);
	/* Before paths are played at random: after how many rounds a client has to leave a loop in
	 * the next one; 0 = it need not. After them: tries what was not tried by that. */
	int (*next_rounds)(const struct rr_programs *programs);
	enum rr_going (*verify_rounds)(struct rr_programs *programs, struct rr_error *error);
	/* There is no end to what they do: from now on the time of day stands still while they wait.
	 * False: that would change nothing. */
	bool (*hold_day)(struct rr_programs *programs);
	/* That came to nothing: what was found out before stands. */
	void (*take_back)(struct rr_programs *programs);
	/* What is played now is played by real processes, and not by what is known of them. */
	void (*set_live)(struct rr_programs *programs, enum rr_play play);
	/* Is a search judged that has not come to its end? */
	void (*set_unfinished)(struct rr_programs *programs, bool is_unfinished);
	/* Renames a client's random values that only the second reply has to those that only
	 * the first has, if they may be the same ones. */
	void (*pair_values)(struct rr_programs *programs, size_t client, const struct rdl_reply *a,
			    const struct rdl_reply *b, struct rr_renaming *renaming);
	/* Gives a client's random values names that are the same in each check, as far as they are
	 * other ones in each. NULL: none is. */
	void (*name_values)(const struct rr_programs *programs, size_t client,
			    struct rr_renaming *renaming);
	/* That ending of an operation with its client's own random values, and with these names. */
	long (*named_ending)(struct rr_programs *programs, size_t operation, long ending);
	/* May times of day be compared as any other number? Not if time has passed in the search, or
	 * if a client has read the time of day after it had waited. NULL: they may not. */
	bool (*compare_times)(struct rr_programs *programs, bool has_passed);
	/* In a serial order a client ends with that tally. */
	void (*note_serial)(struct rr_programs *programs, long ending);
	/* In a serial order a client goes from one state of its table to another. A server has
	 * changed its data, and given that reply to a command. Both show when a client waits. */
	void (*note_step)(struct rr_programs *programs, size_t client, uint32_t from, uint32_t to);
	void (*note_change)(struct rr_programs *programs, uint32_t command, uint32_t reply);
	/* Is that what a server answers between two clients of a serial order? */
	void (*set_answers)(struct rr_programs *programs,
			    bool (*answers)(void *context, uint32_t command, uint32_t reply),
			    void *context);
	/* Has a client that has ended in a state of its table ended as one with that tally
	 * did? */
	bool (*end_alike)(struct rr_programs *programs, size_t client, uint32_t state, long ending,
			  enum rr_likeness likeness);
	/* An operation that has not ended well: is that a failure, and no refusal? So it is after a
	 * signal, and after the client has changed data (`is_strict`: in any case), unless the
	 * user has declared it. */
	bool (*fails)(struct rr_programs *programs, size_t operation, uint32_t state, long ending,
		      bool is_strict);
	/* Have both exited, or been answered, with the same status? */
	bool (*have_same_status)(struct rr_programs *programs, long a, long b);
	/* That ending of an operation with its client's own random values in what it has
	 * printed. */
	long (*own_ending)(struct rr_programs *programs, size_t operation, long ending);
	/* Of an app: what a request is, in a few words, or its answer; malloc'd. `ending` -1: it
	 * is the request. */
	char *(*describe_request)(struct rr_programs *programs, size_t request, long ending);
	/* Of the checker: how it ended, in a line of words. */
	void (*describe)(struct rr_programs *checker, long ending, FILE *out);
	struct rr_programs *programs;
};

/* What the user expects of final data: a command, and the reply to it. */
struct rr_expected {
	const struct rdl_command *asked;
	const char *value; /* as redis-cli prints it, or bare */
};

/* When the successor of a crashed client runs: at once, or when whatever the dead one has left may
 * be called old. */
enum rr_successor { RR_SUCCESSOR_NOW, RR_SUCCESSOR_LATER, RR_SUCCESSORS };
#define RR_SUCCESSOR_LATER_NS (INT64_C(86400) * 1000000000)

/* What is compared, and how. */
struct rr_comparison {
	bool is_partial;     /* serial executions may have the faults of what is judged */
	bool strict_exits;   /* no client may fail that fails in no serial order */
	bool restarts;       /* a client that crashed is run once more, and its work counts once, */
	bool allows_repeats; /* or twice */
	/* Of programs that may crash: the same ones, at once and long afterwards. */
	struct rr_explored_programs successors[RR_SUCCESSORS];
	/* Looks at final data, and fails if they are wrong; `init` NULL = there is none. */
	struct rr_explored_programs checker;
	const char *const *ignored; /* patterns of keys that are not compared */
	size_t n_ignored;
	const struct rr_expected *expected; /* of the data, if all end well */
	size_t n_expected;
	/* Faults that tests plant: differences from all serial orders that are excused. */
	enum { RR_PLANT_EXCUSED_DATA = 1, RR_PLANT_EXCUSED_OUTPUTS = 2 } plants;
};

#endif
