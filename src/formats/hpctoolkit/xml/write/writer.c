#include "formats/hpctoolkit/xml/write/writer.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/files/outdir.h"
#include "base/run/pool.h"
#include "formats/hpctoolkit/rooted.h"
#include "formats/hpctoolkit/sources.h"
#include "formats/hpctoolkit/sparse/writer.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/write/writing.h"

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
    if (!cn_hpc_xml_tables_write(w, err))
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

/* An id for where threads wait: above all others. */
static bool choose_idle(struct cn_hpc_xml_writing *w, struct cn_error *err)
{
    if (!w->db->has_timelines || w->options->without_timelines)
        return true;
    if (w->largest_id < w->db->context_limit)
        w->idle_context = w->db->context_limit;
    else
        w->idle_context = w->largest_id + 1;
    if (w->idle_context >= UINT32_MAX - 1)
        return cn_fail(err, CN_ERR_LIMIT, "no context id is left for %s",
                       CN_HPC_XML_NO_ACTIVITY);
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
    cn_map_done(&w->address_numbers);
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
