#include "formats/hpctoolkit/meas/dump.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/files/file.h"
#include "base/text.h"
#include "formats/hpctoolkit/meas/profile/directory.h"
#include "formats/hpctoolkit/meas/profile/run_reader.h"

struct dump {
    const char *name;
    struct cn_bytes file;
    cn_dump_fn emit;
    void *arg;
    struct cn_text text; /* of the next item */
    bool is_stopped;     /* by the receiver */
};

/* Emit a structure at `bytes`, which may be longer. */
static bool put(struct dump *d, const struct cn_record_layout *layout,
                struct cn_bytes bytes, uint64_t index)
{
    struct cn_dump_item item = {
        .file = d->name,
        .off = (uint64_t)(bytes.ptr - d->file.ptr),
        .layout = layout,
        .text = d->text.len > 0 ? cn_text_str(&d->text) : NULL,
        .index = index,
    };

    (void)cn_bytes_slice(bytes, 0, layout->size, &item.bytes);
    d->is_stopped = !d->emit(d->arg, &item);
    cn_text_clear(&d->text);
    return !d->is_stopped;
}

static void add_text(struct dump *d, struct cn_bytes text)
{
    cn_text_add(&d->text, (const char *)text.ptr, text.len);
}

static bool put_array(struct dump *d, const struct cn_record_layout *layout,
                      struct cn_bytes array)
{
    uint64_t count = array.len / layout->size;

    for (uint64_t i = 0; i < count; i++)
        if (!put(d, layout, cn_bytes_element(array, i, layout->size), i))
            return false;
    return true;
}

static bool put_pairs(struct dump *d, const struct cn_hpc_run *run, struct cn_error *err)
{
    struct cn_bytes rest = run->header_list, at = rest;
    struct cn_hpc_run_pair pair;
    enum cn_step step;

    for (uint64_t i = 0; (step = cn_hpc_run_pair_next(&rest, &pair, err)) == CN_ITEM;
         i++, at = rest) {
        add_text(d, pair.name);
        cn_text_str_add(&d->text, " = ");
        add_text(d, pair.value);
        if (!put(d, &cn_hpc_run_string_layout, at, i))
            return false;
    }
    return step == CN_END;
}

static bool put_modules(struct dump *d, const struct cn_hpc_run *run,
                        struct cn_error *err)
{
    struct cn_bytes rest = run->modules_list, at = rest;
    struct cn_hpc_run_module_entry entry;
    enum cn_step step;

    for (uint64_t i = 0; (step = cn_hpc_run_module_next(&rest, &entry, err)) == CN_ITEM;
         i++, at = rest) {
        add_text(d, entry.path);
        if (!put(d, &cn_hpc_run_module_layout, at, i))
            return false;
    }
    return step == CN_END;
}

static bool put_metrics(struct dump *d, const struct cn_hpc_run *run,
                        struct cn_error *err)
{
    struct cn_bytes rest = run->metrics_list;
    struct cn_hpc_run_metric_entry entry;
    enum cn_step step;

    for (uint64_t i = 0; (step = cn_hpc_run_metric_next(&rest, &entry, err)) == CN_ITEM;
         i++) {
        add_text(d, entry.name);
        if (entry.formula.len > 0) {
            cn_text_str_add(&d->text, " = ");
            add_text(d, entry.formula);
        }
        if (!put(d, &cn_hpc_run_metric_layout, entry.record, i))
            return false;
    }
    return step == CN_END;
}

static bool put_kinds(struct dump *d, const struct cn_hpc_run *run, struct cn_error *err)
{
    struct cn_bytes rest = run->kinds_list, at = rest;
    struct cn_hpc_run_kind kind;
    enum cn_step step;

    for (uint64_t i = 0; (step = cn_hpc_run_kind_next(&rest, &kind, err)) == CN_ITEM;
         i++, at = rest) {
        add_text(d, kind.name);
        if (!put(d, &cn_hpc_run_kind_head_layout, at, i))
            return false;
    }
    return step == CN_END;
}

static bool dump_run(struct dump *d, struct cn_error *err)
{
    struct cn_bytes counts, footer;
    struct cn_hpc_run run;

    if (!cn_hpc_run_open(d->file, &run, err))
        return false;
    /* The counts are between the identity and the values. */
    (void)cn_bytes_from(d->file, run.footer.values_off + sizeof(uint16_t) + run.ids.len,
                        &counts);
    (void)cn_bytes_from(d->file, run.footer.footer_off, &footer);
    return put(d, &cn_hpc_run_header_layout, d->file, 0) && put_pairs(d, &run, err) &&
           put_modules(d, &run, err) &&
           put_array(d, &cn_hpc_run_node_layout, run.nodes) &&
           put_metrics(d, &run, err) && put_kinds(d, &run, err) &&
           put_array(d, &cn_hpc_run_id_layout, run.ids) &&
           put(d, &cn_hpc_run_counts_layout, counts, 0) &&
           put_array(d, &cn_hpc_run_value_layout, run.values) &&
           put_array(d, &cn_hpc_run_value_index_layout, run.value_index) &&
           put(d, &cn_hpc_run_footer_layout, footer, 0);
}

static bool dump_trace(struct dump *d, struct cn_error *err)
{
    struct cn_bytes records;
    size_t stray_len;
    uint64_t flags;

    if (!cn_hpc_trace_file_open(d->file, &flags, &records, &stray_len, err) ||
        !put(d, &cn_hpc_trace_file_layout, d->file, 0))
        return false;
    if (flags & CN_HPC_TRACE_DATA_CENTRIC)
        return cn_fail(err, CN_ERR_VERSION, "data-centric records are not supported");
    if (!put_array(d, &cn_hpc_trace_record_layout, records))
        return false;
    return stray_len == 0 || cn_fail(err, CN_ERR_FORMAT,
                                     "%zu bytes after the last whole record", stray_len);
}

static bool dump_bytes(struct dump *d, const char *name, struct cn_bytes file,
                       struct cn_error *err)
{
    d->name = name;
    d->file = file;
    return (cn_hpc_run_is(file) ? dump_run(d, err) : dump_trace(d, err)) || d->is_stopped;
}

bool cn_hpc_meas_dump_bytes(const char *name, struct cn_bytes file, cn_dump_fn emit,
                            void *arg, struct cn_error *err)
{
    struct dump d = {.emit = emit, .arg = arg};
    bool ok = dump_bytes(&d, name, file, err);

    cn_text_done(&d.text);
    return ok;
}

static bool dump_all(struct dump *d, const char *dir, const char *suffix,
                     struct cn_error *err)
{
    size_t count;
    char **names = cn_hpc_list_names(dir, suffix, &count);
    bool ok = true;

    for (size_t i = 0; i < count; i++) {
        struct cn_file file = {0};

        if (ok && !d->is_stopped)
            ok = cn_file_open_at(&file, dir, names[i], err) &&
                 (dump_bytes(d, names[i], file.bytes, err) ||
                  cn_fail_in(err, "%s/%s", dir, names[i]));
        cn_file_close(&file);
        free(names[i]);
    }
    free(names);
    return ok;
}

bool cn_hpc_meas_dump(const char *path, cn_dump_fn emit, void *arg, struct cn_error *err)
{
    struct dump d = {.emit = emit, .arg = arg};
    struct cn_file file = {0};
    struct stat st;
    bool ok;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        ok = dump_all(&d, path, ".hpcrun", err) && dump_all(&d, path, ".hpctrace", err);
    else
        ok = cn_file_open(&file, path, err) &&
             (dump_bytes(&d, path, file.bytes, err) || cn_fail_in(err, "%s", path));
    cn_file_close(&file);
    cn_text_done(&d.text);
    return ok;
}
