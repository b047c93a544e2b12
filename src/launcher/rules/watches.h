/* Watch points and signals with actions: --watch and --signal.
 * Threads: one thread at a time.
 */
#ifndef CN_LAUNCHER_RULES_WATCHES_H
#define CN_LAUNCHER_RULES_WATCHES_H

#include <stdint.h>

#include "base/error.h"
#include "record/shared.h"

struct cn_watches {
    bool has_cpu;
    const char *variables[CN_REC_WATCH_MAX]; /* names; borrowed */
    uint32_t variable_count;
    uint8_t signals[CN_REC_SIGNAL_COUNT]; /* CN_REC_SIGNAL_* */
};

/* Add "cpu" or "var:NAME". */
CN_CHECK bool cn_watches_add(struct cn_watches *watches, const char *text,
                             struct cn_error *err);

/* Add "SIGUSR1@trace_on", "12@finish". */
CN_CHECK bool cn_watches_add_signal(struct cn_watches *watches, const char *text,
                                    struct cn_error *err);

/* Store them for the recorder; fails when the program has no such variable. */
CN_CHECK bool cn_watches_store(const struct cn_watches *watches, const char *program,
                               struct cn_rec_shared *head, struct cn_error *err);

#endif
