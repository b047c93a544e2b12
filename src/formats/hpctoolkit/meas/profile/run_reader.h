/* The sections of a .hpcrun file, and the entries of its lists.
 *
 * cn_hpc_run_open() finds the sections; each list is then read entry by entry:
 *     rest = run.modules_list;
 *     while ((step = cn_hpc_run_module_next(&rest, &module, err)) == CN_ITEM) ...
 * Everything borrows the file's bytes.
 * Threads: any thread.
 */
#ifndef CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_RUN_READER_H
#define CN_FORMATS_HPCTOOLKIT_MEAS_PROFILE_RUN_READER_H

#include "base/error.h"
#include "formats/hpctoolkit/meas/format.h"
#include "model/step.h"

struct cn_hpc_run {
    struct cn_bytes file;
    struct cn_hpc_run_footer footer;
    struct cn_bytes header_list, modules_list, metrics_list, kinds_list;
    struct cn_bytes nodes; /* records */
    uint64_t node_count;
    struct cn_bytes ids, values, value_index; /* records */
    uint16_t id_count;
    uint64_t value_count;
    uint32_t valued_count; /* nodes with values; the index has one more entry */
};

struct cn_hpc_run_pair {
    struct cn_bytes name, value;
};

struct cn_hpc_run_module_entry {
    struct cn_bytes path;
    uint16_t id;
};

struct cn_hpc_run_metric_entry {
    struct cn_bytes name, description, formula, format;
    struct cn_bytes record; /* cn_hpc_run_metric */
    uint8_t value_format, show;
    bool is_moved, shows_percent;
    uint64_t period;
};

struct cn_hpc_run_kind {
    struct cn_bytes name;
    uint16_t id;
};

/* True for a .hpcrun file of any version. */
bool cn_hpc_run_is(struct cn_bytes file);

/* Check version, footer and the sizes of all sections. */
CN_CHECK bool cn_hpc_run_open(struct cn_bytes file, struct cn_hpc_run *out,
                              struct cn_error *err);

CN_CHECK enum cn_step cn_hpc_run_pair_next(struct cn_bytes *rest,
                                           struct cn_hpc_run_pair *out,
                                           struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_run_module_next(struct cn_bytes *rest,
                                             struct cn_hpc_run_module_entry *out,
                                             struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_run_metric_next(struct cn_bytes *rest,
                                             struct cn_hpc_run_metric_entry *out,
                                             struct cn_error *err);
CN_CHECK enum cn_step cn_hpc_run_kind_next(struct cn_bytes *rest,
                                           struct cn_hpc_run_kind *out,
                                           struct cn_error *err);

/* Take a string, its length and its bytes, off the front of `rest`. */
CN_CHECK bool cn_hpc_take_string(struct cn_bytes *rest, struct cn_bytes *out);

/* The flags and the whole records of a .hpctrace file; `*stray_len` bytes follow them. */
CN_CHECK bool cn_hpc_trace_file_open(struct cn_bytes file, uint64_t *flags,
                                     struct cn_bytes *records, size_t *stray_len,
                                     struct cn_error *err);

#endif
