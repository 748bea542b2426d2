/* SPDX-License-Identifier: MIT */
/*
 * What a client does after what it has received. That is a table (client_table.h), learned from
 * runs of the client alone: of a strategy in fibers, or of programs (programs.h). Which of its
 * histories are one state is a hypothesis that is tested (learning.h); what else is assumed of it
 * can be withdrawn (beliefs.h).
 *
 * Nothing is known here of servers, other clients, or searches.
 */
#ifndef RR_CLIENT_H
#define RR_CLIENT_H

#include "beliefs.h"
#include "client_table.h"
#include "learning.h"
#include "program_run.h"
#include "programs.h"

#endif
