/* SPDX-License-Identifier: MIT */
/*
 * Real servers that are asked: one question after the other (asker.h), several servers with their
 * clocks (servers.h), and which scripts they know (scripts.h).
 */
#ifndef RR_SERVER_SERVER_H
#define RR_SERVER_SERVER_H

#include "asker.h"
#include "scripts.h"
#include "servers.h"

#endif
