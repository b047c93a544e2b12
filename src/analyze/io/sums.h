/* System calls about files and sockets added up: by file or peer, by call, and by where they were made; or
 * requests of disks, or page faults.
 *
 *     cn_io_sums_init(&sums, db->io, &sites, parts, class);
 *     cn_io_sums_add(&sums, call);                 each call of a range or thread
 *     cn_io_sums_finish(&sums);
 *     ... sums.list[i], sums.all, sums.left_out[class] ...
 *     cn_io_sums_done(&sums);
 *
 * The counts, times and bytes of all rows add up to those of `all`. Borrows the calls and the sites.
 * Threads: one thread at a time.
 */
#ifndef CN_ANALYZE_IO_SUMS_H
#define CN_ANALYZE_IO_SUMS_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/wakers/sites.h"
#include "base/map.h"
#include "model/io/calls.h"

/* What rows differ in. */
enum { CN_IO_BY_TARGET = 1, CN_IO_BY_CALL = 2, CN_IO_BY_SITE = 4 };

struct cn_io_row {
    uint32_t target;          /* CN_NONE: none, or of several */
    uint16_t call;            /* CN_SYSTEM_CALL_NONE: of several */
    struct cn_wait_site site; /* that made the calls; of CN_NONE: of several */
    uint64_t count, failed_count, unended_count, major_count;
    uint64_t time_ns, read, written;
    uint64_t longest_ns, longest_at_ns;
    uint32_t context; /* of the longest one; CN_NONE: there is none yet */
};

struct cn_io_sums {
    const struct cn_io_calls *calls;
    const struct cn_wait_sites *sites;
    unsigned parts;
    enum cn_io_class class; /* that is added up */
    uint64_t left_out[CN_IO_CLASS_COUNT];
    uint64_t sample_count; /* calls, or samples of page faults, that `all` is of */
    struct cn_io_row all;
    struct cn_io_row *list;
    size_t count, capacity;
    struct cn_map row_of;
    uint8_t *is_used; /* by target */
    size_t target_count;
};

void cn_io_sums_init(struct cn_io_sums *sums, const struct cn_io_calls *calls,
                     const struct cn_wait_sites *sites, unsigned parts,
                     enum cn_io_class class);
void cn_io_sums_done(struct cn_io_sums *sums); /* a zeroed one is fine */

/* One of another class is only counted. */
void cn_io_sums_add(struct cn_io_sums *sums, const struct cn_io_call *call);

/* Put the rows in order, those with the most time first, or the most page faults. */
void cn_io_sums_finish(struct cn_io_sums *sums);

/* What rows are in order by, and shares are of: nanoseconds, or page faults, which take no time of their own. */
uint64_t cn_io_row_weight(const struct cn_io_sums *sums, const struct cn_io_row *row);

#endif
