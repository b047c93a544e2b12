/* cct.db: header, one record a context, then a block a context with values: the values, and
 * behind them where each metric's values start.
 *
 * Each range of the transposition becomes one stretch of blocks, built in memory with
 * offsets from its own start. Blocks start at multiples of 4, stretches too, so the file does
 * not depend on how contexts were split into ranges.
 */
#include "formats/hpctoolkit/v4/value_writer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/ranks.h"
#include "model/transpose.h"

enum { BLOCK_ALIGN = 4 };

struct worker {
    uint8_t *bytes; /* blocks */
    size_t len, capacity;
    struct cn_hpc_context_info *infos; /* of the range's contexts, offsets relative */
    size_t info_capacity;
    uint32_t first,
        next;         /* contexts of the range: the first, and the next without info */
    uint8_t *encoded; /* infos */
    uint64_t off;     /* of the blocks in the file */
};

struct cct_writer {
    const struct cn_hpc_writing *w;
    struct cn_out out;
    uint64_t infos_off;
    struct worker *workers;
};

static bool begin(void *arg, unsigned worker, const struct cn_context_range *range,
                  struct cn_error *err)
{
    struct worker *self = &((struct cct_writer *)arg)->workers[worker];
    size_t count = (size_t)range->last - range->first + 1;

    (void)err;
    if (self->info_capacity < count) {
        self->info_capacity = count;
        self->infos = cn_realloc(self->infos, count, sizeof(*self->infos));
        self->encoded = cn_realloc(self->encoded, count, cn_hpc_context_info_size);
    }
    self->len = 0;
    self->first = range->first;
    self->next = range->first;
    return true;
}

/* Contexts without values point at the next block, as in real files: never at 0. */
static void skip_until(struct worker *self, uint32_t context)
{
    for (; self->next < context; self->next++)
        self->infos[self->next - self->first] =
            (struct cn_hpc_context_info){.values_off = self->len, .index_off = self->len};
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

static bool add_context(void *arg, unsigned worker, uint32_t context,
                        struct cn_value_batch plane, struct cn_error *err)
{
    struct worker *self = &((struct cct_writer *)arg)->workers[worker];
    size_t values_len = plane.count * cn_hpc_context_value_size;
    uint8_t *value_at = make_room(
        self, values_len + plane.count * cn_hpc_context_index_size + BLOCK_ALIGN);
    uint8_t *index_at = value_at + values_len;
    uint16_t metric_count = 0;
    size_t end;

    (void)err;
    skip_until(self, context);
    for (size_t i = 0; i < plane.count; i++) {
        const struct cn_value *value = &plane.values[i];
        struct cn_hpc_context_value record = {value->key, value->value};

        if (i == 0 || value->metric != plane.values[i - 1].metric) {
            struct cn_hpc_context_index index = {value->metric, i};

            cn_hpc_context_index_encode(&index, index_at);
            index_at += cn_hpc_context_index_size;
            metric_count++;
        }
        cn_hpc_context_value_encode(&record, value_at);
        value_at += cn_hpc_context_value_size;
    }
    self->infos[self->next++ - self->first] = (struct cn_hpc_context_info){
        .value_count = plane.count,
        .values_off = self->len,
        .metric_count = metric_count,
        .index_off = self->len + values_len,
    };
    end = (size_t)cn_align_up(self->len + values_len +
                                  metric_count * (size_t)cn_hpc_context_index_size,
                              BLOCK_ALIGN);
    while (index_at < self->bytes + end)
        *index_at++ = 0;
    self->len = end;
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
        self->infos[i].values_off += self->off;
        self->infos[i].index_off += self->off;
        cn_hpc_context_info_encode(&self->infos[i],
                                   self->encoded + i * cn_hpc_context_info_size);
    }
    return cn_out_write_at(&c->out, self->off, self->bytes, self->len, err) &&
           cn_out_write_at(
               &c->out, c->infos_off + (uint64_t)range->first * cn_hpc_context_info_size,
               self->encoded, count * cn_hpc_context_info_size, err);
}

/* Contexts of the tree whose ids lie beyond all that have values. */
static bool write_rest(struct cct_writer *c, struct cn_error *err)
{
    enum { CHUNK = 256 };
    struct cn_hpc_context_info info = {
        .values_off = c->out.end_off,
        .index_off = c->out.end_off,
    };
    uint8_t bytes[CHUNK * cn_hpc_context_info_size];
    uint32_t end = c->w->context_count;

    for (size_t i = 0; i < CHUNK; i++)
        cn_hpc_context_info_encode(&info, bytes + i * cn_hpc_context_info_size);
    for (uint32_t i = c->w->db->context_limit; i < end;) {
        uint32_t count = end - i < CHUNK ? end - i : CHUNK;

        if (!cn_out_write_at(&c->out,
                             c->infos_off + (uint64_t)i * cn_hpc_context_info_size, bytes,
                             (size_t)count * cn_hpc_context_info_size, err))
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
        .value_len = cn_hpc_context_value_size,
        .context_len = sizeof(struct cn_hpc_context_info) + cn_hpc_context_info_size,
        .what = "writing cct.db",
        .folder = c->w->dir,
        .progress = c->w->options->progress,
    };
    struct cn_transpose_sink sink = {c,    begin,  add_context,
                                     take, finish, &c->out.end_off};

    return cn_transpose_run(c->w->db, &options, &sink, err);
}

/* What rank 0 adds to the blocks that all have written. */
static bool write_frame(struct cct_writer *c, const struct cn_hpc_section *section,
                        struct cn_error *err)
{
    struct cn_hpc_context_infos_header header = {
        .infos_off = c->infos_off,
        .context_count = c->w->context_count,
        .info_len = cn_hpc_context_info_size,
    };
    uint8_t bytes[cn_hpc_context_infos_header_size];

    cn_hpc_context_infos_header_encode(&header, bytes);
    return cn_out_write_at(&c->out, section->off, bytes, sizeof(bytes), err) &&
           write_rest(c, err) &&
           cn_hpc_file_end(&c->out, CN_HPC_CCT_FORMAT, CN_HPC_CCT_FOOTER, section,
                           CN_HPC_CCT_SECTION_COUNT, err);
}

static bool write_file(struct cct_writer *c, struct cn_error *err)
{
    uint64_t head_len = cn_align_up(cn_hpc_context_infos_header_size, 8);
    struct cn_hpc_section section = {
        .len = head_len + (uint64_t)c->w->context_count * cn_hpc_context_info_size,
    };

    if (!cn_hpc_shared_file_begin(&c->out, c->w, "cct.db", CN_HPC_CCT_SECTION_COUNT,
                                  err) ||
        !cn_out_reserve(&c->out, section.len, &section.off, err))
        return false;
    c->infos_off = section.off + head_len;
    return transpose(c, err) &&
           (!cn_ranks_is_first(c->w->ranks) || write_frame(c, &section, err));
}

bool cn_hpc_cct_write(const struct cn_hpc_writing *w, struct cn_error *err)
{
    struct cct_writer c = {.w = w};
    bool ok;

    c.workers = cn_alloc(w->workers, sizeof(*c.workers));
    ok = write_file(&c, err);
    cn_out_abandon(&c.out);
    for (unsigned i = 0; i < w->workers; i++) {
        free(c.workers[i].bytes);
        free(c.workers[i].infos);
        free(c.workers[i].encoded);
    }
    free(c.workers);
    return ok;
}
