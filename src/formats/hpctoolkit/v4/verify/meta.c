#include <sys/stat.h>

#include "base/text.h"
#include "formats/hpctoolkit/v4/verify/parts.h"

static void check_general(struct cn_hpc_v4_check *v)
{
    struct cn_hpc_span section = v->meta.sections.list[CN_HPC_GENERAL];
    struct cn_hpc_general_header head;

    if (!cn_hpc_general_header_decode(section.bytes, &head)) {
        (void)cn_hpc_v4_check_too_short(v, &v->meta, CN_HPC_GENERAL);
        return;
    }
    (void)cn_hpc_v4_check_string(v, section, head.title_off, "title");
    (void)cn_hpc_v4_check_string(v, section, head.description_off, "description");
}

static bool decode_id_names(struct cn_bytes bytes, struct cn_hpc_id_names_header *out)
{
    uint8_t padded[cn_hpc_id_names_header_size] = {0};

    if (bytes.len < CN_HPC_ID_NAMES_HEADER_MIN)
        return false;
    memcpy(padded, bytes.ptr, bytes.len < sizeof(padded) ? bytes.len : sizeof(padded));
    return cn_hpc_id_names_header_decode((struct cn_bytes){padded, sizeof(padded)}, out);
}

static void check_id_names(struct cn_hpc_v4_check *v)
{
    struct cn_hpc_span section = v->meta.sections.list[CN_HPC_ID_NAMES];
    struct cn_hpc_id_names_header head;
    struct cn_hpc_table names;
    struct cn_hpc_name_pointer name;

    if (!decode_id_names(section.bytes, &head)) {
        (void)cn_hpc_v4_check_too_short(v, &v->meta, CN_HPC_ID_NAMES);
        return;
    }
    v->c.kind_count = head.kind_count;
    if (!cn_hpc_v4_check_table(
            v, section,
            &(struct cn_hpc_array){"kind names", head.names_off, head.kind_count,
                                   cn_hpc_name_pointer_size, cn_hpc_name_pointer_size},
            &names))
        return;
    for (uint32_t i = 0; i < names.count; i++)
        if (cn_hpc_name_pointer_decode(cn_hpc_table_at(&names, i), &name))
            (void)cn_hpc_v4_check_string(v, section, name.name_off, "kind name");
}

static bool open_table(struct cn_hpc_v4_check *v, enum cn_hpc_meta_section which,
                       const char *what, uint64_t least, struct cn_hpc_table *out)
{
    struct cn_hpc_span section = v->meta.sections.list[which];
    struct cn_hpc_table_header head;

    if (!cn_hpc_table_header_decode(section.bytes, &head))
        return !cn_hpc_v4_check_too_short(v, &v->meta, which);
    return cn_hpc_v4_check_table(
        v, section,
        &(struct cn_hpc_array){what, head.array_off, head.count, head.record_len, least},
        out);
}

static void check_reserved(struct cn_hpc_v4_check *v, uint64_t off, uint32_t flags,
                           uint32_t known, const char *what)
{
    if (flags & ~known)
        cn_findings_warn(&v->c.f, "reserved-bits", off,
                         "%s: reserved bits of flags 0x%x are set", what, flags);
}

static void check_modules(struct cn_hpc_v4_check *v, struct cn_hpc_table *table)
{
    struct cn_hpc_module record;

    if (!open_table(v, CN_HPC_MODULES, "modules", cn_hpc_module_size, table))
        return;
    for (uint32_t i = 0; i < table->count; i++) {
        if (!cn_hpc_module_decode(cn_hpc_table_at(table, i), &record))
            continue;
        check_reserved(v, cn_hpc_table_off(table, i), record.flags, 0, "module");
        (void)cn_hpc_v4_check_string(v, v->meta.sections.list[CN_HPC_STRINGS],
                                     record.path_off, "module path");
    }
}

/* True if a relative path does not leave its folder. */
static bool stays_inside(const char *path)
{
    if (path[0] == '/')
        return false;
    while (*path != '\0') {
        size_t len = strcspn(path, "/");

        if (len == 2 && path[0] == '.' && path[1] == '.')
            return false;
        path += len + (path[len] == '/');
    }
    return true;
}

static void check_copied(struct cn_hpc_v4_check *v, uint64_t off, const char *path)
{
    struct cn_text full = {0};
    struct stat st;

    if (!stays_inside(path)) {
        cn_findings_error(&v->c.f, "copied-path", off,
                          "copied file %.200s lies outside the database", path);
        return;
    }
    if (!v->dir)
        return;
    cn_text_printf(&full, "%s/%s", v->dir, path);
    if (stat(cn_text_str(&full), &st) != 0 || !S_ISREG(st.st_mode))
        cn_findings_warn(&v->c.f, "copied-missing", off,
                         "copied file %.200s is not in the database", path);
    cn_text_done(&full);
}

static void check_files(struct cn_hpc_v4_check *v, struct cn_hpc_table *table)
{
    struct cn_hpc_source_file record;

    if (!open_table(v, CN_HPC_FILES, "files", cn_hpc_source_file_size, table))
        return;
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t off = cn_hpc_table_off(table, i);
        const char *path;

        if (!cn_hpc_source_file_decode(cn_hpc_table_at(table, i), &record))
            continue;
        check_reserved(v, off, record.flags, CN_HPC_FILE_COPIED, "file");
        path = cn_hpc_v4_check_string(v, v->meta.sections.list[CN_HPC_STRINGS],
                                      record.path_off, "file path");
        if (path && record.flags & CN_HPC_FILE_COPIED)
            check_copied(v, off, path);
    }
}

static void check_function(struct cn_hpc_v4_check *v,
                           const struct cn_hpc_function *record, uint64_t off)
{
    if (record->name_off != 0)
        (void)cn_hpc_v4_check_string(v, v->meta.sections.list[CN_HPC_STRINGS],
                                     record->name_off, "function name");
    else
        cn_findings_warn(&v->c.f, "function-name", off,
                         "no name: hpcviewer cannot read a name at 0");
    if (!record->name_off && !record->module_off && !record->file_off)
        cn_findings_error(&v->c.f, "function-empty", off,
                          "neither name, module nor file");
    check_reserved(v, off, record->flags, 0, "function");
}

static void check_functions(struct cn_hpc_v4_check *v, const struct cn_hpc_table *modules,
                            const struct cn_hpc_table *files, struct cn_hpc_table *table)
{
    struct cn_hpc_function record;

    if (!open_table(v, CN_HPC_FUNCTIONS, "functions", cn_hpc_function_size, table))
        return;
    for (uint32_t i = 0; i < table->count; i++) {
        uint64_t off = cn_hpc_table_off(table, i);

        if (!cn_hpc_function_decode(cn_hpc_table_at(table, i), &record))
            continue;
        check_function(v, &record, off);
        if (record.module_off != 0)
            cn_hpc_check_pointer(&v->c.f, "pointer-element", modules, record.module_off,
                                 off, "module");
        if (record.file_off != 0)
            cn_hpc_check_pointer(&v->c.f, "pointer-element", files, record.file_off, off,
                                 "file");
    }
}

void cn_hpc_v4_check_meta(struct cn_hpc_v4_check *v)
{
    struct cn_hpc_table modules = {0}, files = {0}, functions = {0};

    check_general(v);
    check_id_names(v);
    cn_hpc_v4_check_metrics(v);
    check_modules(v, &modules);
    check_files(v, &files);
    check_functions(v, &modules, &files, &functions);
    cn_hpc_v4_check_contexts(v, &modules, &files, &functions);
}
