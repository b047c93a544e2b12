#include "formats/hpctoolkit/meas/meas.h"

#include <stdlib.h>

#include "base/files/file.h"
#include "base/path.h"
#include "base/text.h"
#include "formats/hpctoolkit/maps.h"
#include "formats/hpctoolkit/meas/profile/directory.h"
#include "formats/hpctoolkit/meas/profile/run_reader.h"

static const struct cn_bytes no_value = {0};

/* Emit the structure at the start of `at`, with a name and, if it has one, a value. */
static bool put(struct cn_hpc_dump *dump, const struct cn_record_layout *layout,
                struct cn_bytes at, uint64_t index, struct cn_bytes name,
                struct cn_bytes value, struct cn_error *err)
{
    struct cn_text text = {0};

    cn_text_add(&text, (const char *)name.ptr, name.len);
    if (value.ptr) {
        cn_text_str_add(&text, " = ");
        cn_text_add(&text, (const char *)value.ptr, value.len);
    }
    bool ok = cn_hpc_dump_item(dump, layout, (uint64_t)(at.ptr - dump->bytes.ptr), index,
                               text.len > 0 ? cn_text_str(&text) : NULL, err);
    cn_text_done(&text);
    return ok;
}

static bool put_pairs(struct cn_hpc_dump *dump, const struct cn_hpc_run *run,
                      struct cn_error *err)
{
    struct cn_bytes rest = run->header_list, at = rest;
    struct cn_hpc_run_pair pair;
    enum cn_step step;

    for (uint64_t i = 0; (step = cn_hpc_run_pair_next(&rest, &pair, err)) == CN_ITEM;
         i++, at = rest)
        if (!put(dump, &cn_hpc_run_string_layout, at, i, pair.name, pair.value, err))
            return false;
    return step == CN_END;
}

static bool put_modules(struct cn_hpc_dump *dump, const struct cn_hpc_run *run,
                        struct cn_error *err)
{
    struct cn_bytes rest = run->modules_list, at = rest;
    struct cn_hpc_run_module_entry entry;
    enum cn_step step;

    for (uint64_t i = 0; (step = cn_hpc_run_module_next(&rest, &entry, err)) == CN_ITEM;
         i++, at = rest)
        if (!put(dump, &cn_hpc_run_module_layout, at, i, entry.path, no_value, err))
            return false;
    return step == CN_END;
}

static bool put_metrics(struct cn_hpc_dump *dump, const struct cn_hpc_run *run,
                        struct cn_error *err)
{
    struct cn_bytes rest = run->metrics_list;
    struct cn_hpc_run_metric_entry entry;
    enum cn_step step;

    for (uint64_t i = 0; (step = cn_hpc_run_metric_next(&rest, &entry, err)) == CN_ITEM;
         i++)
        if (!put(dump, &cn_hpc_run_metric_layout, entry.record, i, entry.name,
                 entry.formula.len > 0 ? entry.formula : no_value, err))
            return false;
    return step == CN_END;
}

static bool put_kinds(struct cn_hpc_dump *dump, const struct cn_hpc_run *run,
                      struct cn_error *err)
{
    struct cn_bytes rest = run->kinds_list, at = rest;
    struct cn_hpc_run_kind kind;
    enum cn_step step;

    for (uint64_t i = 0; (step = cn_hpc_run_kind_next(&rest, &kind, err)) == CN_ITEM;
         i++, at = rest)
        if (!put(dump, &cn_hpc_run_kind_head_layout, at, i, kind.name, no_value, err))
            return false;
    return step == CN_END;
}

static bool dump_run(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_hpc_run run;

    return cn_hpc_run_open(dump->bytes, &run, err) &&
           cn_hpc_dump_item(dump, &cn_hpc_run_header_layout, 0, 0, NULL, err) &&
           put_pairs(dump, &run, err) && put_modules(dump, &run, err) &&
           cn_hpc_dump_part(dump, &cn_hpc_run_node_layout, run.nodes, err) &&
           put_metrics(dump, &run, err) && put_kinds(dump, &run, err) &&
           cn_hpc_dump_part(dump, &cn_hpc_run_id_layout, run.ids, err) &&
           /* The counts are between the identity and the values. */
           cn_hpc_dump_item(dump, &cn_hpc_run_counts_layout,
                            run.footer.values_off + sizeof(uint16_t) + run.ids.len, 0,
                            NULL, err) &&
           cn_hpc_dump_part(dump, &cn_hpc_run_value_layout, run.values, err) &&
           cn_hpc_dump_part(dump, &cn_hpc_run_value_index_layout, run.value_index, err) &&
           cn_hpc_dump_item(dump, &cn_hpc_run_footer_layout, run.footer.footer_off, 0,
                            NULL, err);
}

static bool dump_trace(struct cn_hpc_dump *dump, struct cn_error *err)
{
    struct cn_bytes records;
    size_t stray_len;
    uint64_t flags;

    if (!cn_hpc_trace_file_open(dump->bytes, &flags, &records, &stray_len, err) ||
        !cn_hpc_dump_item(dump, &cn_hpc_trace_file_layout, 0, 0, NULL, err))
        return false;
    if (flags & CN_HPC_TRACE_DATA_CENTRIC)
        return cn_fail(err, CN_ERR_VERSION, "data-centric records are not supported");
    if (!cn_hpc_dump_part(dump, &cn_hpc_trace_record_layout, records, err))
        return false;
    return stray_len == 0 || cn_fail(err, CN_ERR_FORMAT,
                                     "%zu bytes after the last whole record", stray_len);
}

bool cn_hpc_meas_dump_contents(struct cn_hpc_dump *dump, struct cn_error *err)
{
    return cn_hpc_run_is(dump->bytes) ? dump_run(dump, err) : dump_trace(dump, err);
}

static bool dump_all(struct cn_hpc_dump *dump, const char *dir, const char *suffix,
                     struct cn_error *err)
{
    size_t count;
    char **names = cn_hpc_list_names(dir, suffix, &count);
    bool ok = true;

    for (size_t i = 0; i < count; i++) {
        ok = ok &&
             cn_hpc_dump_file(dump, dir, names[i], false, cn_hpc_meas_dump_contents, err);
        free(names[i]);
    }
    free(names);
    return ok;
}

bool cn_hpc_meas_dump(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct cn_hpc_dump dump = {.emit = emit, .arg = arg};
    struct cn_file file = {0};
    bool ok;

    if (cn_path_is_folder(path))
        return dump_all(&dump, path, ".hpcrun", err) &&
               dump_all(&dump, path, ".hpctrace", err);
    ok =
        cn_file_open(&file, path, err) &&
        (cn_hpc_dump_bytes(path, cn_hpc_meas_dump_contents, file.bytes, emit, arg, err) ||
         cn_fail_in(err, "%s", path));
    cn_file_close(&file);
    return ok;
}
