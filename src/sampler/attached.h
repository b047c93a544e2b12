/* Samples what running processes allocate, without a library inside of them: by probes at the functions of
 * their allocators.
 *
 *     cn_attached_open(&attached, kernel, options, &err);
 *     cn_attached_watch(&attached, now_ns);
 *     cn_attached_close(&attached);
 *
 * The records come through the rings: cn_attached_slot() and cn_attached_release() make of them what a library
 * inside would have left. A process stops for a moment at each probe, so that its cost is measured before, and
 * the sampling ends when it is too high.
 * Threads: one thread at a time.
 */
#ifndef CN_SAMPLER_ATTACHED_H
#define CN_SAMPLER_ATTACHED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/bytes.h"
#include "base/error.h"

struct cn_inside_release;
struct cn_inside_slot;
struct cn_kernel;
struct cn_kernel_allocations_probes;
struct cn_sample_options;

struct cn_attached {
    struct cn_kernel_allocations_probes *probes; /* NULL: none */
    double probe_ns;                             /* what a probe costs */
    double share_max;                            /* of a processor's time */
    uint64_t begin_ns, looked_ns;
    uint64_t looked_count; /* of probes, at looked_ns */
    uint64_t own_count;    /* of probes of this process */
    uint64_t ended_ns;     /* when they cost too much; 0: they did not */
    double ended_share;
};

/* Put probes into the processes of the options. `err` says why it is not possible. */
CN_CHECK bool cn_attached_open(struct cn_attached *attached, struct cn_kernel *kernel,
                               const struct cn_sample_options *options,
                               struct cn_error *err);

/* Take the probes out if they cost too much; call it now and then. */
void cn_attached_watch(struct cn_attached *attached, uint64_t now_ns);

/* How often probes were reached, and how many records had no room. */
void cn_attached_count(const struct cn_attached *attached, uint64_t *probe_count,
                       uint64_t *lost_count);
/* Take the probes out. */
void cn_attached_detach(struct cn_attached *attached);
void cn_attached_close(struct cn_attached *attached);

/* False if the record is not one of allocations_shared.h. */
bool cn_attached_slot(struct cn_bytes record, struct cn_inside_slot *out);
bool cn_attached_release(struct cn_bytes record, struct cn_inside_release *out);

#endif
