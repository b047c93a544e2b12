#include "formats/hpctoolkit/xml/legacy/threads.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/xml/legacy_format.h"

/* Kinds of the usual table; see read_kinds() of database.c. */
enum { KIND_NODE = 1, KIND_RANK = 2, KIND_THREAD = 3 };

void cn_hpc_legacy_threads_done(struct cn_hpc_legacy_threads *threads)
{
    free(threads->list);
    cn_map_done(&threads->slots);
    *threads = (struct cn_hpc_legacy_threads){0};
}

double cn_hpc_legacy_threads_value(const struct cn_hpc_legacy_thread *thread,
                                   uint64_t row, uint64_t column)
{
    if (row >= thread->row_count || column >= thread->column_count)
        return 0;
    return cn_f64_be_get(cn_bytes_element(thread->values,
                                          row * thread->column_count + column,
                                          cn_hpc_legacy_value_size)
                             .ptr);
}

/* `is_head`: the header was decoded, with this byte order. */
static bool check_head(struct cn_bytes file, const char *magic, bool is_head,
                       uint8_t byte_order, struct cn_error *err)
{
    if (!is_head || memcmp(file.ptr, magic, CN_HPC_LEGACY_MAGIC_LEN) != 0)
        return cn_fail(err, CN_ERR_FORMAT, "does not start with %s", magic);
    return byte_order == CN_HPC_LEGACY_BIG_ENDIAN ||
           cn_fail(err, CN_ERR_FORMAT, "byte order %u, can read %u (big endian)",
                   byte_order, CN_HPC_LEGACY_BIG_ENDIAN);
}

/* The matrix of a thread; `file` may be longer than it. */
static bool read_values(struct cn_bytes file, struct cn_hpc_legacy_thread *out,
                        struct cn_error *err)
{
    struct cn_hpc_legacy_values head = {0};
    bool is_head = cn_hpc_legacy_values_decode(file, &head);
    uint64_t count;

    if (!check_head(file, CN_HPC_LEGACY_VALUES_MAGIC, is_head, head.byte_order, err))
        return false;
    if (!cn_u64_mul(head.row_count, head.column_count, &count) ||
        !cn_bytes_array(file, cn_hpc_legacy_values_size, count, cn_hpc_legacy_value_size,
                        &out->values))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu32 " rows of %" PRIu32 " values do not fit the %zu bytes",
                       head.row_count, head.column_count, file.len);
    /* Empty rows and columns cost no time. */
    out->row_count = count == 0 ? 0 : head.row_count;
    out->column_count = count == 0 ? 0 : head.column_count;
    for (uint32_t row = 0; row < out->row_count; row++) {
        uint64_t before = out->value_count;

        for (uint32_t column = 0; column < out->column_count; column++)
            out->value_count += cn_hpc_legacy_threads_value(out, row, column) != 0;
        out->context_count += out->value_count != before;
    }
    return true;
}

static struct cn_hpc_legacy_thread *add_thread(struct cn_hpc_legacy_threads *threads,
                                               uint32_t process, uint32_t thread)
{
    *cn_map_at(&threads->slots, (uint64_t)process << 32 | thread, 0) =
        (uint32_t)threads->count;
    CN_GROW(threads->list, threads->count, threads->capacity);
    threads->list[threads->count] = (struct cn_hpc_legacy_thread){0};
    return &threads->list[threads->count++];
}

static void add_id(struct cn_identity_tuple *tuple, uint8_t kind, uint32_t number)
{
    tuple->ids[tuple->count++] =
        (struct cn_identity){.kind = kind, .logical = number, .physical = number};
}

/* "cpi-000002-001-a8c00270-160445-0.metric-db": rank 2, thread 1, host a8c00270. */
static void identity_of(const char *name, struct cn_identity_tuple *out,
                        uint32_t *process, uint32_t *thread)
{
    const char *at = strstr(name, CN_HPC_LEGACY_VALUES_SUFFIX);
    const char *part[5];

    if (!at)
        at = name + strlen(name);
    *out = (struct cn_identity_tuple){0};
    *process = *thread = 0;
    for (size_t i = 5; i > 0; i--) {
        do
            at--;
        while (at > name && *at != '-');
        if (at <= name)
            return;
        part[i - 1] = at + 1;
    }
    *process = (uint32_t)strtoul(part[0], NULL, 10);
    *thread = (uint32_t)strtoul(part[1], NULL, 10);
    out->ids[out->count++] = (struct cn_identity){
        .kind = KIND_NODE, .is_physical = true, .physical = strtoull(part[2], NULL, 16)};
    add_id(out, KIND_RANK, *process);
    add_id(out, KIND_THREAD, *thread);
}

bool cn_hpc_legacy_add_file(struct cn_hpc_legacy_threads *threads, struct cn_bytes file,
                            const char *name, struct cn_error *err)
{
    struct cn_hpc_legacy_thread read = {0};
    uint32_t process, thread;

    if (!read_values(file, &read, err))
        return cn_fail_in(err, "%s", name);
    identity_of(name, &read.identity, &process, &thread);
    *add_thread(threads, process, thread) = read;
    return true;
}

/* A packed file. */
struct pack {
    struct cn_bytes file, members;
    struct cn_hpc_legacy_pack head;
};

static bool open_pack(struct cn_bytes file, struct pack *out, struct cn_error *err)
{
    out->file = file;
    if (!cn_hpc_legacy_pack_decode(file, &out->head))
        return cn_fail(err, CN_ERR_FORMAT, "%zu bytes are too short for a header",
                       file.len);
    if (!cn_bytes_array(file, cn_hpc_legacy_pack_size, out->head.count,
                        cn_hpc_legacy_member_size, &out->members))
        return cn_fail(err, CN_ERR_FORMAT, "a table of %" PRIu32 " threads does not fit",
                       out->head.count);
    return true;
}

static struct cn_hpc_legacy_member member_at(const struct pack *pack, uint32_t i)
{
    struct cn_hpc_legacy_member member = {0};

    (void)cn_hpc_legacy_member_decode(
        cn_bytes_element(pack->members, i, cn_hpc_legacy_member_size), &member);
    return member;
}

/* The file of one thread, which ends where the next one begins: files that overlap would make
 * the work more than linear. */
static bool open_member(const struct pack *pack, uint32_t i,
                        struct cn_hpc_legacy_member *member, struct cn_bytes *out,
                        struct cn_error *err)
{
    uint64_t end =
        i + 1 < pack->head.count ? member_at(pack, i + 1).begin_off : pack->file.len;

    *member = member_at(pack, i);
    if (member->begin_off <= end &&
        cn_bytes_slice(pack->file, member->begin_off, end - member->begin_off, out))
        return true;
    return cn_fail(err, CN_ERR_FORMAT,
                   "thread %" PRIu32 ": from 0x%" PRIx64 " to 0x%" PRIx64
                   " is outside the %zu bytes",
                   i, member->begin_off, end, pack->file.len);
}

static void pack_identity(const struct pack *pack,
                          const struct cn_hpc_legacy_member *member,
                          struct cn_identity_tuple *out)
{
    *out = (struct cn_identity_tuple){0};
    if (pack->head.type & CN_HPC_LEGACY_HAS_RANKS)
        add_id(out, KIND_RANK, member->process);
    if (pack->head.type & CN_HPC_LEGACY_HAS_THREADS || out->count == 0)
        add_id(out, KIND_THREAD, member->thread);
}

static bool read_samples(struct cn_bytes file, uint64_t off, bool is_last,
                         struct cn_hpc_legacy_thread *thread, struct cn_error *err)
{
    struct cn_hpc_legacy_trace head = {0};
    bool is_head = cn_hpc_legacy_trace_decode(file, &head);

    if (!check_head(file, CN_HPC_LEGACY_TRACE_MAGIC, is_head, head.byte_order, err))
        return false;
    if (head.flags & CN_HPC_LEGACY_HAS_METRICS)
        return cn_fail(err, CN_ERR_FORMAT, "flags 0x%" PRIx64 ": samples name metrics",
                       head.flags);
    uint64_t len = file.len - cn_hpc_legacy_trace_size;
    if (len % cn_hpc_legacy_sample_size != 0 && !is_last)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " bytes of samples are not a multiple of %d", len,
                       cn_hpc_legacy_sample_size);
    thread->samples_off = off + cn_hpc_legacy_trace_size;
    thread->sample_count = len / cn_hpc_legacy_sample_size;
    return true;
}

static bool add_pack(struct cn_hpc_legacy_threads *threads, struct cn_bytes file,
                     bool is_traces, struct cn_error *err)
{
    struct pack pack;

    if (!open_pack(file, &pack, err))
        return false;
    for (uint32_t i = 0; i < pack.head.count; i++) {
        struct cn_hpc_legacy_thread added = {0}, *thread = &added;
        struct cn_hpc_legacy_member member;
        struct cn_bytes part;

        if (!open_member(&pack, i, &member, &part, err))
            return false;
        uint32_t slot = cn_map_find(
            &threads->slots, (uint64_t)member.process << 32 | member.thread, UINT32_MAX);
        if (is_traces && slot != UINT32_MAX)
            thread = &threads->list[slot];
        else
            pack_identity(&pack, &member, &added.identity);
        if (is_traces ? !read_samples(part, member.begin_off, i + 1 == pack.head.count,
                                      thread, err)
                      : !read_values(part, thread, err))
            return cn_fail_in(err, "thread %" PRIu32 " at 0x%" PRIx64, i,
                              member.begin_off);
        if (thread == &added)
            *add_thread(threads, member.process, member.thread) = added;
    }
    return true;
}

bool cn_hpc_legacy_add_packed(struct cn_hpc_legacy_threads *threads, struct cn_bytes file,
                              struct cn_error *err)
{
    return add_pack(threads, file, false, err);
}

bool cn_hpc_legacy_add_traces(struct cn_hpc_legacy_threads *threads, struct cn_bytes file,
                              struct cn_error *err)
{
    if (!add_pack(threads, file, true, err))
        return false;
    threads->traces = file;
    return true;
}
