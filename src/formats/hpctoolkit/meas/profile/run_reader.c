#include "formats/hpctoolkit/meas/profile/run_reader.h"

#include <inttypes.h>

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

/* `file` contains the header. */
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
                       "footer is at 0x%zx, but names the offset 0x%" PRIx64,
                       file.len - cn_hpc_run_footer_size, out->footer_off);
    return true;
}

struct section {
    const char *name;
    uint64_t begin_off, end_off;
    size_t head_len; /* bytes before its entries, with their count */
};

static bool open_section(struct cn_bytes file, struct section section,
                         struct cn_bytes *head, struct cn_bytes *entries,
                         struct cn_error *err)
{
    if (section.begin_off > section.end_off ||
        !cn_bytes_slice(file, section.begin_off, section.end_off - section.begin_off,
                        entries))
        return cn_fail(err, CN_ERR_FORMAT,
                       "%s from 0x%" PRIx64 " to 0x%" PRIx64
                       " do not fit the file of %zu bytes",
                       section.name, section.begin_off, section.end_off, file.len);
    return cn_bytes_take(entries, section.head_len, head) ||
           cn_fail(err, CN_ERR_FORMAT, "%s of %zu bytes are too short", section.name,
                   entries->len);
}

/* The end of a section also gives the number of entries in a list. */
static bool open_lists(struct cn_hpc_run *run, struct cn_error *err)
{
    const struct cn_hpc_run_footer *f = &run->footer;
    struct section header = {"header", f->header_off, f->header_end_off,
                             cn_hpc_run_header_size};
    struct section modules = {"load modules", f->modules_off, f->modules_end_off,
                              sizeof(uint32_t)};
    struct section metrics = {"metrics", f->metrics_off, f->metrics_end_off,
                              sizeof(uint32_t)};
    struct section kinds = {"kinds", f->kinds_off, f->kinds_end_off, sizeof(uint16_t)};
    struct cn_bytes head;

    if (f->header_off != 0)
        return cn_fail(err, CN_ERR_FORMAT, "header at 0x%" PRIx64, f->header_off);
    return open_section(run->file, header, &head, &run->header_list, err) &&
           open_section(run->file, modules, &head, &run->modules_list, err) &&
           open_section(run->file, metrics, &head, &run->metrics_list, err) &&
           open_section(run->file, kinds, &head, &run->kinds_list, err);
}

static bool open_nodes(struct cn_hpc_run *run, struct cn_error *err)
{
    struct section section = {"nodes", run->footer.nodes_off, run->footer.nodes_end_off,
                              sizeof(uint64_t)};
    struct cn_bytes count, entries;

    if (!open_section(run->file, section, &count, &entries, err))
        return false;
    run->node_count = cn_u64_be_get(count.ptr);
    if (!cn_bytes_array(entries, 0, run->node_count, cn_hpc_run_node_size, &run->nodes) ||
        run->nodes.len != entries.len)
        return cn_fail(err, CN_ERR_FORMAT, "%" PRIu64 " nodes in %zu bytes",
                       run->node_count, entries.len);
    return true;
}

static bool open_values(struct cn_hpc_run *run, struct cn_error *err)
{
    struct section section = {"values", run->footer.values_off,
                              run->footer.values_end_off, sizeof(uint16_t)};
    struct cn_hpc_run_counts counts;
    struct cn_bytes rest, head;

    if (!open_section(run->file, section, &head, &rest, err))
        return false;
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
        !open_footer(file, &run.footer, err) || !open_lists(&run, err) ||
        !open_nodes(&run, err) || !open_values(&run, err))
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
    return CN_ITEM;
}

enum cn_step cn_hpc_run_metric_next(struct cn_bytes *rest,
                                    struct cn_hpc_run_metric_entry *out,
                                    struct cn_error *err)
{
    struct cn_hpc_run_metric record;
    struct cn_bytes tail;

    if (rest->len == 0)
        return CN_END;
    if (!cn_hpc_take_string(rest, &out->name) ||
        !cn_hpc_take_string(rest, &out->description) ||
        !cn_bytes_take(rest, cn_hpc_run_metric_size, &out->record) ||
        !cn_hpc_run_metric_decode(out->record, &record) ||
        !cn_hpc_take_string(rest, &out->formula) ||
        !cn_hpc_take_string(rest, &out->format) ||
        !cn_bytes_take(rest, CN_HPC_RUN_METRIC_TAIL_LEN, &tail))
        return cn_fail(err, CN_ERR_FORMAT, "metric table ends inside a metric");
    out->value_format = record.value_format;
    out->show = record.show;
    out->is_moved = record.is_moved != 0;
    out->shows_percent = record.shows_percent != 0;
    out->period = record.period;
    if ((record.type != CN_HPC_METRIC_RAW && record.type != CN_HPC_METRIC_FINAL) ||
        record.reserved != 0) {
        /* Old files pack these fields into the low bits of two words. */
        uint64_t word = cn_u64_be_get(out->record.ptr);

        out->value_format = (uint8_t)cn_bits(word, 8, 4);
        out->show = (uint8_t)cn_bits(word, 28, 1);
        out->shows_percent = cn_bits(word, 29, 1) != 0;
        out->is_moved = false;
    }
    if (out->value_format != CN_HPC_VALUES_INTEGER &&
        out->value_format != CN_HPC_VALUES_DOUBLE)
        return cn_fail(err, CN_ERR_FORMAT,
                       "metric '%.*s': value format %u, can read 1 and 2",
                       (int)(out->name.len < 100 ? out->name.len : 100),
                       (const char *)out->name.ptr, out->value_format);
    return CN_ITEM;
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

    if (!starts_with(file, CN_HPC_TRACE_MAGIC) ||
        !cn_hpc_trace_file_decode(file, &header))
        return cn_fail(err, CN_ERR_FORMAT, "not a trace of hpcrun");
    if (!check_version(file, CN_HPC_TRACE_VERSION, err))
        return false;
    (void)cn_bytes_from(file, cn_hpc_trace_file_size, records);
    *stray_len = records->len % cn_hpc_trace_record_size;
    records->len -= *stray_len;
    *flags = header.flags;
    return true;
}
