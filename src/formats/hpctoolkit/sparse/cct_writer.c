/* cct.db: header, one record a context, then a block a context with values: the
 * values, and behind them where each metric's values start.
 *
 * Each range of the transposition becomes one stretch of blocks, built in memory
 * with offsets from its own start. Blocks follow each other without padding, so the
 * file does not depend on how contexts were split into ranges.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/formats.h"
#include "formats/hpctoolkit/sparse/file_writer.h"
#include "model/transpose.h"

enum {
    VALUE_LEN = cn_hpc_sparse_context_value_size,
    INDEX_LEN = cn_hpc_sparse_context_index_size,
    RECORD_LEN = cn_hpc_sparse_context_size,
};

/* The values of one metric in a context's plane. */
struct run {
    uint16_t metric; /* as the file calls it */
    size_t begin, end;
};

struct worker {
    uint8_t *bytes; /* blocks */
    size_t len, capacity;
    struct run *runs;
    size_t run_count, run_capacity;
    struct cn_hpc_sparse_context *records; /* of the range, offsets relative */
    uint8_t *encoded;                      /* records */
    size_t record_capacity;
    uint32_t first, next; /* contexts of the range: the first, the next without record */
    uint64_t off;         /* of the blocks in the file */
};

struct cct_writer {
    const struct cn_hpc_sparse_writing *w;
    uint32_t context_count;
    struct cn_out out;
    struct worker *workers;
};

static bool begin(void *arg, unsigned worker, const struct cn_context_range *range,
                  struct cn_error *err)
{
    struct worker *self = &((struct cct_writer *)arg)->workers[worker];
    size_t count = (size_t)range->last - range->first + 1;

    (void)err;
    if (self->record_capacity < count) {
        self->record_capacity = count;
        self->records = cn_realloc(self->records, count, sizeof(*self->records));
        self->encoded = cn_realloc(self->encoded, count, RECORD_LEN);
    }
    self->len = 0;
    self->first = range->first;
    self->next = range->first;
    return true;
}

/* Contexts without values have no block and point at the next one. */
static void skip_until(struct worker *self, uint32_t context)
{
    for (; self->next < context; self->next++)
        self->records[self->next - self->first] =
            (struct cn_hpc_sparse_context){.context = self->next, .block_off = self->len};
}

static uint8_t *make_room(struct worker *self, size_t len)
{
    if (self->capacity - self->len < len) {
        size_t doubled = self->capacity * 2;

        self->capacity = self->len + len > doubled ? self->len + len : doubled;
        self->bytes = cn_realloc(self->bytes, self->capacity, 1);
    }
    return self->bytes + self->len;
}

static int compare_runs(const void *left, const void *right)
{
    const struct run *a = left, *b = right;

    return (a->metric > b->metric) - (a->metric < b->metric);
}

/* The metrics of a plane that the file keeps, in the order of its ids. Returns how
 * many values they have. */
static size_t find_runs(const struct cct_writer *c, struct worker *self,
                        struct cn_value_batch plane)
{
    size_t total = 0, end;

    self->run_count = 0;
    for (size_t i = 0; i < plane.count; i = end) {
        struct run run = {.begin = i};

        for (end = i; end < plane.count; end++)
            if (plane.values[end].metric != plane.values[i].metric)
                break;
        run.end = end;
        if (!cn_hpc_sparse_ids_find(&c->w->threads, plane.values[i].metric, &run.metric))
            continue;
        self->runs = cn_grow(self->runs, self->run_count, &self->run_capacity,
                             sizeof(*self->runs));
        self->runs[self->run_count++] = run;
        total += end - i;
    }
    if (self->run_count > 1)
        qsort(self->runs, self->run_count, sizeof(*self->runs), compare_runs);
    return total;
}

static void put_index(uint8_t **at, uint16_t metric, uint64_t start)
{
    struct cn_hpc_sparse_context_index index = {metric, start};

    cn_hpc_sparse_context_index_encode(&index, *at);
    *at += INDEX_LEN;
}

static bool add_context(void *arg, unsigned worker, uint32_t context,
                        struct cn_value_batch plane, struct cn_error *err)
{
    struct cct_writer *c = arg;
    struct worker *self = &c->workers[worker];
    size_t count = find_runs(c, self, plane);
    size_t len = count * VALUE_LEN + (self->run_count + 1) * INDEX_LEN;
    uint8_t *value_at, *index_at;
    uint64_t written = 0;

    (void)err;
    skip_until(self, context);
    if (count == 0)
        return true;
    value_at = make_room(self, len);
    index_at = value_at + count * VALUE_LEN;
    for (size_t r = 0; r < self->run_count; r++) {
        const struct run *run = &self->runs[r];

        put_index(&index_at, run->metric, written);
        for (size_t i = run->begin; i < run->end; i++) {
            struct cn_hpc_sparse_context_value record = {plane.values[i].value,
                                                         plane.values[i].key};

            cn_hpc_sparse_context_value_encode(&record, value_at);
            value_at += VALUE_LEN;
        }
        written += run->end - run->begin;
    }
    put_index(&index_at, CN_HPC_SPARSE_CONTEXT_END, written);
    self->records[self->next++ - self->first] = (struct cn_hpc_sparse_context){
        .context = context,
        .value_count = count,
        .metric_count = (uint16_t)self->run_count, /* ids end below the sign bit */
        .block_off = self->len,
    };
    self->len += len;
    return true;
}

static bool take(void *arg, unsigned worker, const struct cn_context_range *range,
                 struct cn_error *err)
{
    struct cct_writer *c = arg;
    struct worker *self = &c->workers[worker];

    (void)range;
    return cn_out_reserve(&c->out, self->len, &self->off, err);
}

static bool finish(void *arg, unsigned worker, const struct cn_context_range *range,
                   struct cn_error *err)
{
    struct cct_writer *c = arg;
    struct worker *self = &c->workers[worker];
    size_t count = (size_t)range->last - range->first + 1;

    skip_until(self, range->last + 1);
    for (size_t i = 0; i < count; i++) {
        self->records[i].block_off += self->off;
        cn_hpc_sparse_context_encode(&self->records[i], self->encoded + i * RECORD_LEN);
    }
    return cn_out_write_at(&c->out, self->off, self->bytes, self->len, err) &&
           cn_out_write_at(&c->out,
                           CN_HPC_SPARSE_HEADER_LEN + (uint64_t)range->first * RECORD_LEN,
                           self->encoded, count * RECORD_LEN, err);
}

/* Contexts of the tree whose ids lie beyond all that have values. */
static bool write_rest(struct cct_writer *c, struct cn_error *err)
{
    enum { CHUNK = 256 };
    uint8_t bytes[CHUNK * RECORD_LEN];
    uint32_t end = c->context_count;

    for (uint32_t i = c->w->db->context_limit; i < end;) {
        uint32_t count = end - i < CHUNK ? end - i : CHUNK;

        for (uint32_t k = 0; k < count; k++) {
            struct cn_hpc_sparse_context record = {.context = i + k,
                                                   .block_off = c->out.end_off};

            cn_hpc_sparse_context_encode(&record, bytes + (size_t)k * RECORD_LEN);
        }
        if (!cn_out_write_at(&c->out, CN_HPC_SPARSE_HEADER_LEN + (uint64_t)i * RECORD_LEN,
                             bytes, (size_t)count * RECORD_LEN, err))
            return false;
        i += count;
    }
    return true;
}

static bool transpose(struct cct_writer *c, struct cn_error *err)
{
    struct cn_transpose_options options = {
        .workers = c->w->workers,
        .memory_len = c->w->options->memory_len,
        .value_len = VALUE_LEN,
        .context_len = sizeof(struct cn_hpc_sparse_context) + RECORD_LEN,
        .what = "writing cct.db",
        .folder = c->w->dir,
        .progress = c->w->options->progress,
    };
    struct cn_transpose_sink sink = {c, begin, add_context, take, finish, NULL};

    return cn_transpose_run(c->w->db, &options, &sink, err);
}

static bool write_file(struct cct_writer *c, struct cn_error *err)
{
    const struct cn_hpc_sparse_kind *kind = &cn_hpc_sparse_cct_kind;
    uint8_t header[cn_hpc_sparse_header_size];

    cn_hpc_sparse_header_fill(kind, CN_HPC_SPARSE_MAJOR, c->context_count, header);
    return cn_hpc_sparse_file_begin(&c->out, c->w, kind, c->context_count, err) &&
           transpose(c, err) && write_rest(c, err) &&
           cn_hpc_sparse_file_end(&c->out, kind, header, err);
}

bool cn_hpc_sparse_cct_write(const struct cn_hpc_sparse_writing *w,
                             uint32_t context_count, struct cn_error *err)
{
    struct cct_writer c = {.w = w, .context_count = context_count};
    bool ok;

    c.workers = cn_alloc(w->workers, sizeof(*c.workers));
    ok = write_file(&c, err) || cn_fail_in(err, "cct.db");
    cn_out_abandon(&c.out);
    for (unsigned i = 0; i < w->workers; i++) {
        free(c.workers[i].bytes);
        free(c.workers[i].runs);
        free(c.workers[i].records);
        free(c.workers[i].encoded);
    }
    free(c.workers);
    return ok;
}
