/* Parts of cairn gate: recording both sides, and printing the verdicts.
 * Threads: one thread at a time.
 */
#ifndef CN_CLI_GATE_GATE_H
#define CN_CLI_GATE_GATE_H

#include "analyze/compare/rules.h"
#include "cli/diff/sides.h"

/* Recordings made for a comparison, in a temporary folder. */
struct cn_gate_recordings {
    char *folder;
    const char **paths[CN_SIDES];
    size_t count;
};

/* Record `count` runs of each side, in turn: A, B, A, B, ... The programs are those of the
 * operands, separated by --; a single one is both sides, and sees CAIRN_SIDE=base or new.
 * Operands before the first -- are runs of the base, of which only the new side is recorded.
 * Release in any case. */
CN_CHECK bool cn_gate_record(struct cn_gate_recordings *out, const struct cn_args *args,
                             size_t count, struct cn_sides *sides, struct cn_error *err);
void cn_gate_recordings_done(struct cn_gate_recordings *recordings);

struct cn_gate_report {
    const struct cn_comparison *c;
    const struct cn_rule *rules;
    const struct cn_rule_result *results;
    size_t count, broken_count;
};

/* As --format says. */
void cn_gate_print(const struct cn_gate_report *report, const struct cn_args *args);

#endif
