/* SPDX-License-Identifier: Apache-2.0 */
/** A made-up history in a line: commit 0 is good, 1 to n are candidates, n is bad. */
#ifndef SEARCH_HISTORY_H
#define SEARCH_HISTORY_H

#include "model/revision.h"

struct range *history_line(uint32_t n_commits);

#endif
