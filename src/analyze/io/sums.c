#include "analyze/io/sums.h"

#include <stdlib.h>
#include <xxhash.h>

#include "base/alloc.h"
#include "base/sort.h"
#include "model/io/system_calls.h"

void cn_io_sums_init(struct cn_io_sums *sums, const struct cn_io_calls *calls,
                     const struct cn_wait_sites *sites, unsigned parts,
                     enum cn_io_class class)
{
    *sums = (struct cn_io_sums){
        .calls = calls,
        .sites = sites,
        .parts = parts,
        .class = class,
        .all.context = CN_NONE,
        .is_used = cn_alloc(calls->target_count + 1, sizeof(*sums->is_used)),
    };
}

void cn_io_sums_done(struct cn_io_sums *sums)
{
    free(sums->list);
    free(sums->is_used);
    cn_map_done(&sums->row_of);
    *sums = (struct cn_io_sums){0};
}

static void add_to(struct cn_io_row *row, const struct cn_io_call *call)
{
    uint64_t time_ns = call->end_ns != 0 ? call->end_ns - call->begin_ns : 0;
    uint64_t count = cn_io_call_count(call);

    row->count += count;
    row->major_count += cn_system_call(call->call)->kind == CN_IO_MAJOR_FAULT ? count : 0;
    row->unended_count += call->end_ns == 0;
    row->failed_count += call->end_ns != 0 && call->result < 0;
    row->time_ns += time_ns;
    row->read += cn_io_call_read(call);
    row->written += cn_io_call_written(call);
    if (row->context != CN_NONE && time_ns <= row->longest_ns)
        return;
    row->longest_ns = time_ns;
    row->longest_at_ns = call->begin_ns;
    row->context = call->context;
}

void cn_io_sums_add(struct cn_io_sums *sums, const struct cn_io_call *call)
{
    struct cn_io_row row = {
        .target = sums->parts & CN_IO_BY_TARGET ? call->target : CN_NONE,
        .call = sums->parts & CN_IO_BY_CALL ? call->call : CN_SYSTEM_CALL_NONE,
        .site = {CN_NONE, CN_NONE},
        .context = CN_NONE,
    };
    uint32_t key[4], *at;

    if (cn_io_call_class(call) != sums->class) {
        sums->left_out[cn_io_call_class(call)] += cn_io_call_count(call);
        return;
    }
    sums->sample_count++;
    if (sums->parts & CN_IO_BY_SITE)
        row.site = cn_wait_site_of(sums->sites, call->caller);
    key[0] = row.target;
    key[1] = row.call;
    key[2] = row.site.own;
    key[3] = row.site.call;
    at = cn_map_at(&sums->row_of, XXH3_64bits(key, sizeof(key)), (uint32_t)sums->count);
    if (*at == sums->count) {
        CN_PUSH(sums->list, sums->count, sums->capacity, row);
    }
    add_to(&sums->list[*at], call);
    add_to(&sums->all, call);
    if (call->target >= sums->calls->target_count)
        return;
    sums->target_count += !sums->is_used[call->target];
    sums->is_used[call->target] = 1;
}

void cn_io_sums_finish(struct cn_io_sums *sums)
{
    CN_SORT(sums->list, sums->count, CN_DOWN(struct cn_io_row, time_ns),
            CN_DOWN(struct cn_io_row, count), CN_UP(struct cn_io_row, longest_at_ns),
            CN_UP(struct cn_io_row, context));
}

uint64_t cn_io_row_weight(const struct cn_io_sums *sums, const struct cn_io_row *row)
{
    return sums->class == CN_IO_FAULTS ? row->count : row->time_ns;
}
