#include "formats/hpctoolkit/v4/write/writing.h"

#include <inttypes.h>

#include "formats/hpctoolkit/tree_writer.h"

static bool write_general(struct cn_out *out, struct cn_hpc_writing *w,
                          struct cn_hpc_meta_layout *layout, struct cn_error *err)
{
    struct cn_hpc_strings strings = {.end_off =
                                         out->end_off + cn_hpc_general_header_size};
    struct cn_hpc_general_header header;

    (void)layout;
    header.title_off = cn_hpc_strings_add(&strings, w->db->title);
    header.description_off = cn_hpc_strings_add(&strings, w->db->description);
    bool ok = CN_OUT_RECORD(out, cn_hpc_general_header, &header, err) &&
              cn_hpc_strings_write(&strings, out, err);
    cn_hpc_strings_done(&strings);
    return ok;
}

static bool write_id_names(struct cn_out *out, struct cn_hpc_writing *w,
                           struct cn_hpc_meta_layout *layout, struct cn_error *err)
{
    const struct cn_kinds *kinds = &w->db->kinds;
    struct cn_hpc_id_names_header header = {
        .names_off = out->end_off + cn_hpc_id_names_header_size,
        .kind_count = (uint8_t)kinds->count,
    };
    struct cn_hpc_strings strings = {
        .end_off = header.names_off + kinds->count * cn_hpc_name_pointer_size,
    };
    bool ok;

    (void)layout;
    if (kinds->count > UINT8_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%zu kinds of ids, can write %d", kinds->count,
                       UINT8_MAX);
    ok = CN_OUT_RECORD(out, cn_hpc_id_names_header, &header, err);
    for (size_t i = 0; ok && i < kinds->count; i++) {
        struct cn_hpc_name_pointer pointer = {
            cn_hpc_strings_add(&strings, kinds->list[i])};

        ok = CN_OUT_RECORD(out, cn_hpc_name_pointer, &pointer, err);
    }
    ok = ok && cn_hpc_strings_write(&strings, out, err);
    cn_hpc_strings_done(&strings);
    return ok;
}

static const char *path_of(const void *arg, const struct cn_source_file *file)
{
    (void)arg;
    return file->path;
}

static bool write_strings(struct cn_out *out, struct cn_hpc_writing *w,
                          struct cn_hpc_meta_layout *layout, struct cn_error *err)
{
    struct cn_hpc_strings *strings = &layout->strings;
    struct cn_context_cursor cursor;
    struct cn_context entry;
    enum cn_step step;

    strings->end_off = out->end_off;
    if (!cn_hpc_strings_add_tables(strings, w->db, path_of, NULL, err) ||
        !cn_context_children(w->db, NULL, &cursor, err))
        return false;
    while ((step = cn_context_next(w->db, &cursor, &entry, err)) == CN_ITEM)
        (void)cn_hpc_strings_add(strings, entry.entry_name ? entry.entry_name : "");
    return step == CN_END && cn_hpc_strings_write(strings, out, err);
}

static bool write_table_header(struct cn_out *out, uint32_t count, uint16_t record_len,
                               uint64_t *array_off, struct cn_error *err)
{
    struct cn_hpc_table_header header = {
        .array_off = cn_align_up(out->end_off + cn_hpc_table_header_size, 8),
        .count = count,
        .record_len = record_len,
    };

    *array_off = header.array_off;
    return CN_OUT_RECORD(out, cn_hpc_table_header, &header, err) &&
           cn_out_pad(out, 8, err);
}

static bool write_modules(struct cn_out *out, struct cn_hpc_writing *w,
                          struct cn_hpc_meta_layout *layout, struct cn_error *err)
{
    if (!write_table_header(out, w->db->module_count, cn_hpc_module_size,
                            &layout->modules_off, err))
        return false;
    for (uint32_t i = 0; i < w->db->module_count; i++) {
        struct cn_hpc_module record = {0};
        struct cn_module module;

        if (!cn_database_module(w->db, i, &module, err))
            return false;
        record.path_off = cn_hpc_strings_add(&layout->strings, module.path);
        if (!CN_OUT_RECORD(out, cn_hpc_module, &record, err))
            return false;
    }
    return true;
}

static bool write_files(struct cn_out *out, struct cn_hpc_writing *w,
                        struct cn_hpc_meta_layout *layout, struct cn_error *err)
{
    if (!write_table_header(out, w->db->file_count, cn_hpc_source_file_size,
                            &layout->files_off, err))
        return false;
    for (uint32_t i = 0; i < w->db->file_count; i++) {
        struct cn_hpc_source_file record = {0};
        struct cn_source_file file;

        if (!cn_database_file(w->db, i, &file, err))
            return false;
        if (file.is_copied && !w->options->without_sources)
            record.flags = CN_HPC_FILE_COPIED;
        record.path_off = cn_hpc_strings_add(&layout->strings, file.path);
        if (!CN_OUT_RECORD(out, cn_hpc_source_file, &record, err))
            return false;
    }
    return true;
}

static bool make_function(const struct cn_database *db,
                          const struct cn_function *function,
                          struct cn_hpc_meta_layout *layout, struct cn_hpc_function *out,
                          struct cn_error *err)
{
    struct cn_hpc_function record = {
        /* Never 0, although the specification allows it: readers fail on that. */
        .name_off = cn_hpc_strings_add(&layout->strings, function->name),
        .entry_off = function->offset,
        .line = function->line,
    };

    if (!cn_hpc_function_check(db, function, err))
        return false;
    if (function->module != CN_NONE)
        record.module_off =
            layout->modules_off + (uint64_t)function->module * cn_hpc_module_size;
    if (function->file != CN_NONE)
        record.file_off =
            layout->files_off + (uint64_t)function->file * cn_hpc_source_file_size;
    *out = record;
    return true;
}

static bool write_functions(struct cn_out *out, struct cn_hpc_writing *w,
                            struct cn_hpc_meta_layout *layout, struct cn_error *err)
{
    if (!write_table_header(out, w->db->function_count, cn_hpc_function_size,
                            &layout->functions_off, err))
        return false;
    for (uint32_t i = 0; i < w->db->function_count; i++) {
        struct cn_function function;
        struct cn_hpc_function record;

        if (!cn_database_function(w->db, i, &function, err))
            return false;
        if (!make_function(w->db, &function, layout, &record, err))
            return cn_fail_in(err, "function %" PRIu32, i);
        if (!CN_OUT_RECORD(out, cn_hpc_function, &record, err))
            return false;
    }
    return true;
}

static bool write_contexts(struct cn_out *out, struct cn_hpc_writing *w,
                           struct cn_hpc_meta_layout *layout, struct cn_error *err)
{
    uint64_t begin_off = out->end_off;

    if (!cn_hpc_contexts_write(out, w, layout, err))
        return false;
    uint64_t len = out->end_off - begin_off;
    return len <= CN_HPC_CONTEXTS_LEN_MAX ||
           cn_fail(err, CN_ERR_LIMIT, "contexts of %" PRIu64 " bytes, readers can map %d",
                   len, CN_HPC_CONTEXTS_LEN_MAX);
}

/* In the order in which they refer to each other. */
static const struct {
    enum cn_hpc_meta_section id;
    bool (*write)(struct cn_out *out, struct cn_hpc_writing *w,
                  struct cn_hpc_meta_layout *layout, struct cn_error *err);
} section_writers[CN_HPC_META_SECTION_COUNT] = {
    {CN_HPC_GENERAL, write_general},        {CN_HPC_ID_NAMES, write_id_names},
    {CN_HPC_METRICS, cn_hpc_metrics_write}, {CN_HPC_STRINGS, write_strings},
    {CN_HPC_MODULES, write_modules},        {CN_HPC_FILES, write_files},
    {CN_HPC_FUNCTIONS, write_functions},    {CN_HPC_CONTEXTS, write_contexts},
};

static bool write_sections(struct cn_out *out, struct cn_hpc_writing *w,
                           struct cn_hpc_meta_layout *layout,
                           struct cn_hpc_section *sections, struct cn_error *err)
{
    for (size_t i = 0; i < CN_HPC_META_SECTION_COUNT; i++) {
        struct cn_hpc_section *section = &sections[section_writers[i].id];

        if (!cn_out_pad(out, 8, err))
            return false;
        section->off = out->end_off;
        if (!section_writers[i].write(out, w, layout, err))
            return false;
        section->len = out->end_off - section->off;
    }
    return cn_out_pad(out, 8, err);
}

bool cn_hpc_meta_write(struct cn_hpc_writing *w, struct cn_error *err)
{
    struct cn_hpc_section sections[CN_HPC_META_SECTION_COUNT] = {0};
    struct cn_hpc_meta_layout layout = {0};
    struct cn_out out = {0};
    bool ok = cn_hpc_file_begin(&out, w, "meta.db", CN_HPC_META_SECTION_COUNT, err) &&
              write_sections(&out, w, &layout, sections, err) &&
              cn_hpc_file_end(&out, CN_HPC_META_FORMAT, CN_HPC_META_FOOTER, sections,
                              CN_HPC_META_SECTION_COUNT, err);

    cn_out_abandon(&out);
    cn_hpc_strings_done(&layout.strings);
    return ok;
}
