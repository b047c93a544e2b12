#include "formats/hpctoolkit/meas/profile/run_reader.h"

#include <inttypes.h>

bool cn_hpc_text_is(struct cn_bytes bytes, const char *text)
{
    size_t len = strlen(text);

    return bytes.len == len && (len == 0 || memcmp(bytes.ptr, text, len) == 0);
}

bool cn_hpc_take_string(struct cn_bytes *rest, struct cn_bytes *out)
{
    struct cn_bytes head, at = *rest;

    if (!cn_bytes_take(&at, sizeof(uint32_t), &head) ||
        !cn_bytes_take(&at, cn_u32_be_get(head.ptr), out))
        return false;
    *rest = at;
    return true;
}

static bool starts_with(struct cn_bytes file, const char *magic)
{
    return file.len >= CN_HPC_MAGIC_LEN && memcmp(file.ptr, magic, CN_HPC_MAGIC_LEN) == 0;
}

bool cn_hpc_run_is(struct cn_bytes file)
{
    return starts_with(file, CN_HPC_RUN_MAGIC);
}

/* The caller knows that the header is there. */
static bool check_version(struct cn_bytes file, const char *version, struct cn_error *err)
{
    const char *found = (const char *)file.ptr + CN_HPC_MAGIC_LEN;
    char shown[CN_HPC_VERSION_LEN + 1] = {0};

    if (memcmp(found, version, CN_HPC_VERSION_LEN) == 0)
        return true;
    for (size_t i = 0; i < CN_HPC_VERSION_LEN; i++)
        shown[i] = found[i] >= '.' && found[i] <= '9' ? found[i] : '?';
    return cn_fail(err, CN_ERR_VERSION, "version %s, can read %s", shown, version);
}

static bool slice_section(struct cn_bytes file, const char *name, uint64_t begin_off,
                          uint64_t end_off, struct cn_bytes *out, struct cn_error *err)
{
    if (begin_off > end_off || !cn_bytes_slice(file, begin_off, end_off - begin_off, out))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s from 0x%" PRIx64 " to 0x%" PRIx64
                       " do not fit the file of %zu bytes",
                       name, begin_off, end_off, file.len);
    return true;
}

static bool open_footer(struct cn_bytes file, struct cn_hpc_run_footer *out,
                        struct cn_error *err)
{
    struct cn_bytes bytes;

    if (file.len < cn_hpc_run_footer_size ||
        !cn_bytes_from(file, file.len - cn_hpc_run_footer_size, &bytes) ||
        !cn_hpc_run_footer_decode(bytes, out) || out->magic != CN_HPC_RUN_FOOTER_MAGIC)
        return cn_fail(err, CN_ERR_FORMAT,
                       "has no footer: the program died before it was complete");
    if (out->footer_off != file.len - cn_hpc_run_footer_size)
        return cn_fail(err, CN_ERR_FORMAT,
                       "footer says that it is at 0x%" PRIx64 ", but it is at 0x%zx",
                       out->footer_off, file.len - cn_hpc_run_footer_size);
    return true;
}

/* A section that starts with a count: of entries, which the section's end tells
 * too. */
static bool skip_count(struct cn_bytes *section, size_t len, const char *name,
                       struct cn_error *err)
{
    struct cn_bytes count;

    if (cn_bytes_take(section, len, &count))
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "%s of %zu bytes are too short", name,
                   section->len);
}

static bool open_header(struct cn_hpc_run *run, struct cn_error *err)
{
    const struct cn_hpc_run_footer *f = &run->footer;
    struct cn_bytes section;

    if (!slice_section(run->file, "header", f->header_off, f->header_end_off, &section,
                       err))
        return false;
    if (f->header_off != 0 || section.len < cn_hpc_run_header_size)
        return cn_fail(err, CN_ERR_FORMAT, "header of %zu bytes at 0x%" PRIx64,
                       section.len, f->header_off);
    return cn_bytes_from(section, cn_hpc_run_header_size, &run->header_list);
}

static bool open_lists(struct cn_hpc_run *run, struct cn_error *err)
{
    const struct cn_hpc_run_footer *f = &run->footer;

    return slice_section(run->file, "load modules", f->modules_off, f->modules_end_off,
                         &run->modules_list, err) &&
           skip_count(&run->modules_list, sizeof(uint32_t), "load modules", err) &&
           slice_section(run->file, "metrics", f->metrics_off, f->metrics_end_off,
                         &run->metrics_list, err) &&
           skip_count(&run->metrics_list, sizeof(uint32_t), "metrics", err) &&
           slice_section(run->file, "kinds", f->kinds_off, f->kinds_end_off,
                         &run->kinds_list, err) &&
           skip_count(&run->kinds_list, sizeof(uint16_t), "kinds", err);
}

static bool open_nodes(struct cn_hpc_run *run, struct cn_error *err)
{
    const struct cn_hpc_run_footer *f = &run->footer;
    struct cn_bytes section, count;

    if (!slice_section(run->file, "nodes", f->nodes_off, f->nodes_end_off, &section, err))
        return false;
    if (!cn_bytes_take(&section, sizeof(uint64_t), &count))
        return cn_fail(err, CN_ERR_FORMAT, "nodes of %zu bytes are too short",
                       section.len);
    run->node_count = cn_u64_be_get(count.ptr);
    if (!cn_bytes_array(section, 0, run->node_count, cn_hpc_run_node_size, &run->nodes) ||
        run->nodes.len != section.len)
        return cn_fail(err, CN_ERR_FORMAT, "%" PRIu64 " nodes in %zu bytes",
                       run->node_count, section.len);
    return true;
}

static bool open_values(struct cn_hpc_run *run, struct cn_error *err)
{
    const struct cn_hpc_run_footer *f = &run->footer;
    struct cn_hpc_run_counts counts;
    struct cn_bytes rest, head;

    if (!slice_section(run->file, "values", f->values_off, f->values_end_off, &rest, err))
        return false;
    if (!cn_bytes_take(&rest, sizeof(uint16_t), &head))
        return cn_fail(err, CN_ERR_FORMAT, "values of %zu bytes are too short", rest.len);
    run->id_count = cn_u16_be_get(head.ptr);
    if (run->id_count == 0 ||
        !cn_bytes_take(&rest, (size_t)run->id_count * cn_hpc_run_id_size, &run->ids) ||
        !cn_hpc_run_counts_decode(rest, &counts) ||
        !cn_bytes_take(&rest, cn_hpc_run_counts_size, &head))
        return cn_fail(err, CN_ERR_FORMAT, "identity of %u ids does not fit",
                       run->id_count);
    if (!cn_bytes_array(rest, 0, counts.value_count, cn_hpc_run_value_size,
                        &run->values) ||
        !cn_bytes_array(rest, run->values.len, (uint64_t)counts.node_count + 1,
                        cn_hpc_run_value_index_size, &run->value_index) ||
        run->values.len + run->value_index.len != rest.len)
        return cn_fail(err, CN_ERR_FORMAT,
                       "%" PRIu64 " values of %" PRIu32 " nodes in %zu bytes",
                       counts.value_count, counts.node_count, rest.len);
    run->value_count = counts.value_count;
    run->valued_count = counts.node_count;
    return true;
}

bool cn_hpc_run_open(struct cn_bytes file, struct cn_hpc_run *out, struct cn_error *err)
{
    struct cn_hpc_run run = {.file = file};

    if (!cn_hpc_run_is(file) || file.len < cn_hpc_run_header_size)
        return cn_fail(err, CN_ERR_FORMAT, "not a profile of hpcrun");
    if (!check_version(file, CN_HPC_RUN_VERSION, err) ||
        !open_footer(file, &run.footer, err) || !open_header(&run, err) ||
        !open_lists(&run, err) || !open_nodes(&run, err) || !open_values(&run, err))
        return false;
    *out = run;
    return true;
}

enum cn_step cn_hpc_run_pair_next(struct cn_bytes *rest, struct cn_hpc_run_pair *out,
                                  struct cn_error *err)
{
    if (rest->len == 0)
        return CN_END;
    if (!cn_hpc_take_string(rest, &out->name) || !cn_hpc_take_string(rest, &out->value))
        return cn_fail(err, CN_ERR_FORMAT, "header ends inside a name and its value");
    return CN_ITEM;
}

enum cn_step cn_hpc_run_module_next(struct cn_bytes *rest,
                                    struct cn_hpc_run_module_entry *out,
                                    struct cn_error *err)
{
    struct cn_hpc_run_module record;
    struct cn_bytes head, flags;

    if (rest->len == 0)
        return CN_END;
    if (!cn_hpc_run_module_decode(*rest, &record) ||
        !cn_bytes_take(rest, cn_hpc_run_module_size, &head) ||
        !cn_hpc_take_string(rest, &out->path) ||
        !cn_bytes_take(rest, sizeof(uint64_t), &flags))
        return cn_fail(err, CN_ERR_FORMAT, "load map ends inside a module");
    if (record.id == 0)
        return cn_fail(err, CN_ERR_FORMAT, "load module with the id 0");
    out->id = record.id;
    out->flags = cn_u64_be_get(flags.ptr);
    return CN_ITEM;
}

/* Old files pack these fields into the low bits of two words. */
static void decode_old_metric(struct cn_bytes record,
                              struct cn_hpc_run_metric_entry *entry)
{
    uint64_t word = cn_u64_be_get(record.ptr);

    entry->value_format = (uint8_t)cn_bits(word, 8, 4);
    entry->show = (uint8_t)cn_bits(word, 28, 1);
    entry->shows_percent = cn_bits(word, 29, 1) != 0;
    entry->is_moved = false;
}

static bool decode_metric(struct cn_hpc_run_metric_entry *entry, struct cn_error *err)
{
    struct cn_hpc_run_metric record;

    if (!cn_hpc_run_metric_decode(entry->record, &record))
        return cn_fail(err, CN_ERR_FORMAT, "metric table ends inside a metric");
    entry->value_format = record.value_format;
    entry->show = record.show;
    entry->is_moved = record.is_moved != 0;
    entry->shows_percent = record.shows_percent != 0;
    entry->period = record.period;
    if ((record.type != CN_HPC_METRIC_RAW && record.type != CN_HPC_METRIC_FINAL) ||
        record.reserved != 0)
        decode_old_metric(entry->record, entry);
    if (entry->value_format != CN_HPC_VALUES_INTEGER &&
        entry->value_format != CN_HPC_VALUES_DOUBLE)
        return cn_fail(err, CN_ERR_FORMAT,
                       "metric '%.*s': value format %u, can read 1 and 2",
                       (int)(entry->name.len < 100 ? entry->name.len : 100),
                       (const char *)entry->name.ptr, entry->value_format);
    return true;
}

enum cn_step cn_hpc_run_metric_next(struct cn_bytes *rest,
                                    struct cn_hpc_run_metric_entry *out,
                                    struct cn_error *err)
{
    struct cn_bytes tail;

    if (rest->len == 0)
        return CN_END;
    if (!cn_hpc_take_string(rest, &out->name) ||
        !cn_hpc_take_string(rest, &out->description) ||
        !cn_bytes_take(rest, cn_hpc_run_metric_size, &out->record) ||
        !cn_hpc_take_string(rest, &out->formula) ||
        !cn_hpc_take_string(rest, &out->format) ||
        !cn_bytes_take(rest, CN_HPC_RUN_METRIC_TAIL_LEN, &tail))
        return cn_fail(err, CN_ERR_FORMAT, "metric table ends inside a metric");
    return decode_metric(out, err) ? CN_ITEM : CN_FAIL;
}

enum cn_step cn_hpc_run_kind_next(struct cn_bytes *rest, struct cn_hpc_run_kind *out,
                                  struct cn_error *err)
{
    struct cn_bytes head;

    if (rest->len == 0)
        return CN_END;
    if (!cn_bytes_take(rest, sizeof(uint16_t), &head) ||
        !cn_hpc_take_string(rest, &out->name))
        return cn_fail(err, CN_ERR_FORMAT, "kinds end inside a name");
    out->id = cn_u16_be_get(head.ptr);
    return CN_ITEM;
}

bool cn_hpc_trace_file_open(struct cn_bytes file, uint64_t *flags,
                            struct cn_bytes *records, size_t *stray_len,
                            struct cn_error *err)
{
    struct cn_hpc_trace_file header;
    struct cn_bytes rest;
    size_t whole_len;

    if (!starts_with(file, CN_HPC_TRACE_MAGIC) ||
        !cn_hpc_trace_file_decode(file, &header))
        return cn_fail(err, CN_ERR_FORMAT, "not a trace of hpcrun");
    if (!check_version(file, CN_HPC_TRACE_VERSION, err))
        return false;
    (void)cn_bytes_from(file, cn_hpc_trace_file_size, &rest);
    whole_len = rest.len - rest.len % cn_hpc_trace_record_size;
    (void)cn_bytes_slice(rest, 0, whole_len, records);
    *stray_len = rest.len - whole_len;
    *flags = header.flags;
    return true;
}
