/* .hpcrun files with any contents, made byte by byte from the field tables.
 * Threads: any thread.
 */
#ifndef CN_TEST_MADE_RUN_H
#define CN_TEST_MADE_RUN_H

#include "base/text.h"
#include "formats/hpctoolkit/meas/format.h"

struct cn_made_metric {
    const char *name, *formula;
    uint8_t format; /* CN_HPC_VALUES_* */
    bool is_moved;
    uint64_t period;
};

struct cn_made_id {
    uint16_t kind, numbering;
    uint64_t physical, logical;
};

struct cn_made_value {
    uint32_t node; /* values of one node follow each other */
    uint16_t metric;
    double value;
};

struct cn_made_run {
    const char *program;
    const char *const *modules; /* their ids count from 1 */
    size_t module_count;
    const struct cn_hpc_run_node *nodes;
    size_t node_count;
    const struct cn_made_metric *metrics;
    size_t metric_count;
    const char *const *kinds;
    size_t kind_count;
    const struct cn_made_id *ids;
    size_t id_count;
    const struct cn_made_value *values;
    size_t value_count;
};

/* Append the file to `to`. */
void cn_made_run_add(const struct cn_made_run *run, struct cn_text *to);

/* Big-endian numbers, for data without such a table. */
void cn_put_u32_be(struct cn_text *to, uint32_t value);
void cn_put_u64_be(struct cn_text *to, uint64_t value);

#endif
