/* SPDX-License-Identifier: MIT */
/*
 * A client, alone with us: it is begun, fed with what it waits for, looked at, and ended
 * (client_run.h). A strategy runs in fibers (fiber.h, counting.h; attempt.h is also the hot loop of
 * bench). Of a program or an app each run is an instance (instance.h); below it are the process with its clock, random
 * values, files and connections (process.h), its requests (requests.h), and what it says when it
 * ends, or answers as an app (endings.h).
 *
 * Nothing is known here of tables, searches or other clients.
 */
#ifndef RR_PARTY_H
#define RR_PARTY_H

#include "attempt.h"
#include "client_run.h"
#include "counting.h"
#include "endings.h"
#include "fresh.h"
#include "instance.h"
#include "names.h"
#include "opened.h"
#include "redis_at.h"
#include "requests.h"
#include "touched.h"
#include "variables.h"

#endif
