/* SPDX-License-Identifier: MIT */
/* Pages: one file each, without a network. */
#ifndef RR_REPORT_H
#define RR_REPORT_H

#include "game.h"

#endif
