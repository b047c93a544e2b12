#include <stdlib.h>
#include <string.h>

#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/write/writing.h"

static void add_row(struct cn_markup *m, const char *element, int64_t id,
                    const char *name)
{
    cn_markup_add(m, "<");
    cn_markup_add(m, element);
    cn_markup_number(m, "i", id);
    cn_markup_attribute(m, "n", name);
}

static void write_kinds(struct cn_hpc_xml_writing *w)
{
    cn_markup_add(&w->markup, "<IdentifierNameTable>\n");
    for (size_t i = 0; i < w->db->kinds.count; i++) {
        add_row(&w->markup, "Identifier", (int64_t)i, w->db->kinds.list[i]);
        cn_markup_add(&w->markup, "/>\n");
    }
    cn_markup_add(&w->markup, "</IdentifierNameTable>\n");
}

static void write_times(struct cn_hpc_xml_writing *w)
{
    struct cn_markup *m = &w->markup;

    cn_markup_add(m, "<TraceDBTable>\n");
    if (w->db->has_timelines && !w->options->without_timelines) {
        cn_markup_add(m, "<TraceDB i=\"0\"");
        /* Without samples, some writers leave a range that is none. */
        if (w->db->begin_ns <= w->db->end_ns && w->db->end_ns <= INT64_MAX) {
            cn_markup_number(m, "db-min-time", (int64_t)w->db->begin_ns);
            cn_markup_number(m, "db-max-time", (int64_t)w->db->end_ns);
        }
        cn_markup_add(m, " u=\"1000000000\"/>\n");
    }
    cn_markup_add(m, "</TraceDBTable>\n");
}

static bool write_modules(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    struct cn_markup *m = &w->markup;

    cn_markup_add(m, "<LoadModuleTable>\n");
    add_row(m, "LoadModule", CN_HPC_XML_UNKNOWN_MODULE_ID, CN_HPC_XML_UNKNOWN_MODULE);
    cn_markup_add(m, "/>\n");
    add_row(m, "LoadModule", CN_HPC_XML_NO_MODULE_ID, CN_HPC_XML_NO_MODULE);
    cn_markup_add(m, "/>\n");
    for (uint32_t i = 0; i < w->db->module_count; i++) {
        struct cn_module module;

        if (!cn_database_module(w->db, i, &module, err) || !cn_markup_flush(m, err))
            return false;
        add_row(m, "LoadModule", (int64_t)i + CN_HPC_XML_FIRST_MODULE, module.path);
        cn_markup_add(m, "/>\n");
    }
    cn_markup_add(m, "</LoadModuleTable>\n");
    return true;
}

static bool write_files(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    struct cn_markup *m = &w->markup;
    struct cn_text path = {0};
    bool ok = true;

    cn_markup_add(m, "<FileTable>\n");
    add_row(m, "File", CN_HPC_XML_UNKNOWN_FILE_ID, CN_HPC_XML_UNKNOWN_FILE);
    cn_markup_add(m, "/>\n");
    for (uint32_t i = 0; ok && i < w->db->file_count; i++) {
        struct cn_source_file file = {0};

        ok = cn_database_file(w->db, i, &file, err) && cn_markup_flush(m, err);
        if (!ok)
            break;
        cn_text_clear(&path);
        cn_text_printf(&path, "%s%s", file.is_copied ? "./" : "", file.path);
        add_row(m, "File", i, cn_text_str(&path));
        cn_markup_add(m, "/>\n");
    }
    cn_markup_add(m, "</FileTable>\n");
    cn_text_done(&path);
    return ok;
}

static void add_fake(struct cn_markup *m, int64_t id, const char *name)
{
    add_row(m, "Procedure", id, name);
    cn_markup_add(m, " v=\"0\" f=\"1\"/>\n");
}

/* "<unknown procedure> 0x1a86d [libgomp.so.1.0.0]" */
static bool write_address(struct cn_hpc_xml_writing *w, int64_t id,
                          const struct cn_hpc_xml_address *address, struct cn_error *err)
{
    struct cn_text name = {0};
    struct cn_module module;
    const char *slash;

    if (!cn_database_module(w->db, address->module, &module, err))
        return false;
    slash = strrchr(module.path, '/');
    cn_text_printf(&name, "%s 0x%llx [%s]", CN_HPC_XML_UNKNOWN_PROCEDURE,
                   (unsigned long long)address->offset, slash ? slash + 1 : module.path);
    add_row(&w->markup, "Procedure", id, cn_text_str(&name));
    cn_markup_address(&w->markup, "v", address->offset);
    cn_markup_add(&w->markup, " f=\"1\"/>\n");
    cn_text_done(&name);
    return true;
}

static bool write_functions(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    struct cn_markup *m = &w->markup;

    for (uint32_t i = 0; i < w->db->function_count; i++) {
        struct cn_function function;

        if (!cn_database_function(w->db, i, &function, err) || !cn_markup_flush(m, err))
            return false;
        add_row(m, "Procedure", (int64_t)i + CN_HPC_XML_FIRST_FUNCTION, function.name);
        cn_markup_address(m, "v", function.offset);
        cn_markup_add(m, "/>\n");
    }
    return true;
}

static bool write_procedures(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    struct cn_markup *m = &w->markup;
    int64_t next = (int64_t)w->db->function_count + CN_HPC_XML_FIRST_FUNCTION;

    cn_markup_add(m, "<ProcedureTable>\n");
    add_fake(m, CN_HPC_XML_PARTIAL_PROCEDURE, CN_HPC_XML_PARTIAL_ROOT);
    add_fake(m, CN_HPC_XML_PROGRAM_PROCEDURE, CN_HPC_XML_PROGRAM_ROOT);
    add_fake(m, CN_HPC_XML_THREAD_PROCEDURE, CN_HPC_XML_THREAD_ROOT);
    add_fake(m, CN_HPC_XML_IDLE_PROCEDURE, CN_HPC_XML_NO_ACTIVITY);
    add_fake(m, CN_HPC_XML_UNKNOWN_FUNCTION, CN_HPC_XML_UNKNOWN_PROCEDURE);
    if (!write_functions(w, err))
        return false;
    for (size_t i = 0; i < w->address_count; i++)
        if (!write_address(w, next++, &w->addresses[i], err) || !cn_markup_flush(m, err))
            return false;
    for (size_t i = 0; i < w->entries.count; i++)
        add_fake(m, next++, w->entries.list[i]);
    cn_markup_add(m, "</ProcedureTable>\n");
    return true;
}

bool cn_hpc_xml_tables_write(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    write_kinds(w);
    if (!cn_hpc_xml_columns_write(w, err))
        return false;
    write_times(w);
    return write_modules(w, err) && write_files(w, err) && write_procedures(w, err);
}
