#include "formats/hpctoolkit/v4/dump/dump.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/files/file.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/v4/dump/dump_emit.h"
#include "formats/hpctoolkit/v4/read/open.h"

/* Nothing but strings and a few shared structures is referred to more than once,
 * so a dump is about as long as its file. */
enum { REPEAT_MAX = 4 };

bool cn_hpc_dump_item(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                      uint64_t off, uint64_t len, uint64_t index, const char *text,
                      struct cn_error *err)
{
    struct cn_dump_item item = {
        .file = dump->file, .off = off, .layout = layout, .text = text, .index = index};

    if (!cn_bytes_slice(dump->bytes, off, len, &item.bytes) || len < layout->size)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s of %" PRIu64 " bytes at 0x%" PRIx64
                       " does not fit the file of %zu",
                       layout->name, len, off, dump->bytes.len);
    dump->emitted_len += len;
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

bool cn_hpc_dump_table(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                       const struct cn_hpc_table *table, struct cn_error *err)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (!cn_hpc_dump_item(dump, layout, cn_hpc_table_off(table, i), table->stride, i,
                              NULL, err))
            return false;
    return true;
}

static bool dump_head(struct cn_hpc_dump *dump, const struct cn_hpc_file_kind *kind,
                      struct cn_error *err)
{
    if (!cn_hpc_file_is(dump->bytes, kind))
        return cn_fail(err, CN_ERR_FORMAT, "not a %s", kind->name);
    if (!cn_hpc_dump_item(dump, &cn_hpc_file_header_layout, 0, cn_hpc_file_header_size, 0,
                          NULL, err))
        return false;
    for (size_t i = 0; i < kind->section_count; i++)
        if (!cn_hpc_dump_item(dump, &cn_hpc_section_layout,
                              cn_hpc_file_header_size + i * cn_hpc_section_size,
                              cn_hpc_section_size, i, kind->section[i], err))
            return false;
    return true;
}

static bool dump_contents(struct cn_hpc_dump *dump, const struct cn_hpc_file_kind *kind,
                          struct cn_error *err)
{
    struct cn_hpc_sections sections;

    if (!dump_head(dump, kind, err) ||
        !cn_hpc_sections_open(dump->bytes, kind, &sections, err))
        return false;
    if (kind == &cn_hpc_meta_kind)
        return cn_hpc_dump_meta(dump, &sections, err);
    if (kind == &cn_hpc_profile_kind)
        return cn_hpc_dump_profiles(dump, err);
    if (kind == &cn_hpc_cct_kind)
        return cn_hpc_dump_cct(dump, err);
    return cn_hpc_dump_traces(dump, err);
}

bool cn_hpc_v4_dump_bytes(const struct cn_hpc_file_kind *kind, struct cn_bytes file,
                          cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct cn_hpc_dump dump = {
        .file = kind->name, .bytes = file, .emit = emit, .arg = arg};

    return dump_contents(&dump, kind, err) || dump.is_stopped;
}

/* Remembers that the receiver asked to stop: no further file is opened then. */
struct receiver {
    cn_dump_fn emit;
    void *arg;
    bool is_stopped;
};

static bool receive(void *arg, const struct cn_dump_item *item)
{
    struct receiver *receiver = arg;

    receiver->is_stopped = !receiver->emit(receiver->arg, item);
    return !receiver->is_stopped;
}

static const struct cn_hpc_file_kind *const kinds[] = {
    &cn_hpc_meta_kind, &cn_hpc_profile_kind, &cn_hpc_cct_kind, &cn_hpc_trace_kind};
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]), REQUIRED_COUNT = 2 };

static bool dump_directory(const char *dir, struct receiver *receiver,
                           struct cn_error *err)
{
    for (size_t i = 0; i < KIND_COUNT && !receiver->is_stopped; i++) {
        struct cn_file file = {0};
        bool ok;

        if (!cn_file_open_at(&file, dir, kinds[i]->name, err)) {
            if (i >= REQUIRED_COUNT && err->kind == CN_ERR_NOT_FOUND)
                continue;
            return false;
        }
        ok = cn_hpc_v4_dump_bytes(kinds[i], file.bytes, receive, receiver, err);
        cn_file_close(&file);
        if (!ok)
            return cn_fail_in(err, "%s/%s", dir, kinds[i]->name);
    }
    return true;
}

static bool dump_file(const char *path, struct receiver *receiver, struct cn_error *err)
{
    struct cn_file file = {0};
    size_t i = 0;
    bool ok;

    if (!cn_file_open(&file, path, err))
        return false;
    while (i < KIND_COUNT && !cn_hpc_file_is(file.bytes, kinds[i]))
        i++;
    ok = i < KIND_COUNT
             ? cn_hpc_v4_dump_bytes(kinds[i], file.bytes, receive, receiver, err)
             : cn_fail(err, CN_ERR_FORMAT, "not a file of an HPCToolkit v4 database");
    cn_file_close(&file);
    return ok || cn_fail_in(err, "%s", path);
}

bool cn_hpc_v4_dump(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct receiver receiver = {emit, arg, false};

    if (cn_hpc_is_file(path))
        return dump_file(path, &receiver, err);
    return dump_directory(path, &receiver, err);
}
