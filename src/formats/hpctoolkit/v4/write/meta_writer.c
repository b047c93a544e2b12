#include "formats/hpctoolkit/v4/write/writing.h"

#include <inttypes.h>

static bool write_general(struct cn_out *out, const struct cn_database *db,
                          struct cn_error *err)
{
    struct cn_hpc_strings strings = {.end_off =
                                         out->end_off + cn_hpc_general_header_size};
    struct cn_hpc_general_header header;

    header.title_off = cn_hpc_strings_add(&strings, db->title);
    header.description_off = cn_hpc_strings_add(&strings, db->description);
    bool ok = CN_OUT_RECORD(out, cn_hpc_general_header, &header, err) &&
              cn_hpc_strings_write(&strings, out, err);
    cn_hpc_strings_done(&strings);
    return ok;
}

static bool write_id_names(struct cn_out *out, const struct cn_kinds *kinds,
                           struct cn_error *err)
{
    struct cn_hpc_id_names_header header = {
        .names_off = out->end_off + cn_hpc_id_names_header_size,
        .kind_count = (uint8_t)kinds->count,
    };
    struct cn_hpc_strings strings = {
        .end_off = header.names_off + kinds->count * cn_hpc_name_pointer_size,
    };
    bool ok;

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

/* Add every string that the tables and the entry points use. */
static bool collect_strings(struct cn_database *db, struct cn_hpc_strings *strings,
                            struct cn_error *err)
{
    struct cn_context_cursor cursor;
    struct cn_context entry;
    enum cn_step step;

    for (uint32_t i = 0; i < db->module_count; i++) {
        struct cn_module module;

        if (!cn_database_module(db, i, &module, err))
            return false;
        (void)cn_hpc_strings_add(strings, module.path);
    }
    for (uint32_t i = 0; i < db->file_count; i++) {
        struct cn_source_file file;

        if (!cn_database_file(db, i, &file, err))
            return false;
        (void)cn_hpc_strings_add(strings, file.path);
    }
    for (uint32_t i = 0; i < db->function_count; i++) {
        struct cn_function function;

        if (!cn_database_function(db, i, &function, err))
            return false;
        (void)cn_hpc_strings_add(strings, function.name);
    }
    if (!cn_context_children(db, NULL, &cursor, err))
        return false;
    while ((step = cn_context_next(db, &cursor, &entry, err)) == CN_ITEM)
        (void)cn_hpc_strings_add(strings, entry.entry_name ? entry.entry_name : "");
    return step == CN_END;
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

static bool write_modules(struct cn_out *out, const struct cn_hpc_writing *w,
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

static bool write_files(struct cn_out *out, const struct cn_hpc_writing *w,
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

static bool check_reference(uint32_t index, uint32_t count, const char *what,
                            struct cn_error *err)
{
    if (index == CN_NONE || index < count)
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "refers to %s %" PRIu32 ", but there are %" PRIu32,
                   what, index, count);
}

static bool encode_function(const struct cn_database *db,
                            const struct cn_function *function,
                            struct cn_hpc_meta_layout *layout,
                            uint8_t bytes[cn_hpc_function_size], struct cn_error *err)
{
    struct cn_hpc_function record = {
        /* Never 0, although the specification allows it: readers fail on that. */
        .name_off = cn_hpc_strings_add(&layout->strings, function->name),
        .entry_off = function->offset,
        .line = function->line,
    };

    if (!check_reference(function->module, db->module_count, "module", err) ||
        !check_reference(function->file, db->file_count, "file", err))
        return false;
    if (function->module != CN_NONE)
        record.module_off =
            layout->modules_off + (uint64_t)function->module * cn_hpc_module_size;
    if (function->file != CN_NONE)
        record.file_off =
            layout->files_off + (uint64_t)function->file * cn_hpc_source_file_size;
    cn_hpc_function_encode(&record, bytes);
    return true;
}

static bool write_functions(struct cn_out *out, const struct cn_hpc_writing *w,
                            struct cn_hpc_meta_layout *layout, struct cn_error *err)
{
    if (!write_table_header(out, w->db->function_count, cn_hpc_function_size,
                            &layout->functions_off, err))
        return false;
    for (uint32_t i = 0; i < w->db->function_count; i++) {
        struct cn_function function;
        uint8_t bytes[cn_hpc_function_size];

        if (!cn_database_function(w->db, i, &function, err))
            return false;
        if (!encode_function(w->db, &function, layout, bytes, err))
            return cn_fail_in(err, "function %" PRIu32, i);
        if (!cn_out_write(out, bytes, sizeof(bytes), err))
            return false;
    }
    return true;
}

static bool begin_section(struct cn_out *out, struct cn_hpc_section *section,
                          struct cn_error *err)
{
    if (!cn_out_pad(out, 8, err))
        return false;
    section->off = out->end_off;
    return true;
}

static void end_section(const struct cn_out *out, struct cn_hpc_section *section)
{
    section->len = out->end_off - section->off;
}

static bool write_tables(struct cn_out *out, struct cn_hpc_writing *w,
                         struct cn_hpc_meta_layout *layout,
                         struct cn_hpc_section *sections, struct cn_error *err)
{
    struct cn_hpc_section *section = &sections[CN_HPC_STRINGS];

    if (!begin_section(out, section, err))
        return false;
    layout->strings.end_off = section->off;
    if (!collect_strings(w->db, &layout->strings, err) ||
        !cn_hpc_strings_write(&layout->strings, out, err))
        return false;
    end_section(out, section);

    section = &sections[CN_HPC_MODULES];
    if (!begin_section(out, section, err) || !write_modules(out, w, layout, err))
        return false;
    end_section(out, section);

    section = &sections[CN_HPC_FILES];
    if (!begin_section(out, section, err) || !write_files(out, w, layout, err))
        return false;
    end_section(out, section);

    section = &sections[CN_HPC_FUNCTIONS];
    if (!begin_section(out, section, err) || !write_functions(out, w, layout, err))
        return false;
    end_section(out, section);

    section = &sections[CN_HPC_CONTEXTS];
    if (!begin_section(out, section, err) || !cn_hpc_contexts_write(out, w, layout, err))
        return false;
    end_section(out, section);
    if (section->len > CN_HPC_CONTEXTS_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT,
                       "contexts of %" PRIu64 " bytes, readers can map %d", section->len,
                       CN_HPC_CONTEXTS_LEN_MAX);
    return true;
}

static bool write_sections(struct cn_out *out, struct cn_hpc_writing *w,
                           struct cn_hpc_meta_layout *layout,
                           struct cn_hpc_section *sections, struct cn_error *err)
{
    struct cn_hpc_section *section = &sections[CN_HPC_GENERAL];

    if (!begin_section(out, section, err) || !write_general(out, w->db, err))
        return false;
    end_section(out, section);

    section = &sections[CN_HPC_ID_NAMES];
    if (!begin_section(out, section, err) || !write_id_names(out, &w->db->kinds, err))
        return false;
    end_section(out, section);

    section = &sections[CN_HPC_METRICS];
    if (!begin_section(out, section, err) ||
        !cn_hpc_metrics_write(out, &w->db->metrics, err))
        return false;
    end_section(out, section);
    return write_tables(out, w, layout, sections, err) && cn_out_pad(out, 8, err);
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
