#include "formats/hpctoolkit/v4/read/meta_reader.h"

#include <inttypes.h>

#include "base/arena.h"
#include "model/contexts/identity.h"

bool cn_hpc_meta_table(struct cn_hpc_span section, const char *what, uint64_t least,
                       struct cn_hpc_table *out, struct cn_error *err)
{
    struct cn_hpc_table_header head;

    if (!cn_hpc_table_header_decode(section.bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT,
                       "section of %s at 0x%" PRIx64
                       " is too short for its header: %zu bytes",
                       what, section.off, section.bytes.len);
    return cn_hpc_table_open(section,
                             &(struct cn_hpc_array){.what = what,
                                                    .off = head.array_off,
                                                    .count = head.count,
                                                    .stride = head.record_len,
                                                    .least = least},
                             out, err);
}

bool cn_hpc_meta_is_draft(const struct cn_hpc_sections *sections, bool *out,
                          struct cn_error *err)
{
    struct cn_hpc_span section = sections->list[CN_HPC_METRICS];
    struct cn_hpc_metrics_header head;

    if (!cn_hpc_metrics_header_decode(section.bytes, &head))
        return cn_hpc_section_too_short(sections, CN_HPC_METRICS, err);
    *out = head.metric_len == CN_HPC_DRAFT_METRIC_LEN;
    return true;
}

static bool find_roots(struct cn_hpc_meta *meta, struct cn_hpc_span section,
                       struct cn_error *err)
{
    struct cn_hpc_draft_contexts_header head;

    if (!cn_hpc_draft_contexts_header_decode(section.bytes, &head))
        return cn_hpc_section_too_short(&meta->sections, CN_HPC_CONTEXTS, err);
    if (head.roots_len == 0)
        return true;
    if (!cn_hpc_span_slice(section, head.roots_off, head.roots_len, &meta->roots.bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "root contexts of %" PRIu64 " bytes at 0x%" PRIx64
                       " do not fit their section",
                       head.roots_len, head.roots_off);
    meta->roots.off = head.roots_off;
    return true;
}

static bool find_entries(struct cn_hpc_meta *meta, struct cn_hpc_span section,
                         struct cn_error *err)
{
    struct cn_hpc_contexts_header head;

    if (!cn_hpc_contexts_header_decode(section.bytes, &head))
        return cn_hpc_section_too_short(&meta->sections, CN_HPC_CONTEXTS, err);
    return cn_hpc_table_open(section,
                             &(struct cn_hpc_array){.what = "entry points",
                                                    .off = head.entries_off,
                                                    .count = head.entry_count,
                                                    .stride = head.entry_len,
                                                    .least = cn_hpc_entry_size},
                             &meta->entries, err);
}

bool cn_hpc_meta_open(struct cn_bytes file, struct cn_hpc_meta *out, struct cn_error *err)
{
    struct cn_hpc_meta meta = {0};
    const struct cn_hpc_span *list = meta.sections.list;

    if (!cn_hpc_sections_open(cn_content_of(file), &cn_hpc_meta_kind, &meta.sections,
                              err) ||
        !cn_hpc_meta_is_draft(&meta.sections, &meta.is_draft, err) ||
        !cn_hpc_meta_table(list[CN_HPC_MODULES], "modules", cn_hpc_module_size,
                           &meta.modules, err) ||
        !cn_hpc_meta_table(list[CN_HPC_FILES], "files", cn_hpc_source_file_size,
                           &meta.files, err) ||
        !cn_hpc_meta_table(list[CN_HPC_FUNCTIONS], "functions", cn_hpc_function_size,
                           &meta.functions, err))
        return false;
    if (meta.is_draft ? !find_roots(&meta, list[CN_HPC_CONTEXTS], err)
                      : !find_entries(&meta, list[CN_HPC_CONTEXTS], err))
        return false;
    *out = meta;
    return true;
}

bool cn_hpc_meta_title(const struct cn_hpc_meta *meta, const char **title,
                       const char **description, struct cn_error *err)
{
    struct cn_hpc_span section = meta->sections.list[CN_HPC_GENERAL];
    struct cn_hpc_general_header head;
    const char *name;

    if (!cn_hpc_general_header_decode(section.bytes, &head))
        return cn_hpc_section_too_short(&meta->sections, CN_HPC_GENERAL, err);
    if (!cn_hpc_span_string(section, head.title_off, "title", &name, err) ||
        !cn_hpc_span_string(section, head.description_off, "description", description,
                            err))
        return false;
    *title = name;
    return true;
}

bool cn_hpc_meta_kinds(const struct cn_hpc_meta *meta, struct cn_arena *arena,
                       struct cn_kinds *out, struct cn_error *err)
{
    struct cn_hpc_span section = meta->sections.list[CN_HPC_ID_NAMES];
    struct cn_hpc_id_names_header head;
    struct cn_hpc_name_pointer pointer;
    struct cn_hpc_table names;
    const char **list;

    if (!cn_hpc_id_names_header_decode(section.bytes, &head))
        return cn_hpc_section_too_short(&meta->sections, CN_HPC_ID_NAMES, err);
    if (!cn_hpc_table_open(section,
                           &(struct cn_hpc_array){.what = "names of kinds",
                                                  .off = head.names_off,
                                                  .count = head.kind_count,
                                                  .stride = cn_hpc_name_pointer_size,
                                                  .least = cn_hpc_name_pointer_size},
                           &names, err))
        return false;
    list = cn_arena_alloc(arena, names.count, sizeof(*list));
    for (uint32_t i = 0; i < names.count; i++)
        if (!cn_hpc_name_pointer_decode(cn_hpc_table_at(&names, i), &pointer) ||
            !cn_hpc_span_string(section, pointer.name_off, "name of a kind", &list[i],
                                err))
            return false;
    *out = (struct cn_kinds){list, names.count};
    return true;
}

bool cn_hpc_meta_module(const struct cn_hpc_meta *meta, uint32_t index,
                        struct cn_module *out, struct cn_error *err)
{
    struct cn_hpc_module record;
    const char *path;

    if (!cn_hpc_module_decode(cn_hpc_table_at(&meta->modules, index), &record) ||
        !cn_hpc_span_string(meta->sections.list[CN_HPC_STRINGS], record.path_off, "path",
                            &path, err))
        return cn_fail_in(err, "module %" PRIu32 " at 0x%" PRIx64, index,
                          cn_hpc_table_off(&meta->modules, index));
    out->path = path;
    return true;
}

bool cn_hpc_meta_file(const struct cn_hpc_meta *meta, uint32_t index,
                      struct cn_source_file *out, struct cn_error *err)
{
    struct cn_hpc_source_file record;
    const char *path;

    if (!cn_hpc_source_file_decode(cn_hpc_table_at(&meta->files, index), &record) ||
        !cn_hpc_span_string(meta->sections.list[CN_HPC_STRINGS], record.path_off, "path",
                            &path, err))
        return cn_fail_in(err, "file %" PRIu32 " at 0x%" PRIx64, index,
                          cn_hpc_table_off(&meta->files, index));
    *out = (struct cn_source_file){.path = path,
                                   .is_copied = record.flags & CN_HPC_FILE_COPIED};
    return true;
}

bool cn_hpc_meta_function(const struct cn_hpc_meta *meta, uint32_t index,
                          struct cn_function *out, struct cn_error *err)
{
    struct cn_hpc_function record;
    struct cn_function function = {.name = ""};

    if (!cn_hpc_function_decode(cn_hpc_table_at(&meta->functions, index), &record) ||
        (record.name_off != 0 &&
         !cn_hpc_span_string(meta->sections.list[CN_HPC_STRINGS], record.name_off, "name",
                             &function.name, err)) ||
        !cn_hpc_table_find_optional(&meta->modules, record.module_off, "module",
                                    &function.module, err) ||
        !cn_hpc_table_find_optional(&meta->files, record.file_off, "file", &function.file,
                                    err))
        return cn_fail_in(err, "function %" PRIu32 " at 0x%" PRIx64, index,
                          cn_hpc_table_off(&meta->functions, index));
    function.offset = record.entry_off;
    function.line = record.line;
    *out = function;
    return true;
}
