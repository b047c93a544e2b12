#include "formats/hpctoolkit/proto/meta_reader.h"

#include <inttypes.h>

const char *const cn_hpc_proto_section_names[CN_HPC_PROTO_SECTION_COUNT] = {
    [CN_HPC_PROTO_GENERAL] = "General Properties",
    [CN_HPC_PROTO_KINDS] = "Hierarchical Identifiers",
    [CN_HPC_PROTO_METRICS] = "Performance Metrics",
    [CN_HPC_PROTO_CONTEXTS] = "Context Tree",
    [CN_HPC_PROTO_STRINGS] = "Context Attribute Strings",
    [CN_HPC_PROTO_MODULES] = "Application Binaries",
    [CN_HPC_PROTO_FILES] = "Source Files",
    [CN_HPC_PROTO_FUNCTIONS] = "Functions",
};

bool cn_hpc_proto_meta_is(struct cn_bytes file)
{
    struct cn_bytes magic;

    return cn_bytes_slice(file, 0, CN_HPC_PROTO_MAGIC_LEN, &magic) &&
           memcmp(magic.ptr, CN_HPC_PROTO_MAGIC, CN_HPC_PROTO_MAGIC_LEN) == 0;
}

static uint64_t header_len(const struct cn_hpc_proto_meta *meta)
{
    return cn_hpc_proto_header_size +
           (uint64_t)meta->section_count * cn_hpc_proto_section_size;
}

static bool check_header(struct cn_hpc_proto_meta *meta, struct cn_error *err)
{
    struct cn_hpc_proto_header head;
    struct cn_bytes footer;

    if (meta->file.len == 0)
        return cn_fail(err, CN_ERR_FORMAT, "file is empty");
    if (!cn_hpc_proto_meta_is(meta->file))
        return cn_fail(err, CN_ERR_FORMAT,
                       "not a prototype's meta.db: does not start with %s",
                       CN_HPC_PROTO_MAGIC);
    if (!cn_hpc_proto_header_decode(meta->file, &head))
        return cn_fail(err, CN_ERR_FORMAT, "header is cut off after %zu bytes",
                       meta->file.len);
    if (head.major != CN_HPC_PROTO_MAJOR)
        return cn_fail(err, CN_ERR_VERSION, "version %u.%u, can read %d.x", head.major,
                       head.minor, CN_HPC_PROTO_MAJOR);
    if (head.section_count != CN_HPC_PROTO_SECTIONS &&
        head.section_count != CN_HPC_PROTO_SECTIONS_OF_WRITER)
        return cn_fail(err, CN_ERR_FORMAT, "%u sections, can read %d or %d",
                       head.section_count, CN_HPC_PROTO_SECTIONS,
                       CN_HPC_PROTO_SECTIONS_OF_WRITER);
    meta->section_count = head.section_count;
    if (meta->file.len < header_len(meta))
        return cn_fail(err, CN_ERR_FORMAT,
                       "file is incomplete: %zu bytes, at least %" PRIu64 " needed",
                       meta->file.len, header_len(meta));
    meta->has_footer =
        meta->file.len >= header_len(meta) + CN_HPC_PROTO_FOOTER_LEN &&
        cn_bytes_slice(meta->file, meta->file.len - CN_HPC_PROTO_FOOTER_LEN,
                       CN_HPC_PROTO_FOOTER_LEN, &footer) &&
        (memcmp(footer.ptr, CN_HPC_PROTO_FOOTER, CN_HPC_PROTO_FOOTER_LEN) == 0 ||
         memcmp(footer.ptr, CN_HPC_PROTO_SWAPPED_FOOTER, CN_HPC_PROTO_FOOTER_LEN) == 0);
    if (meta->has_footer)
        meta->file.len -= CN_HPC_PROTO_FOOTER_LEN;
    return true;
}

/* The header of each section; that of kinds is empty if there is none. */
static void read_headers(const struct cn_hpc_proto_meta *meta,
                         struct cn_hpc_proto_section out[CN_HPC_PROTO_SECTION_COUNT])
{
    uint64_t at = cn_hpc_proto_header_size;
    struct cn_bytes bytes;

    for (size_t i = 0; i < CN_HPC_PROTO_SECTION_COUNT; i++) {
        out[i] = (struct cn_hpc_proto_section){0};
        if (i == CN_HPC_PROTO_KINDS && meta->section_count == CN_HPC_PROTO_SECTIONS)
            continue;
        if (cn_bytes_slice(meta->file, at, cn_hpc_proto_section_size, &bytes))
            (void)cn_hpc_proto_section_decode(bytes, &out[i]);
        at += cn_hpc_proto_section_size;
    }
}

/* The writer that stops after the metrics leaves offsets that point into the header. */
static bool stops_after_metrics(const struct cn_hpc_proto_meta *meta,
                                const struct cn_hpc_proto_section *heads)
{
    for (size_t i = CN_HPC_PROTO_CONTEXTS; i < CN_HPC_PROTO_SECTION_COUNT; i++)
        if (heads[i].off >= header_len(meta))
            return false;
    return true;
}

static bool open_section(struct cn_hpc_proto_meta *meta, size_t i,
                         const struct cn_hpc_proto_section *head, struct cn_error *err)
{
    struct cn_hpc_span *section = &meta->sections[i];

    section->off = head->len == 0 ? 0 : head->off;
    if (cn_bytes_slice(meta->file, section->off, head->len, &section->bytes))
        return true;
    return cn_fail(err, CN_ERR_FORMAT,
                   "section %s of %" PRIu64 " bytes at 0x%" PRIx64
                   " does not fit the file of %zu",
                   cn_hpc_proto_section_names[i], head->len, head->off, meta->file.len);
}

bool cn_hpc_proto_frame_open(struct cn_bytes file, struct cn_hpc_proto_meta *out,
                             struct cn_error *err)
{
    struct cn_hpc_proto_section heads[CN_HPC_PROTO_SECTION_COUNT];
    struct cn_hpc_proto_meta meta = {.file = file};
    size_t count = CN_HPC_PROTO_SECTION_COUNT;

    if (!check_header(&meta, err))
        return false;
    read_headers(&meta, heads);
    meta.is_unfinished = stops_after_metrics(&meta, heads);
    if (meta.is_unfinished)
        count = CN_HPC_PROTO_CONTEXTS;
    for (size_t i = 0; i < count; i++)
        if (!open_section(&meta, i, &heads[i], err))
            return false;
    if (!cn_hpc_spans_check(meta.sections, cn_hpc_proto_section_names,
                            CN_HPC_PROTO_SECTION_COUNT, err))
        return false;
    *out = meta;
    return true;
}

bool cn_hpc_proto_table_open(struct cn_hpc_span section, const char *what, uint32_t least,
                             struct cn_hpc_table *out, struct cn_error *err)
{
    struct cn_hpc_proto_table head;

    if (!cn_hpc_proto_table_decode(section.bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT,
                       "section of %s at 0x%" PRIx64
                       " is too short for its header: %zu bytes",
                       what, section.off, section.bytes.len);
    return cn_hpc_table_open(section,
                             &(struct cn_hpc_array){what,
                                                    section.off + cn_hpc_proto_table_size,
                                                    head.count, head.record_len, least},
                             out, err);
}

bool cn_hpc_proto_module_at(const struct cn_hpc_proto_meta *meta, uint32_t index,
                            struct cn_module *out, struct cn_error *err)
{
    struct cn_hpc_proto_module record;
    const char *path;

    if (!cn_hpc_proto_module_decode(cn_hpc_table_at(&meta->modules, index), &record) ||
        !cn_hpc_span_string(meta->sections[CN_HPC_PROTO_STRINGS], record.path_off, "path",
                            &path, err))
        return cn_fail_in(err, "module %" PRIu32 " at 0x%" PRIx64, index,
                          cn_hpc_table_off(&meta->modules, index));
    out->path = path;
    return true;
}

static bool read_file(const struct cn_hpc_proto_meta *meta, uint32_t index,
                      struct cn_source_file *out, struct cn_error *err)
{
    struct cn_hpc_proto_source_file record;

    *out = (struct cn_source_file){0};
    if (!cn_hpc_proto_source_file_decode(cn_hpc_table_at(&meta->files, index), &record) ||
        !cn_hpc_span_string(meta->sections[CN_HPC_PROTO_STRINGS], record.path_off, "path",
                            &out->path, err))
        return cn_fail_in(err, "file %" PRIu32 " at 0x%" PRIx64, index,
                          cn_hpc_table_off(&meta->files, index));
    out->is_copied = record.flags & CN_HPC_PROTO_FILE_COPIED;
    return true;
}

bool cn_hpc_proto_file_at(const struct cn_hpc_proto_meta *meta, uint32_t index,
                          struct cn_source_file *out, struct cn_error *err)
{
    struct cn_source_file file;

    if (!read_file(meta, index, &file, err))
        return false;
    if (file.is_copied)
        file.path = meta->copied_paths[index];
    *out = file;
    return true;
}

bool cn_hpc_proto_function_at(const struct cn_hpc_proto_meta *meta, uint32_t index,
                              struct cn_function *out, struct cn_error *err)
{
    struct cn_hpc_proto_function record;
    struct cn_function function = {.name = ""};

    if (!cn_hpc_proto_function_decode(cn_hpc_table_at(&meta->functions, index),
                                      &record) ||
        (record.name_off != 0 &&
         !cn_hpc_span_string(meta->sections[CN_HPC_PROTO_STRINGS], record.name_off,
                             "name", &function.name, err)) ||
        !cn_hpc_table_find_optional(&meta->modules, record.module_off, "module",
                                    &function.module, err) ||
        !cn_hpc_table_find_optional(&meta->files, record.file_off, "file", &function.file,
                                    err))
        return cn_fail_in(err, "function %" PRIu32 " at 0x%" PRIx64, index,
                          cn_hpc_table_off(&meta->functions, index));
    /* Without a module or a file, offset and line are ignored. */
    if (function.module != CN_NONE && record.entry_off != CN_HPC_PROTO_NO_ENTRY)
        function.offset = record.entry_off;
    if (function.file != CN_NONE)
        function.line = record.line;
    *out = function;
    return true;
}

/* The paths of copied files, which are below src/. */
static bool make_paths(struct cn_hpc_proto_meta *meta, struct cn_arena *arena,
                       struct cn_error *err)
{
    uint64_t budget = (uint64_t)CN_HPC_PROTO_SHARING_MAX * meta->file.len;
    struct cn_source_file file;

    meta->copied_paths =
        cn_arena_alloc(arena, meta->files.count, sizeof(*meta->copied_paths));
    for (uint32_t i = 0; i < meta->files.count; i++) {
        if (!read_file(meta, i, &file, err))
            return false;
        if (!file.is_copied)
            continue;
        if (strlen(file.path) > budget)
            return cn_fail(err, CN_ERR_LIMIT,
                           "file %" PRIu32 " at 0x%" PRIx64
                           ": paths share their bytes more than %d times",
                           i, cn_hpc_table_off(&meta->files, i),
                           CN_HPC_PROTO_SHARING_MAX);
        budget -= strlen(file.path);
        meta->copied_paths[i] = cn_arena_printf(arena, "%s%s", CN_HPC_PROTO_COPIES,
                                                file.path + strspn(file.path, "/"));
    }
    return true;
}

static bool find_roots(struct cn_hpc_proto_meta *meta, struct cn_error *err)
{
    struct cn_hpc_span section = meta->sections[CN_HPC_PROTO_CONTEXTS];
    struct cn_hpc_proto_contexts_header head;

    if (!cn_hpc_proto_contexts_header_decode(section.bytes, &head))
        return cn_fail(err, CN_ERR_FORMAT,
                       "section of contexts at 0x%" PRIx64
                       " is too short for its header: %zu bytes",
                       section.off, section.bytes.len);
    meta->roots.off = section.off + cn_hpc_proto_contexts_header_size;
    if (!cn_bytes_slice(section.bytes, cn_hpc_proto_contexts_header_size, head.roots_len,
                        &meta->roots.bytes))
        return cn_fail(err, CN_ERR_FORMAT,
                       "root contexts of %" PRIu64 " bytes at 0x%" PRIx64
                       " do not fit their section of %zu",
                       head.roots_len, meta->roots.off, section.bytes.len);
    return true;
}

bool cn_hpc_proto_meta_open(struct cn_bytes file, struct cn_arena *arena,
                            struct cn_hpc_proto_meta *out, struct cn_error *err)
{
    struct cn_hpc_proto_meta meta;
    const struct cn_hpc_span *list = meta.sections;

    if (!cn_hpc_proto_frame_open(file, &meta, err))
        return false;
    if (!meta.is_unfinished) {
        if (!cn_hpc_proto_table_open(list[CN_HPC_PROTO_MODULES], "modules",
                                     cn_hpc_proto_module_size, &meta.modules, err) ||
            !cn_hpc_proto_table_open(list[CN_HPC_PROTO_FILES], "files",
                                     cn_hpc_proto_source_file_size, &meta.files, err) ||
            !cn_hpc_proto_table_open(list[CN_HPC_PROTO_FUNCTIONS], "functions",
                                     cn_hpc_proto_function_size, &meta.functions, err) ||
            !make_paths(&meta, arena, err) || !find_roots(&meta, err))
            return false;
    }
    *out = meta;
    return true;
}

static bool read_kinds(struct cn_hpc_span rest, struct cn_arena *arena,
                       struct cn_kinds *out, struct cn_error *err)
{
    struct cn_hpc_proto_kinds_header head;
    struct cn_bytes bytes;
    const char **list;

    if (!cn_hpc_span_take(&rest, cn_hpc_proto_kinds_header_size,
                          "number of identifier kinds", &bytes, err) ||
        !cn_hpc_proto_kinds_header_decode(bytes, &head))
        return false;
    if (head.kind_count > CN_KINDS_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%u identifier kinds, can read %d",
                       head.kind_count, CN_KINDS_MAX);
    list = cn_arena_alloc(arena, head.kind_count, sizeof(*list));
    for (size_t i = 0; i < head.kind_count; i++)
        if (!cn_hpc_span_take_string(&rest, "name of an identifier kind", &list[i], err))
            return false;
    *out = (struct cn_kinds){list, head.kind_count};
    return true;
}

bool cn_hpc_proto_general(const struct cn_hpc_proto_meta *meta, struct cn_arena *arena,
                          const char **title, const char **description,
                          struct cn_kinds *kinds, struct cn_error *err)
{
    struct cn_hpc_span rest = meta->sections[CN_HPC_PROTO_GENERAL];
    const char *name, *text = "";

    if (!cn_hpc_span_take_string(&rest, "title", &name, err))
        return false;
    if (meta->section_count == CN_HPC_PROTO_SECTIONS_OF_WRITER) {
        if (!cn_hpc_span_take_string(&rest, "description", &text, err))
            return false;
        rest = meta->sections[CN_HPC_PROTO_KINDS];
    }
    if (!read_kinds(rest, arena, kinds, err))
        return false;
    *title = name;
    *description = text;
    return true;
}
