#include "formats/hpctoolkit/xml/write/writer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/outdir.h"
#include "base/path.h"
#include "base/run/pool.h"
#include "formats/hpctoolkit/rooted.h"
#include "formats/hpctoolkit/sources.h"
#include "formats/hpctoolkit/sparse/writer.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/write/writing.h"

/* Begin a row, without its end. */
static void begin_row(struct cn_markup *m, const char *element, int64_t id,
                      const char *name)
{
    cn_markup_add(m, "<");
    cn_markup_add(m, element);
    cn_markup_number(m, "i", id);
    cn_markup_attribute(m, "n", name);
}

static void add_row(struct cn_markup *m, const char *element, int64_t id,
                    const char *name)
{
    begin_row(m, element, id, name);
    cn_markup_add(m, "/>\n");
}

static void write_kinds(struct cn_hpc_xml_writing *w)
{
    cn_markup_add(&w->markup, "<IdentifierNameTable>\n");
    for (size_t i = 0; i < w->db->kinds.count; i++)
        add_row(&w->markup, "Identifier", (int64_t)i, w->db->kinds.list[i]);
    cn_markup_add(&w->markup, "</IdentifierNameTable>\n");
}

static void write_times(struct cn_hpc_xml_writing *w)
{
    bool is_range = w->db->begin_ns <= w->db->end_ns && w->db->end_ns <= INT64_MAX;
    struct cn_markup *m = &w->markup;

    cn_markup_add(m, "<TraceDBTable>\n");
    if (w->db->has_timelines && !w->options->without_timelines) {
        cn_markup_add(m, "<TraceDB i=\"0\"");
        /* Without samples, some writers leave an empty range. */
        cn_write_lose(w->options, "range of times that ends before it begins", !is_range);
        if (is_range) {
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
    add_row(m, "LoadModule", CN_HPC_XML_NO_MODULE_ID, CN_HPC_XML_NO_MODULE);
    for (uint32_t i = 0; i < w->db->module_count; i++) {
        struct cn_module module;

        if (!cn_database_module(w->db, i, &module, err) || !cn_markup_flush(m, err))
            return false;
        add_row(m, "LoadModule", (int64_t)i + CN_HPC_XML_FIRST_MODULE, module.path);
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
    for (uint32_t i = 0; ok && i < w->db->file_count; i++) {
        struct cn_source_file file = {0};

        ok = cn_database_file(w->db, i, &file, err) && cn_markup_flush(m, err);
        if (!ok)
            break;
        cn_text_clear(&path);
        cn_text_printf(&path, "%s%s", file.is_copied ? "./" : "", file.path);
        add_row(m, "File", i, cn_text_str(&path));
    }
    cn_markup_add(m, "</FileTable>\n");
    cn_text_done(&path);
    return ok;
}

static void add_fake(struct cn_markup *m, int64_t id, const char *name)
{
    begin_row(m, "Procedure", id, name);
    cn_markup_add(m, " v=\"0\" f=\"1\"/>\n");
}

/* "<unknown procedure> 0x1a86d [libgomp.so.1.0.0]" */
static bool write_address(struct cn_hpc_xml_writing *w, int64_t id,
                          const struct cn_hpc_xml_address *address, struct cn_error *err)
{
    struct cn_module module;

    if (!cn_database_module(w->db, address->module, &module, err))
        return false;
    char *name =
        cn_strprintf("%s 0x%llx [%s]", CN_HPC_XML_UNKNOWN_PROCEDURE,
                     (unsigned long long)address->offset, cn_path_name(module.path));
    begin_row(&w->markup, "Procedure", id, name);
    cn_markup_address(&w->markup, "v", address->offset);
    cn_markup_add(&w->markup, " f=\"1\"/>\n");
    free(name);
    return true;
}

static bool write_functions(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    struct cn_markup *m = &w->markup;

    for (uint32_t i = 0; i < w->db->function_count; i++) {
        struct cn_function function;

        if (!cn_database_function(w->db, i, &function, err) || !cn_markup_flush(m, err))
            return false;
        begin_row(m, "Procedure", (int64_t)i + CN_HPC_XML_FIRST_FUNCTION, function.name);
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
    for (unsigned i = 0; i < CN_HPC_ENTRY_COUNT; i++)
        add_fake(m, CN_HPC_XML_ENTRY_PROCEDURE + i, cn_hpc_entry_function(i));
    add_fake(m, CN_HPC_XML_IDLE_PROCEDURE, CN_HPC_IDLE);
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

static bool write_tables(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    write_kinds(w);
    if (!cn_hpc_xml_columns_write(w, err))
        return false;
    write_times(w);
    return write_modules(w, err) && write_files(w, err) && write_procedures(w, err);
}

static void begin_document(struct cn_hpc_xml_writing *w)
{
    struct cn_markup *m = &w->markup;

    cn_markup_add(m, "<?xml version=\"1.0\"?>\n<HPCToolkitExperiment version=\"4.0\">\n"
                     "<Header");
    cn_markup_attribute(m, "n", w->db->title);
    if (w->db->description[0]) {
        cn_markup_add(m, ">\n<Info><NV n=\"" CN_HPC_XML_DESCRIPTION "\"");
        cn_markup_attribute(m, "v", w->db->description);
        cn_markup_add(m, "/></Info>\n</Header>\n");
    } else {
        cn_markup_add(m, ">\n<Info/>\n</Header>\n");
    }
    cn_markup_add(m, "<SecCallPathProfile i=\"0\"");
    cn_markup_attribute(m, "n", w->db->title);
    cn_markup_add(m, ">\n<SecHeader>\n");
}

static bool write_document(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    if (!cn_out_open_at(&w->markup.out, w->dir, CN_HPC_XML_FILE, err))
        return false;
    begin_document(w);
    if (!write_tables(w, err))
        return false;
    cn_markup_add(&w->markup, "<Info><NV n=\"" CN_HPC_XML_LINES_NAME
                              "\" v=\"" CN_HPC_XML_LINES_VALUE "\"/></Info>\n"
                              "</SecHeader>\n");
    if (!cn_hpc_xml_tree_write(w, err))
        return false;
    cn_markup_add(&w->markup, "</SecCallPathProfile>\n</HPCToolkitExperiment>\n");
    cn_write_lose(w->options, "names with characters that XML cannot hold",
                  w->markup.replaced_count);
    return cn_markup_close(&w->markup, err);
}

static bool write_values(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    uint64_t *dropped_threads = cn_alloc(CN_HPC_SPARSE_ID_COUNT, sizeof(uint64_t));
    uint64_t *dropped_summaries = cn_alloc(CN_HPC_SPARSE_ID_COUNT, sizeof(uint64_t));
    struct cn_hpc_sparse_writing values = {
        .db = w->db,
        .options = w->options,
        .dir = w->dir,
        .workers = w->options->workers ? w->options->workers : cn_pool_default_workers(),
        .threads = {w->thread_ids, CN_HPC_SPARSE_ID_COUNT},
        .summaries = {w->summary_ids, CN_HPC_SPARSE_ID_COUNT},
        .dropped_threads = dropped_threads,
        .dropped_summaries = dropped_summaries,
        .listed_count = w->context_count + 1,
        .largest_listed = w->idle_context ? w->idle_context : w->largest_id,
        .idle_context = w->idle_context,
    };
    bool ok = cn_hpc_sparse_write(&values, err);

    if (ok)
        cn_hpc_xml_columns_lost(w, dropped_threads, dropped_summaries);
    free(dropped_threads);
    free(dropped_summaries);
    return ok;
}

/* Choose an id for the context where threads wait, above all others. */
static bool choose_idle(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    if (!w->db->has_timelines || w->options->without_timelines)
        return true;
    if (w->largest_id < w->db->context_limit)
        w->idle_context = w->db->context_limit;
    else
        w->idle_context = w->largest_id + 1;
    if (w->idle_context >= UINT32_MAX - 1)
        return cn_fail(err, CN_ERR_LIMIT, "no context id is left for %s", CN_HPC_IDLE);
    w->idle_context += w->idle_context == 0;
    return true;
}

static bool write_into(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    bool ok = cn_hpc_xml_columns_plan(w, err) && cn_hpc_xml_tree_survey(w, err) &&
              choose_idle(w, err) && write_document(w, err) && write_values(w, err) &&
              cn_hpc_sources_copy(w->db, w->dir, w->options, err);

    cn_markup_done(&w->markup);
    free(w->columns);
    free(w->thread_ids);
    free(w->summary_ids);
    free(w->addresses);
    cn_map_done(&w->address_slots);
    cn_names_done(&w->entries);
    return ok;
}

bool cn_hpc_xml_write(struct cn_database *db, const char *path,
                      const struct cn_write_options *options, struct cn_error *err)
{
    struct cn_hpc_xml_writing w = {.options = options};
    struct cn_hpc_rooted rooted;
    struct cn_outdir dir = {0};
    bool ok = cn_hpc_rooted_init(&rooted, db, &w.db, err) &&
              cn_outdir_begin(&dir, path, options->replace, err);

    w.dir = dir.path;
    ok = ok && write_into(&w, err) && cn_outdir_commit(&dir, err);
    cn_outdir_abandon(&dir);
    return ok;
}
