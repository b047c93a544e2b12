#include "formats/hpctoolkit/xml/dump.h"

#include <stdlib.h>

#include "base/files/file.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/sparse/dump.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/legacy/legacy.h"
#include "formats/hpctoolkit/xml/legacy_format.h"
#include "formats/hpctoolkit/xml/read/open.h"
#include "formats/hpctoolkit/xml_events.h"

struct dump {
    struct cn_bytes text;
    cn_dump_fn emit;
    void *arg;
    uint64_t count;
};

static enum cn_step on_event(void *arg, const struct cn_hpc_xml_event *e,
                             struct cn_error *err)
{
    enum { TEXT_MAX = 1024 };
    struct dump *d = arg;
    struct cn_hpc_xml_element element = {(uint32_t)e->line, (uint32_t)e->column,
                                         e->depth};
    uint8_t bytes[cn_hpc_xml_element_size];
    char tag[TEXT_MAX + 1] = "";
    struct cn_bytes source;

    (void)err;
    if (!e->attributes)
        return CN_ITEM;
    if (cn_bytes_slice(d->text, e->off, e->len < TEXT_MAX ? e->len : TEXT_MAX, &source))
        memcpy(tag, source.ptr, source.len);
    cn_hpc_xml_element_encode(&element, bytes);
    return d->emit(d->arg, &(struct cn_dump_item){.file = CN_HPC_XML_FILE,
                                                  .off = e->off,
                                                  .layout = &cn_hpc_xml_element_layout,
                                                  .bytes = {bytes, sizeof(bytes)},
                                                  .text = tag,
                                                  .index = d->count++})
               ? CN_ITEM
               : CN_END;
}

bool cn_hpc_xml_dump_document(struct cn_bytes text, cn_dump_fn emit, void *arg,
                              bool *is_stopped, struct cn_error *err)
{
    struct dump d = {text, emit, arg, 0};
    struct cn_hpc_xml_reading reading = {
        .text = text, .depth_max = CN_HPC_XML_DEPTH_MAX, .handle = on_event, .arg = &d};
    bool is_complete;

    if (!cn_hpc_xml_events_read(&reading, &is_complete, err))
        return false;
    *is_stopped = !is_complete;
    return true;
}

bool cn_hpc_xml_dump(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    bool is_directory = !cn_hpc_is_file(path), is_stopped = false;
    struct cn_file file = {0};
    bool ok = is_directory ? cn_file_open_at(&file, path, CN_HPC_XML_FILE, err)
                           : cn_file_open(&file, path, err);

    if (ok) {
        const struct cn_hpc_sparse_kind *kind =
            is_directory ? NULL : cn_hpc_sparse_kind_of(file.bytes);

        ok = (kind ? cn_hpc_sparse_dump_bytes(kind, file.bytes, emit, arg, &is_stopped,
                                              err)
                   : cn_hpc_xml_dump_document(file.bytes, emit, arg, &is_stopped, err)) ||
             cn_fail_in(err, is_directory ? "%s/" CN_HPC_XML_FILE : "%s", path);
    }
    cn_file_close(&file);
    return ok && (!is_directory || is_stopped ||
                  cn_hpc_sparse_dump_directory(
                      &(struct cn_hpc_dump){.emit = emit, .arg = arg}, path, err));
}

/* The dump of a database of version 2.x. */
struct run {
    const struct cn_hpc_legacy_file *file;
    cn_dump_fn emit;
    void *arg;
    bool is_stopped; /* by the receiver */
};

/* Emit consecutive records. False if they do not fit the file. */
static bool dump_records(struct run *run, const struct cn_record_layout *layout,
                         uint64_t off, uint64_t count)
{
    for (uint64_t i = 0; i < count && !run->is_stopped; i++) {
        struct cn_dump_item item = {.file = run->file->name,
                                    .off = off + i * layout->size,
                                    .layout = layout,
                                    .index = i};

        if (!cn_bytes_slice(run->file->bytes, item.off, layout->size, &item.bytes))
            return false;
        run->is_stopped = !run->emit(run->arg, &item);
    }
    return true;
}

static bool dump_values(struct run *run, uint64_t off)
{
    struct cn_hpc_legacy_values head;
    struct cn_bytes bytes;
    uint64_t count;

    return dump_records(run, &cn_hpc_legacy_values_layout, off, 1) &&
           (run->is_stopped || (cn_bytes_from(run->file->bytes, off, &bytes) &&
                                cn_hpc_legacy_values_decode(bytes, &head) &&
                                cn_u64_mul(head.row_count, head.column_count, &count) &&
                                dump_records(run, &cn_hpc_legacy_value_layout,
                                             off + cn_hpc_legacy_values_size, count)));
}

static bool dump_trace(struct run *run, uint64_t off, uint64_t end_off)
{
    uint64_t samples_off = off + cn_hpc_legacy_trace_size;

    return dump_records(run, &cn_hpc_legacy_trace_layout, off, 1) &&
           (run->is_stopped || end_off < samples_off ||
            dump_records(run, &cn_hpc_legacy_sample_layout, samples_off,
                         (end_off - samples_off) / cn_hpc_legacy_sample_size));
}

/* A packed file. Each member ends where the next begins, so that they do not overlap. */
static bool dump_pack(struct run *run, bool is_traces)
{
    struct cn_hpc_legacy_pack head = {0};
    struct cn_hpc_legacy_member member = {0};
    struct cn_bytes members;
    uint64_t last_off = 0;

    if (!dump_records(run, &cn_hpc_legacy_pack_layout, 0, 1) ||
        !cn_hpc_legacy_pack_decode(run->file->bytes, &head) ||
        !cn_bytes_array(run->file->bytes, cn_hpc_legacy_pack_size, head.count,
                        cn_hpc_legacy_member_size, &members) ||
        !dump_records(run, &cn_hpc_legacy_member_layout, cn_hpc_legacy_pack_size,
                      head.count))
        return false;
    for (uint64_t i = 0; i < head.count && !run->is_stopped; i++) {
        uint64_t begin_off, end_off = run->file->bytes.len;

        (void)cn_hpc_legacy_member_decode(
            cn_bytes_element(members, i, cn_hpc_legacy_member_size), &member);
        begin_off = member.begin_off;
        if (i + 1 < head.count &&
            cn_hpc_legacy_member_decode(
                cn_bytes_element(members, i + 1, cn_hpc_legacy_member_size), &member))
            end_off = member.begin_off;
        if (begin_off <= last_off || end_off > run->file->bytes.len ||
            !(is_traces ? dump_trace(run, begin_off, end_off)
                        : dump_values(run, begin_off)))
            return false;
        last_off = begin_off;
    }
    return true;
}

static bool dump_others(struct run *run, const struct cn_hpc_legacy_files *files,
                        struct cn_error *err)
{
    bool ok = true;

    for (size_t i = 0; ok && i < files->value_count && !run->is_stopped; i++) {
        run->file = &files->values[i];
        ok = dump_values(run, 0);
    }
    if (ok && files->packed.name && !run->is_stopped) {
        run->file = &files->packed;
        ok = dump_pack(run, false);
    }
    if (ok && files->traces.name && !run->is_stopped) {
        run->file = &files->traces;
        ok = dump_pack(run, true);
    }
    return ok || cn_fail(err, CN_ERR_FORMAT, "%s: a record does not fit the file",
                         run->file->name);
}

bool cn_hpc_legacy_dump(const char *path, cn_dump_fn emit, void *arg,
                        struct cn_error *err)
{
    char *dir = cn_hpc_directory(path);
    struct run run = {.emit = emit, .arg = arg};
    struct cn_hpc_legacy_maps maps;
    bool ok = cn_hpc_legacy_map(&maps, dir, err);

    if (ok) {
        ok = (cn_hpc_xml_dump_document(maps.files.experiment, emit, arg, &run.is_stopped,
                                       err) ||
              cn_fail_in(err, CN_HPC_XML_FILE)) &&
             dump_others(&run, &maps.files, err);
        ok = ok || cn_fail_in(err, "%s", dir);
        cn_hpc_legacy_unmap(&maps);
    }
    free(dir);
    return ok;
}
