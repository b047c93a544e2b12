#include "formats/hpctoolkit/values/cct_blocks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/bytes.h"
#include "base/files/out.h"
#include "base/search.h"
#include "formats/hpctoolkit/span.h"
#include "model/format.h"

struct cct_worker {
    uint8_t *bytes; /* blocks */
    size_t len, capacity;
    struct cn_hpc_cct_block *records; /* of the range's contexts, offsets relative */
    uint8_t *encoded;                 /* records */
    size_t record_capacity;
    uint32_t first, next; /* contexts: the first of the range, the next to be added */
    uint64_t off;         /* of the blocks in the file */
};

struct cct_writer {
    const struct cn_hpc_value_job *job;
    const struct cn_hpc_cct_encoding *encoding;
    struct cn_out *out;
    uint64_t records_off, blocks_off;
    struct cct_worker *workers;
    const struct cn_cells *cells; /* NULL: offsets are not known before values */
    uint64_t *offs;               /* of blocks, by context; and the end */
};

static bool begin(void *arg, unsigned worker, const struct cn_context_range *range,
                  struct cn_error *err)
{
    struct cct_writer *c = arg;
    struct cct_worker *self = &c->workers[worker];
    size_t count = (size_t)range->last - range->first + 1;

    (void)err;
    if (self->record_capacity < count) {
        self->record_capacity = count;
        self->records = cn_realloc(self->records, count, sizeof(*self->records));
        self->encoded = cn_realloc(self->encoded, count, c->encoding->record_len);
    }
    self->len = 0;
    self->first = range->first;
    self->next = range->first;
    if (c->cells) {
        self->off = c->offs[range->first];
        self->len = (size_t)(c->offs[(size_t)range->last + 1] - self->off);
        /* Room for one byte more: a range without values has a buffer as well. */
        self->bytes = cn_renew(self->bytes, self->len + 1, &self->capacity, 1);
    }
    return true;
}

/* Choose the offsets of all blocks. */
static bool lay_out(void *arg, const struct cn_cells *cells, struct cn_error *err)
{
    struct cct_writer *c = arg;
    const struct cn_hpc_cct_encoding *encoding = c->encoding;
    uint32_t limit = c->job->db->context_limit;
    uint64_t off = c->out->end_off;
    size_t at = 0;

    c->cells = cells;
    c->offs = cn_alloc((size_t)limit + 1, sizeof(*c->offs));
    for (uint32_t i = 0; i < limit; i++) {
        uint64_t len = 0;

        c->offs[i] = off;
        for (; at < cells->count && cells->list[at].context == i; at++)
            len += encoding->index_len +
                   (uint64_t)cells->list[at].count * encoding->value_len;
        off += cn_align_up(len, encoding->align);
    }
    c->offs[limit] = off;
    if (!c->job->rank || c->job->rank->number == 0)
        cn_out_expect(c->out, off);
    return cn_out_reserve(c->out, off - c->out->end_off, &off, err);
}

static void put_values(void *arg, unsigned worker, const struct cn_placed_value *values,
                       size_t count)
{
    struct cct_writer *c = arg;
    struct cct_worker *self = &c->workers[worker];

    c->encoding->values(values, count, c->offs, self->off, self->bytes);
}

static bool is_before(const void *cells, uint64_t at, uint64_t context)
{
    return ((const struct cn_cells *)cells)->list[at].context < context;
}

static size_t first_cell_of(const struct cn_cells *cells, uint32_t context)
{
    return (size_t)cn_search(0, cells->count, is_before, cells, context);
}

/* Add indices and records to the values of a range; offsets are relative. */
static void complete_blocks(const struct cct_writer *c, struct cct_worker *self,
                            uint32_t last)
{
    const struct cn_hpc_cct_encoding *encoding = c->encoding;
    const struct cn_cell *cell = c->cells->list + first_cell_of(c->cells, self->first);
    const struct cn_cell *end = c->cells->list + c->cells->count;

    for (; self->next <= last; self->next++) {
        uint64_t start = c->offs[self->next] - self->off;
        struct cn_hpc_cct_block block = {.context = self->next, .values_off = start};
        const struct cn_cell *first = cell;
        uint8_t *at;

        for (; cell < end && cell->context == self->next; cell++)
            block.value_count += cell->count;
        block.metric_count = (uint16_t)(cell - first);
        block.index_off = start + block.value_count * encoding->value_len;
        at = self->bytes + block.index_off;
        for (uint64_t index = 0; first < cell; first++, at += encoding->index_len) {
            encoding->index(first->metric, index, at);
            index += first->count;
        }
        memset(at, 0,
               (size_t)(c->offs[self->next + 1] - self->off) -
                   (size_t)(at - self->bytes));
        self->records[self->next - self->first] = block;
    }
}

/* Contexts without values point at the next block, as in real files. */
static void skip_until(struct cct_worker *self, uint32_t context)
{
    for (; self->next < context; self->next++)
        self->records[self->next - self->first] = (struct cn_hpc_cct_block){
            .context = self->next,
            .values_off = self->len,
            .index_off = self->len,
        };
}

static bool add_context(void *arg, unsigned worker, uint32_t context,
                        struct cn_value_batch plane, struct cn_error *err)
{
    struct cct_writer *c = arg;
    const struct cn_hpc_cct_encoding *encoding = c->encoding;
    struct cct_worker *self = &c->workers[worker];
    struct cn_hpc_cct_block block = {.context = context, .values_off = self->len};
    size_t len_max = plane.count * encoding->value_len +
                     (plane.count + 1) * encoding->index_len + encoding->align;

    (void)err;
    skip_until(self, context);
    self->bytes = cn_grow_to(self->bytes, self->len + len_max, &self->capacity, 1);
    uint8_t *at = self->bytes + self->len;
    size_t len = encoding->block(c->job->arg, worker, plane, at, &block);
    size_t padded_len = (size_t)cn_align_up(len, encoding->align);
    if (len == 0)
        return true;
    memset(at + len, 0, padded_len - len);
    block.index_off += self->len;
    self->records[self->next++ - self->first] = block;
    self->len += padded_len;
    return true;
}

static bool take(void *arg, unsigned worker, const struct cn_context_range *range,
                 struct cn_error *err)
{
    struct cct_writer *c = arg;
    const struct cn_transpose_rank *rank = c->job->rank;
    struct cct_worker *self = &c->workers[worker];

    if (!rank)
        return cn_out_reserve(c->out, self->len, &self->off, err);
    if (!rank->reserve(rank->arg, range->last + 1 == c->job->db->context_limit, true,
                       self->len, &self->off, err))
        return false;
    self->off += c->blocks_off;
    c->out->end_off = self->off + self->len;
    return true;
}

static bool finish(void *arg, unsigned worker, const struct cn_context_range *range,
                   struct cn_error *err)
{
    struct cct_writer *c = arg;
    struct cct_worker *self = &c->workers[worker];
    size_t count = (size_t)range->last - range->first + 1;
    size_t record_len = c->encoding->record_len;

    if (c->cells)
        complete_blocks(c, self, range->last);
    else
        skip_until(self, range->last + 1);
    for (size_t i = 0; i < count; i++) {
        self->records[i].values_off += self->off;
        self->records[i].index_off += self->off;
        c->encoding->record(&self->records[i], self->encoded + i * record_len);
    }
    return cn_out_write_at(c->out, self->off, self->bytes, self->len, err) &&
           cn_out_write_at(c->out, c->records_off + range->first * (uint64_t)record_len,
                           self->encoded, count * record_len, err);
}

static bool transpose(struct cct_writer *c, struct cn_error *err)
{
    struct cn_transpose_options options = {
        .workers = c->job->workers,
        .rank = c->job->rank,
        .memory_len = c->job->options->memory_len,
        .value_len = c->encoding->value_len,
        .context_len = sizeof(struct cn_hpc_cct_block) + c->encoding->record_len,
        .what = "writing cct.db",
        .folder = c->job->dir,
        .progress = c->job->options->progress,
    };
    struct cn_transpose_sink sink = {
        .arg = c,
        .begin = begin,
        .context = add_context,
        .take = take,
        .finish = finish,
        .layout = c->encoding->values ? lay_out : NULL,
        .put = put_values,
    };

    return cn_transpose_run(c->job->db, &options, &sink, err);
}

bool cn_hpc_cct_count(struct cn_database *db, uint64_t listed_count,
                      uint32_t largest_listed, uint32_t *out, struct cn_error *err)
{
    uint64_t known = listed_count, count = (uint64_t)largest_listed + 1;

    if (count < db->context_limit)
        count = db->context_limit;
    for (uint32_t i = 0; i < db->profile_count; i++) {
        struct cn_profile profile;

        if (!cn_database_profile(db, i, &profile, err))
            return false;
        known += profile.context_count;
    }
    if (count > UINT32_MAX || count / CN_HPC_ID_SPREAD_MAX > known) {
        (void)cn_fail(err, CN_ERR_FORMAT,
                      "context ids up to %" PRIu64 " for %" PRIu64 " contexts", count - 1,
                      known);
        return cn_contexts_fail_in(db, err);
    }
    *out = (uint32_t)count;
    return true;
}

bool cn_hpc_cct_blocks_write(const struct cn_hpc_value_job *job,
                             const struct cn_hpc_cct_encoding *encoding,
                             struct cn_out *out, uint64_t records_off,
                             struct cn_error *err)
{
    struct cct_writer c = {
        .job = job,
        .encoding = encoding,
        .out = out,
        .records_off = records_off,
        .blocks_off = out->end_off,
    };

    c.workers = cn_alloc(job->workers, sizeof(*c.workers));
    bool ok = transpose(&c, err);
    for (unsigned i = 0; i < job->workers; i++) {
        free(c.workers[i].bytes);
        free(c.workers[i].records);
        free(c.workers[i].encoded);
    }
    free(c.workers);
    free(c.offs);
    return ok;
}

bool cn_hpc_cct_blocks_end(const struct cn_hpc_value_job *job,
                           const struct cn_hpc_cct_encoding *encoding,
                           const struct cn_out *out, uint64_t records_off,
                           struct cn_error *err)
{
    enum { CHUNK = 256 };
    size_t len = encoding->record_len;
    uint8_t *bytes = cn_alloc(CHUNK, len);
    uint32_t end = job->context_count, count;
    bool ok = true;

    for (uint32_t i = job->db->context_limit; ok && i < end; i += count) {
        count = end - i < CHUNK ? end - i : CHUNK;
        for (uint32_t k = 0; k < count; k++)
            encoding->record(
                &(struct cn_hpc_cct_block){
                    .context = i + k,
                    .values_off = out->end_off,
                    .index_off = out->end_off,
                },
                bytes + k * len);
        ok = cn_out_write_at(out, records_off + i * (uint64_t)len, bytes, count * len,
                             err);
    }
    free(bytes);
    return ok;
}
