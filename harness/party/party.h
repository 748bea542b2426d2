/* SPDX-License-Identifier: MIT */
/*
 * Programs and apps as the clients of a check: each run of one is an instance, which is begun, fed
 * with what it waits for, looked at, and ended. Below it are the process with its clock, random
 * values, files and connections (process.h), its requests (requests.h), what it says when it ends
 * (endings.h), or what an app answers (answers.h).
 *
 * Nothing is known here of tables, searches or other clients.
 */
#ifndef RR_PARTY_H
#define RR_PARTY_H

#include "answers.h"
#include "endings.h"
#include "instance.h"
#include "names.h"
#include "opened.h"
#include "requests.h"
#include "variables.h"
#include "varying.h"

#endif
