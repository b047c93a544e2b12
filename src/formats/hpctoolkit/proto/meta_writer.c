#include "formats/hpctoolkit/proto/meta_writer.h"

#include <inttypes.h>

#include "formats/hpctoolkit/tree_writer.h"

static bool write_string(struct cn_hpc_proto_writing *w, const char *text,
                         struct cn_error *err)
{
    return cn_out_write(&w->out, text, strlen(text) + 1, err);
}

static bool write_general(struct cn_hpc_proto_writing *w, struct cn_error *err)
{
    const struct cn_kinds *kinds = &w->db->kinds;
    struct cn_hpc_proto_kinds_header head = {(uint16_t)kinds->count};

    if (!write_string(w, w->db->title, err) ||
        !CN_OUT_RECORD(&w->out, cn_hpc_proto_kinds_header, &head, err))
        return false;
    for (size_t i = 0; i < kinds->count; i++)
        if (!write_string(w, kinds->list[i], err))
            return false;
    cn_write_lose(w->options, "description of the database",
                  w->db->description[0] != '\0');
    return true;
}

static bool is_copied(const struct cn_hpc_proto_writing *w,
                      const struct cn_source_file *file)
{
    return file->is_copied && !w->options->without_sources &&
           strncmp(file->path, CN_HPC_PROTO_COPIES, strlen(CN_HPC_PROTO_COPIES)) == 0;
}

/* Paths of copied files are relative to src/. */
static const char *path_of(const void *arg, const struct cn_source_file *file)
{
    return file->path + (is_copied(arg, file) ? strlen(CN_HPC_PROTO_COPIES) : 0);
}

const char *cn_hpc_proto_root_name(const struct cn_context *entry)
{
    const char *usual = cn_entry_name(entry->entry);
    const char *name = entry->entry_name ? entry->entry_name : "";

    return usual && strcmp(usual, name) == 0 ? cn_hpc_entry_function(entry->entry) : name;
}

/* Unusual entry points first: readers recognise the usual ones at the end of the table. */
static bool collect_entries(struct cn_hpc_proto_writing *w, bool is_usual,
                            struct cn_error *err)
{
    struct cn_context_cursor cursor;
    struct cn_context root;
    enum cn_step step;
    uint16_t entry;

    if (!cn_context_children(w->db, NULL, &cursor, err))
        return false;
    while ((step = cn_context_next(w->db, &cursor, &root, err)) == CN_ITEM) {
        if (root.kind != CN_CONTEXT_ENTRY)
            continue;
        const char *name = cn_hpc_proto_root_name(&root);
        if (cn_hpc_entry_find(name, &entry) != is_usual)
            continue;
        w->odd_entry_count += !is_usual;
        (void)cn_names_add(&w->entry_functions, name);
        (void)cn_hpc_strings_add(&w->strings, name);
    }
    return step == CN_END;
}

static bool write_strings(struct cn_hpc_proto_writing *w, struct cn_error *err)
{
    w->strings =
        (struct cn_hpc_strings){.end_off = w->out.end_off, .takes_any_bytes = true};
    return cn_hpc_strings_add_tables(&w->strings, w->db, path_of, w, err) &&
           collect_entries(w, false, err) && collect_entries(w, true, err) &&
           cn_hpc_strings_write(&w->strings, &w->out, err);
}

static bool write_table_head(struct cn_hpc_proto_writing *w, uint64_t count,
                             uint16_t record_len, uint64_t *records_off,
                             struct cn_error *err)
{
    struct cn_hpc_proto_table head = {(uint32_t)count, record_len};

    if (count > UINT32_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%" PRIu64 " functions, can write %" PRIu32,
                       count, UINT32_MAX);
    if (!CN_OUT_RECORD(&w->out, cn_hpc_proto_table, &head, err))
        return false;
    *records_off = w->out.end_off;
    return true;
}

static bool write_modules(struct cn_hpc_proto_writing *w, struct cn_error *err)
{
    if (!write_table_head(w, w->db->module_count, cn_hpc_proto_module_size,
                          &w->modules_off, err))
        return false;
    for (uint32_t i = 0; i < w->db->module_count; i++) {
        struct cn_hpc_proto_module record = {0};
        struct cn_module module;

        if (!cn_database_module(w->db, i, &module, err))
            return false;
        record.path_off = cn_hpc_strings_add(&w->strings, module.path);
        if (!CN_OUT_RECORD(&w->out, cn_hpc_proto_module, &record, err))
            return false;
    }
    return true;
}

static bool write_files(struct cn_hpc_proto_writing *w, struct cn_error *err)
{
    if (!write_table_head(w, w->db->file_count, cn_hpc_proto_source_file_size,
                          &w->files_off, err))
        return false;
    for (uint32_t i = 0; i < w->db->file_count; i++) {
        struct cn_hpc_proto_source_file record = {0};
        struct cn_source_file file;

        if (!cn_database_file(w->db, i, &file, err))
            return false;
        record.path_off = cn_hpc_strings_add(&w->strings, path_of(w, &file));
        record.flags = is_copied(w, &file) ? CN_HPC_FILE_COPIED : 0;
        if (!CN_OUT_RECORD(&w->out, cn_hpc_proto_source_file, &record, err))
            return false;
    }
    return true;
}

static bool write_function(struct cn_hpc_proto_writing *w,
                           const struct cn_function *function, struct cn_error *err)
{
    struct cn_hpc_proto_function record = {
        .name_off = cn_hpc_strings_add(&w->strings, function->name),
        .entry_off = CN_HPC_PROTO_NO_ENTRY,
    };

    if (!cn_hpc_function_check(w->db, function, err))
        return false;
    if (function->module != CN_NONE) {
        record.module_off =
            w->modules_off + (uint64_t)function->module * cn_hpc_proto_module_size;
        record.entry_off = function->offset;
    }
    if (function->file != CN_NONE) {
        record.file_off =
            w->files_off + (uint64_t)function->file * cn_hpc_proto_source_file_size;
        record.line = function->line;
    }
    return CN_OUT_RECORD(&w->out, cn_hpc_proto_function, &record, err);
}

static bool write_functions(struct cn_hpc_proto_writing *w, struct cn_error *err)
{
    struct cn_function function;

    if (!write_table_head(w, (uint64_t)w->db->function_count + w->entry_functions.count,
                          cn_hpc_proto_function_size, &w->functions_off, err))
        return false;
    for (uint32_t i = 0; i < w->db->function_count; i++)
        if (!cn_database_function(w->db, i, &function, err) ||
            !write_function(w, &function, err))
            return cn_fail_in(err, "function %" PRIu32, i);
    for (size_t i = 0; i < w->entry_functions.count; i++) {
        function = (struct cn_function){
            .name = w->entry_functions.list[i], .module = CN_NONE, .file = CN_NONE};
        if (!write_function(w, &function, err))
            return false;
    }
    return true;
}

typedef bool (*section_fn)(struct cn_hpc_proto_writing *w, struct cn_error *err);

/* In the order in which they refer to each other. */
static const struct {
    enum cn_hpc_meta_section id;
    section_fn write;
} sections[CN_HPC_PROTO_SECTIONS] = {
    {CN_HPC_GENERAL, write_general},
    {CN_HPC_METRICS, cn_hpc_proto_metrics_write},
    {CN_HPC_STRINGS, write_strings},
    {CN_HPC_MODULES, write_modules},
    {CN_HPC_FILES, write_files},
    {CN_HPC_FUNCTIONS, write_functions},
    {CN_HPC_CONTEXTS, cn_hpc_proto_contexts_write},
};

static bool write_sections(struct cn_hpc_proto_writing *w,
                           struct cn_hpc_proto_section *heads, struct cn_error *err)
{
    for (size_t i = 0; i < CN_HPC_PROTO_SECTIONS; i++) {
        struct cn_hpc_proto_section *head = &heads[sections[i].id];

        if (!cn_out_pad(&w->out, CN_HPC_PROTO_ALIGN, err))
            return false;
        head->off = w->out.end_off;
        if (!sections[i].write(w, err))
            return false;
        head->len = w->out.end_off - head->off;
    }
    return true;
}

static bool write_header(struct cn_hpc_proto_writing *w,
                         const struct cn_hpc_proto_section *heads, struct cn_error *err)
{
    struct cn_hpc_proto_header version = {CN_HPC_PROTO_MAJOR, CN_HPC_PROTO_MINOR,
                                          CN_HPC_PROTO_SECTIONS};
    uint8_t bytes[cn_hpc_proto_header_size +
                  CN_HPC_PROTO_SECTIONS * cn_hpc_proto_section_size];
    uint8_t *at = bytes + cn_hpc_proto_header_size;

    cn_hpc_proto_header_encode(&version, bytes);
    memcpy(bytes, CN_HPC_PROTO_MAGIC, CN_HPC_PROTO_MAGIC_LEN);
    for (size_t i = 0; i < CN_HPC_META_SECTION_COUNT; i++) {
        if (i == CN_HPC_ID_NAMES)
            continue;
        cn_hpc_proto_section_encode(&heads[i], at);
        at += cn_hpc_proto_section_size;
    }
    return cn_out_write_at(&w->out, 0, bytes, sizeof(bytes), err);
}

static bool write_file(struct cn_hpc_proto_writing *w, struct cn_error *err)
{
    struct cn_hpc_proto_section heads[CN_HPC_META_SECTION_COUNT] = {0};
    uint64_t off;

    return cn_out_open_at(&w->out, w->dir, "meta.db", err) &&
           cn_out_reserve(&w->out,
                          cn_hpc_proto_header_size +
                              CN_HPC_PROTO_SECTIONS * cn_hpc_proto_section_size,
                          &off, err) &&
           write_sections(w, heads, err) && write_header(w, heads, err) &&
           cn_out_write(&w->out, CN_HPC_PROTO_FOOTER, CN_HPC_PROTO_FOOTER_LEN, err) &&
           cn_out_close(&w->out, err);
}

bool cn_hpc_proto_meta_write(struct cn_hpc_proto_writing *w, struct cn_error *err)
{
    bool ok = write_file(w, err) || cn_fail_in(err, "meta.db");

    cn_out_abandon(&w->out);
    cn_hpc_strings_done(&w->strings);
    cn_names_done(&w->entry_functions);
    if (!ok)
        return false;
    cn_write_lose(w->options, "source lines of contexts that name no file",
                  w->no_file_count);
    cn_write_lose(w->options, "addresses of contexts that name no module",
                  w->no_module_count);
    cn_write_lose(w->options,
                  "propagation masks that differ from the relation of a context",
                  w->masked_count);
    cn_write_lose(w->options,
                  "entry points of other kinds or names: written as functions",
                  w->odd_entry_count);
    return true;
}
