/* SPDX-License-Identifier: Apache-2.0 */
/**
 * How often stated confidences were right: the newest verdicts by what they state, with what their
 * checks and replays gave. Only what is stored now counts: a check of what a verdict stated before
 * it was changed does not.
 *
 * {"verdicts", "covered", "unreadable", "share", "bins": [{"name", "from", "to", "stated", "mean",
 *  "checked", "right", "wrong", "undecided", "fraction", "interval", "replayed", "differ"}],
 *  "total": the same without from and to, "checks": {"waiting", "measuring"},
 *  "wrong": [{"id", "claim", "culprit", "subject", "probability", "reason", "comparison", "base",
 *  "differs"}], "differ": [{"id", "stated", "says"}]}
 */
#ifndef APP_SCORECARD_H
#define APP_SCORECARD_H

#include "base/json.h"
#include "config/config.h"
#include "store/store.h"

/** Caller frees. */
MUST_CHECK enum err_code scorecard_new(struct store *s, const struct calibration_config *config,
                                       json **out, struct err *e);

#endif
