/* SPDX-License-Identifier: MIT */
/*
 * Judges the final states of programs: are the data, and the outputs, those of a serial order of
 * the clients? Are they what the user expects (rr_comparison)?
 */
#ifndef RR_JUDGE_H
#define RR_JUDGE_H

#include "contents.h"
#include "serial.h"

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
	const char *const *ignored; /* patterns of what is not compared, see rr_ignored_field() */
	size_t n_ignored;
	const struct rr_expected *expected; /* of the data, if all end well */
	size_t n_expected;
	/* Faults that tests plant: differences from all serial orders that are excused. */
	enum { RR_PLANT_EXCUSED_DATA = 1, RR_PLANT_EXCUSED_OUTPUTS = 2 } plants;
};

/* What was found of programs, as bits. */
enum {
	RR_OUTCOME_NOT_SERIAL = 1, /* final data that no serial order gives */
	RR_OUTCOME_EXCLUSION = 2,  /* two clients are in marked critical sections */
	RR_OUTCOME_STUCK = 4,      /* a state from which not all can end */
	RR_OUTCOME_UNEXPECTED = 8, /* final data are not as expected */
	RR_OUTCOME_OUTPUTS = 16,   /* outputs that no serial order gives */
	RR_OUTCOME_OWNERSHIP = 32  /* a client changes the lock that another one holds */
};

/* Why ends are those of no serial execution, as far as there is a name for it. */
enum rr_anomaly {
	RR_ANOMALY_NONE,
	RR_ANOMALY_LOST_UPDATE,
	RR_ANOMALY_RESURRECTED_DELETE,
	RR_ANOMALY_CHECK_THEN_ACT,
	RR_ANOMALY_WRITE_SKEW,
	RR_ANOMALY_STALE_READ,
	RR_ANOMALY_LEFT_WITHOUT_LEASE,
	RR_ANOMALY_HALF_DONE,
	RR_ANOMALY_TAKEN_AND_NOT_DONE,
	RR_ANOMALY_DONE_TWICE,
	RR_ANOMALIES
};

/* Its identifier, by which programs know it and which stays the same, "lost_update"; and its name
 * for readers, "lost update". NULL = it has none. */
const char *rr_anomaly_id(enum rr_anomaly anomaly);
const char *rr_anomaly_name(enum rr_anomaly anomaly);

/* What is judged, by what and until when. */
struct rr_judge_setup {
	struct rr_product *product;
	const struct rr_explored_programs *programs;
	const struct rr_comparison *comparison;
	struct rr_deadline *deadline;
	/* Registers of those that run alone, from one search to the next. */
	struct rr_beliefs *of_checker, *of_successors; /* RR_SUCCESSORS of these */
};

struct rr_judge {
	struct rr_judge_setup setup;
	struct rr_serial serial;
	struct rr_serial partial; /* with faults, see rr_serial_allows_endings() */
	struct rr_serial later;   /* in which clients begin at these times, too */
	struct rr_beginnings beginnings;
	struct rr_contents contents;
	/* Programs like the clients that run alone with the server: the user's command, which looks
	 * at final data, and successors of clients that have crashed. */
	struct rr_alone {
		struct rr_program program;
		struct rr_product product;
		bool is_open;
	} checker, successors[RR_SUCCESSORS];
	struct rr_upkeep upkeep;                 /* of the serial executions */
	struct rr_intern repeats[RR_SUCCESSORS]; /* what clients leave that ran twice: an operation,
						  * a number of terms' replies */
	bool has_repeats[RR_SUCCESSORS];
	struct rr_intern checked; /* states of the server that it has looked at */
	int32_t *said;            /* how it ended, by their numbers; 0 = well */
	uint32_t moved_outputs; /* of operations, as bits: they were compared but for times of day */
	struct rr_error error;
};

struct rr_judgement {
	unsigned found;    /* RR_OUTCOME_NOT_SERIAL, _OUTPUTS, _UNEXPECTED */
	uint32_t failures; /* of struct rr_serial_verdict */
	bool is_untimely;  /* of struct rr_serial_verdict */
	/* Of what is wrong after a crash: which anomaly, and the state that the successor leaves. */
	enum rr_anomaly anomaly; /* none: nothing is, or it is no crash that is to blame */
	uint32_t successor;      /* RR_NO_ID = none has run */
};

/* Learns all serial orders of the programs, up to `most` states, 0 = none: then data are not compared
 * with them. Clients and the checker have their program in common. The setup is copied. False:
 * judge->error. */
bool rr_judge_init(struct rr_judge *judge, const struct rr_judge_setup *setup, unsigned long most);
void rr_judge_release(struct rr_judge *judge);

/* False: judge->error, or it has taken too long (rr_deadline_is_late()) and that is INTERRUPTED. */
bool rr_judge_final(struct rr_judge *judge, const uint32_t *key, struct rr_judgement *judgement);

/* Is a final state that of a serial order in which clients begin later, at the times at which they
 * have done something on a way to it? *is. `beginnings`: these, which the judge takes. False: as
 * above. */
bool rr_judge_later(struct rr_judge *judge, const uint32_t *key, struct rr_beginnings *beginnings,
		    bool *is);

/* The next step of a client that no other one interrupts, and no fault; NULL = there is none, or
 * product->error. */
const struct rr_edge *rr_judge_step_alone(struct rr_product *product, const uint32_t *key,
					  size_t client);

/* The serial end that is nearest to a final state, see rr_serial_nearest(). */
uint32_t rr_judge_nearest(struct rr_judge *judge, const uint32_t *key);

/* Do two final states hold the same data, and, where outputs are what is wrong, have clients
 * ended in the same ways? */
bool rr_judge_are_alike(struct rr_judge *judge, const uint32_t *a, const uint32_t *b);

/* What is wrong already when the clients run one after the other, without a fault, a sentence
 * each: a client alone can end in several ways; the data are not as expected. malloc'd,
 * NULL = nothing. */
char *rr_judge_serial_orders(struct rr_judge *judge);

/* What is not as expected in a final state, a line each; malloc'd, NULL = nothing. */
char *rr_judge_unexpected(struct rr_judge *judge, const uint32_t *key);

#endif
