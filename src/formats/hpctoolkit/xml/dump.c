#include "formats/hpctoolkit/xml/xml.h"

#include <stdlib.h>

#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/sparse/open.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/legacy/legacy.h"
#include "formats/hpctoolkit/xml/legacy_format.h"
#include "formats/hpctoolkit/xml_events.h"

struct elements {
    struct cn_hpc_dump *dump;
    uint64_t count;
};

static enum cn_step on_event(void *arg, const struct cn_hpc_xml_event *e,
                             struct cn_error *err)
{
    enum { TEXT_MAX = 1024 };
    struct elements *elements = arg;
    struct cn_hpc_dump *dump = elements->dump;
    struct cn_hpc_xml_element element = {(uint32_t)e->line, (uint32_t)e->column,
                                         e->depth};
    uint8_t bytes[cn_hpc_xml_element_size];
    char tag[TEXT_MAX + 1] = "";
    struct cn_bytes source;

    (void)err;
    if (!e->attributes)
        return CN_ITEM;
    if (cn_bytes_slice(dump->bytes, e->off, e->len < TEXT_MAX ? e->len : TEXT_MAX,
                       &source))
        memcpy(tag, source.ptr, source.len);
    cn_hpc_xml_element_encode(&element, bytes);
    dump->is_stopped = !dump->emit(
        dump->arg, &(struct cn_dump_item){.file = CN_HPC_XML_FILE,
                                          .off = e->off,
                                          .layout = &cn_hpc_xml_element_layout,
                                          .bytes = {bytes, sizeof(bytes)},
                                          .text = tag,
                                          .index = elements->count++});
    return dump->is_stopped ? CN_END : CN_ITEM;
}

bool cn_hpc_xml_dump_document(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct elements elements = {.dump = dump};
    struct cn_hpc_xml_reading reading = {.text = dump->bytes,
                                         .depth_max = CN_HPC_XML_DEPTH_MAX,
                                         .handle = on_event,
                                         .arg = &elements};
    bool is_complete;

    return cn_hpc_xml_events_read(&reading, &is_complete, err);
}

static bool is_document(struct cn_bytes file)
{
    return !cn_hpc_sparse_kind_of(file);
}

bool cn_hpc_xml_dump(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    static const struct cn_hpc_dump_kind document = {CN_HPC_XML_FILE, is_document,
                                                     cn_hpc_xml_dump_document, false};

    return cn_hpc_sparse_dump(path, &document, emit, arg, err);
}

/* The values of a thread of a database of version 2.x. */
static bool dump_values(struct cn_hpc_dump *dump, uint64_t off, struct cn_error *err)
{
    struct cn_hpc_legacy_values head = {0};
    struct cn_bytes bytes;

    if (!cn_hpc_dump_item(dump, &cn_hpc_legacy_values_layout, off, 0, NULL, err))
        return false;
    (void)cn_bytes_from(dump->bytes, off, &bytes);
    (void)cn_hpc_legacy_values_decode(bytes, &head);
    uint64_t count = (uint64_t)head.row_count * head.column_count;
    return cn_hpc_dump_records(dump, &cn_hpc_legacy_value_layout,
                               off + cn_hpc_legacy_values_size, count, err);
}

static bool dump_trace(struct cn_hpc_dump *dump, uint64_t off, uint64_t end_off,
                       struct cn_error *err)
{
    uint64_t samples_off = off + cn_hpc_legacy_trace_size;

    return cn_hpc_dump_item(dump, &cn_hpc_legacy_trace_layout, off, 0, NULL, err) &&
           (end_off < samples_off ||
            cn_hpc_dump_records(dump, &cn_hpc_legacy_sample_layout, samples_off,
                                (end_off - samples_off) / cn_hpc_legacy_sample_size,
                                err));
}

/* A packed file. Each member ends where the next begins, so that they do not overlap. */
static bool dump_pack(struct cn_hpc_dump *dump, bool is_traces, struct cn_error *err)
{
    struct cn_hpc_legacy_pack head = {0};
    struct cn_hpc_legacy_member member = {0}, next = {0};
    struct cn_bytes rest, bytes;
    uint64_t last_off = 0;

    if (!cn_hpc_dump_item(dump, &cn_hpc_legacy_pack_layout, 0, 0, NULL, err))
        return false;
    (void)cn_hpc_legacy_pack_decode(dump->bytes, &head);
    if (!cn_hpc_dump_records(dump, &cn_hpc_legacy_member_layout, cn_hpc_legacy_pack_size,
                             head.count, err))
        return false;
    (void)cn_bytes_from(dump->bytes, cn_hpc_legacy_pack_size, &rest);
    for (uint64_t i = 0; i < head.count; i++) {
        (void)cn_bytes_take(&rest, cn_hpc_legacy_member_size, &bytes);
        (void)cn_hpc_legacy_member_decode(bytes, &member);
        next.begin_off = dump->bytes.len;
        if (i + 1 < head.count)
            (void)cn_hpc_legacy_member_decode(rest, &next);
        if (member.begin_off <= last_off || next.begin_off > dump->bytes.len)
            return cn_fail(err, CN_ERR_FORMAT, "a record does not fit the file");
        if (!(is_traces ? dump_trace(dump, member.begin_off, next.begin_off, err)
                        : dump_values(dump, member.begin_off, err)))
            return false;
        last_off = member.begin_off;
    }
    return true;
}

static bool dump_values_file(struct cn_hpc_dump *dump, struct cn_error *err)
{
    return dump_values(dump, 0, err);
}

static bool dump_values_pack(struct cn_hpc_dump *dump, struct cn_error *err)
{
    return dump_pack(dump, false, err);
}

static bool dump_traces_pack(struct cn_hpc_dump *dump, struct cn_error *err)
{
    return dump_pack(dump, true, err);
}

/* A file that is mapped, if it exists. */
static bool dump_mapped(struct cn_hpc_dump *dump, const struct cn_hpc_legacy_file *file,
                        cn_hpc_dump_fn contents, struct cn_error *err)
{
    if (!file->name || dump->is_stopped)
        return true;
    dump->file = file->name;
    dump->bytes = file->bytes;
    dump->emitted_len = 0;
    return contents(dump, err) || dump->is_stopped || cn_fail_in(err, "%s", file->name);
}

bool cn_hpc_legacy_dump(const char *path, cn_dump_fn emit, void *arg,
                        struct cn_error *err)
{
    char *dir = cn_hpc_directory(path);
    struct cn_hpc_dump dump = {.emit = emit, .arg = arg};
    struct cn_hpc_legacy_maps maps;
    bool ok = cn_hpc_legacy_map(&maps, dir, err);

    if (ok) {
        const struct cn_hpc_legacy_files *files = &maps.files;
        struct cn_hpc_legacy_file document = {CN_HPC_XML_FILE, files->experiment};

        ok = dump_mapped(&dump, &document, cn_hpc_xml_dump_document, err);
        for (size_t i = 0; ok && i < files->value_count; i++)
            ok = dump_mapped(&dump, &files->values[i], dump_values_file, err);
        ok = (ok && dump_mapped(&dump, &files->packed, dump_values_pack, err) &&
              dump_mapped(&dump, &files->traces, dump_traces_pack, err)) ||
             cn_fail_in(err, "%s", dir);
        cn_hpc_legacy_unmap(&maps);
    }
    free(dir);
    return ok;
}
