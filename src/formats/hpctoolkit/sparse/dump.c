#include "formats/hpctoolkit/sparse/dump.h"

#include <inttypes.h>

#include "base/files/file.h"
#include "formats/hpctoolkit/sparse/cct_reader.h"
#include "formats/hpctoolkit/sparse/profile_reader.h"
#include "formats/hpctoolkit/sparse/trace_reader.h"

/* Nothing but strings and tuples is referred to more than once, so a dump is about
 * as long as its file. */
enum { REPEAT_MAX = 4 };

bool cn_hpc_sparse_dump_item(struct cn_hpc_sparse_dump *dump,
                             const struct cn_record_layout *layout, uint64_t off,
                             uint64_t index, const char *text, struct cn_error *err)
{
    struct cn_dump_item item = {
        .file = dump->file, .off = off, .layout = layout, .text = text, .index = index};

    if (!cn_bytes_slice(dump->bytes, off, layout->size, &item.bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s at 0x%" PRIx64 " does not fit the file of %zu", layout->name,
                       off, dump->bytes.len);
    dump->emitted_len += layout->size;
    if (dump->emitted_len / REPEAT_MAX > dump->bytes.len)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s at 0x%" PRIx64 ": structures overlap: %" PRIu64
                       " bytes of them in a file of %zu",
                       layout->name, off, dump->emitted_len, dump->bytes.len);
    if (dump->emit(dump->arg, &item))
        return true;
    dump->is_stopped = true;
    return false;
}

bool cn_hpc_sparse_dump_records(struct cn_hpc_sparse_dump *dump,
                                const struct cn_record_layout *layout, uint64_t off,
                                uint64_t count, struct cn_error *err)
{
    struct cn_bytes array;

    if (count == 0)
        return true;
    if (!cn_bytes_array(dump->bytes, off, count, layout->size, &array))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " records %s at 0x%" PRIx64
                       " do not fit the file of %zu",
                       count, layout->name, off, dump->bytes.len);
    for (uint64_t i = 0; i < count; i++)
        if (!cn_hpc_sparse_dump_item(dump, layout, off + i * layout->size, i, NULL, err))
            return false;
    return true;
}

static bool dump_tuple(struct cn_hpc_sparse_dump *dump,
                       const struct cn_hpc_sparse_profiles *profiles, uint64_t off,
                       struct cn_error *err)
{
    struct cn_hpc_sparse_tuple tuple;
    struct cn_bytes rest;

    if (off < profiles->tuples_off ||
        !cn_bytes_from(profiles->tuples, off - profiles->tuples_off, &rest) ||
        !cn_hpc_sparse_tuple_decode(rest, &tuple))
        return cn_fail(err, CN_ERR_FORMAT,
                       "identity tuple at 0x%" PRIx64 " does not fit its section", off);
    return cn_hpc_sparse_dump_item(dump, &cn_hpc_sparse_tuple_layout, off, 0, NULL,
                                   err) &&
           cn_hpc_sparse_dump_records(dump, &cn_hpc_sparse_identity_layout,
                                      off + cn_hpc_sparse_tuple_size, tuple.id_count,
                                      err);
}

static bool dump_profile(struct cn_hpc_sparse_dump *dump,
                         const struct cn_hpc_sparse_profiles *profiles, uint32_t i,
                         struct cn_error *err)
{
    struct cn_hpc_sparse_profile record = cn_hpc_sparse_profiles_record(profiles, i);
    struct cn_hpc_sparse_profile_block block;
    bool is_empty = record.value_count == 0 && record.context_count == 0;

    return cn_hpc_sparse_dump_item(dump, &cn_hpc_sparse_profile_layout,
                                   cn_hpc_sparse_profiles_off(profiles, i), i, NULL,
                                   err) &&
           dump_tuple(dump, profiles, record.tuple_off, err) &&
           cn_hpc_sparse_profiles_block(profiles, i, &block, err) &&
           (is_empty || cn_hpc_sparse_dump_records(
                            dump, &cn_hpc_sparse_profile_index_layout, block.index_off,
                            (uint64_t)record.context_count + 1, err)) &&
           cn_hpc_sparse_dump_records(dump, &cn_hpc_sparse_profile_value_layout,
                                      record.block_off, record.value_count, err);
}

static bool dump_profiles(struct cn_hpc_sparse_dump *dump, struct cn_error *err)
{
    struct cn_hpc_sparse_profiles profiles;

    if (!cn_hpc_sparse_dump_item(dump, &cn_hpc_sparse_profile_header_layout, 0, 0, NULL,
                                 err) ||
        !cn_hpc_sparse_profiles_open(dump->bytes, &profiles, err))
        return false;
    for (uint32_t i = 0; i < profiles.frame.head.count; i++)
        if (!dump_profile(dump, &profiles, i, err))
            return cn_fail_in(err, "profile %" PRIu32, i);
    return true;
}

static bool dump_context(struct cn_hpc_sparse_dump *dump,
                         const struct cn_hpc_sparse_cct *cct, uint32_t i,
                         struct cn_error *err)
{
    struct cn_hpc_sparse_context record = cn_hpc_sparse_cct_record(cct, i);
    uint64_t values_len;

    if (!cn_hpc_sparse_dump_item(dump, &cn_hpc_sparse_context_layout,
                                 cn_hpc_sparse_cct_off(cct, i), i, NULL, err))
        return false;
    if (record.value_count == 0 && record.metric_count == 0)
        return true;
    if (!cn_u64_mul(record.value_count, cn_hpc_sparse_context_value_size, &values_len) ||
        values_len > dump->bytes.len)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " values do not fit the file of %zu",
                       record.value_count, dump->bytes.len);
    return cn_hpc_sparse_dump_records(dump, &cn_hpc_sparse_context_index_layout,
                                      record.block_off + values_len,
                                      (uint64_t)record.metric_count + 1, err) &&
           cn_hpc_sparse_dump_records(dump, &cn_hpc_sparse_context_value_layout,
                                      record.block_off, record.value_count, err);
}

static bool dump_cct(struct cn_hpc_sparse_dump *dump, struct cn_error *err)
{
    struct cn_hpc_sparse_kind without_footer = cn_hpc_sparse_cct_kind;
    struct cn_hpc_sparse_cct cct = {0};

    /* Unfinished writers left none: what there is can be shown all the same. */
    without_footer.footer = NULL;
    if (!cn_hpc_sparse_frame_open(dump->bytes, &without_footer, &cct.frame, err))
        return false;
    for (uint32_t i = 0; i < cct.frame.head.count; i++)
        if (!dump_context(dump, &cct, i, err))
            return cn_fail_in(err, "context %" PRIu32, i);
    return true;
}

static bool dump_traces(struct cn_hpc_sparse_dump *dump, struct cn_error *err)
{
    struct cn_hpc_sparse_traces traces;
    struct cn_timeline timeline;

    if (!cn_hpc_sparse_dump_item(dump, &cn_hpc_sparse_trace_header_layout, 0, 0, NULL,
                                 err) ||
        !cn_hpc_sparse_traces_open(dump->bytes, &traces, err))
        return false;
    for (uint32_t i = 0; i < traces.frame.head.count; i++)
        if (!cn_hpc_sparse_dump_item(dump, &cn_hpc_sparse_trace_layout,
                                     cn_hpc_sparse_traces_off(&traces, i), i, NULL,
                                     err) ||
            !cn_hpc_sparse_traces_at(&traces, i, &timeline, err) ||
            !cn_hpc_sparse_dump_records(dump, &cn_hpc_sparse_sample_layout, timeline.at,
                                        timeline.count, err))
            return false;
    return true;
}

static bool dump_contents(struct cn_hpc_sparse_dump *dump,
                          const struct cn_hpc_sparse_kind *kind, struct cn_error *err)
{
    if (!cn_hpc_sparse_file_is(dump->bytes, kind))
        return cn_fail(err, CN_ERR_FORMAT, "not a %s", kind->name);
    if (!cn_hpc_sparse_dump_item(dump, &cn_hpc_sparse_header_layout, 0, 0, NULL, err))
        return false;
    if (kind == &cn_hpc_sparse_profile_kind)
        return dump_profiles(dump, err);
    return kind == &cn_hpc_sparse_cct_kind ? dump_cct(dump, err) : dump_traces(dump, err);
}

bool cn_hpc_sparse_dump_bytes(const struct cn_hpc_sparse_kind *kind, struct cn_bytes file,
                              cn_dump_fn emit, void *arg, bool *is_stopped,
                              struct cn_error *err)
{
    struct cn_hpc_sparse_dump dump = {
        .file = kind->name, .bytes = file, .emit = emit, .arg = arg};
    bool ok = dump_contents(&dump, kind, err);

    *is_stopped = dump.is_stopped;
    return ok || dump.is_stopped;
}

bool cn_hpc_sparse_dump_directory(const char *dir, cn_dump_fn emit, void *arg,
                                  struct cn_error *err)
{
    bool is_stopped = false, ok = true;

    for (size_t i = 0; ok && i < CN_HPC_SPARSE_KIND_COUNT && !is_stopped; i++) {
        const struct cn_hpc_sparse_kind *kind = cn_hpc_sparse_kinds[i];
        struct cn_file file = {0};

        if (!cn_file_open_at(&file, dir, kind->name, err)) {
            if (i > 0 && err->kind == CN_ERR_NOT_FOUND)
                continue;
            return false;
        }
        ok = cn_hpc_sparse_dump_bytes(kind, file.bytes, emit, arg, &is_stopped, err) ||
             cn_fail_in(err, "%s/%s", dir, kind->name);
        cn_file_close(&file);
    }
    return ok;
}
