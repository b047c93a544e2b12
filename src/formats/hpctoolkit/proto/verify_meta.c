#include <inttypes.h>

#include "base/bytes/utf8.h"
#include "formats/hpctoolkit/proto/metrics_reader.h"
#include "formats/hpctoolkit/proto/verify_parts.h"
#include "model/contexts/formula.h"

enum { STRING_SHARING_MAX = 64, COMBINE_LAST = CN_COMBINE_MAX };

static void check_text(struct cn_hpc_proto_check *p, const char *text, uint64_t off,
                       const char *what)
{
    size_t len = strlen(text);

    if (len > p->string_budget)
        return;
    p->string_budget -= len;
    if (!cn_utf8_is_valid(text, len))
        cn_findings_warn(&p->c.f, "utf-8", off, "%s is not UTF-8", what);
}

/* The string that a pointer leads to; NULL, after a report, if there is none. */
static const char *check_string(struct cn_hpc_proto_check *p, uint64_t string_off,
                                uint64_t off, const char *what)
{
    struct cn_error damage;
    const char *text;

    if (!cn_hpc_span_string(p->meta.sections[CN_HPC_PROTO_STRINGS], string_off, what,
                            &text, &damage)) {
        cn_findings_error(&p->c.f, "string-bounds", off, "%s", damage.text);
        return NULL;
    }
    check_text(p, text, string_off, what);
    return text;
}

static bool check_frame(struct cn_hpc_proto_check *p, struct cn_bytes file)
{
    struct cn_error damage;

    if (!cn_hpc_proto_frame_open(file, &p->meta, &damage)) {
        cn_findings_error(&p->c.f, "frame", 0, "%s", damage.text);
        return false;
    }
    if (p->meta.is_unfinished)
        cn_findings_warn(&p->c.f, "unfinished", file.len,
                         "the file stops after the metrics: it has no contexts");
    else if (!p->meta.has_footer)
        cn_findings_warn(&p->c.f, "footer", file.len, "the file does not end with %s",
                         CN_HPC_PROTO_FOOTER);
    for (size_t i = 0; i < CN_HPC_PROTO_SECTION_COUNT; i++)
        if (p->meta.sections[i].off % CN_HPC_PROTO_ALIGN != 0)
            cn_findings_warn(&p->c.f, "section-alignment", p->meta.sections[i].off,
                             "section %s does not start at a multiple of %d",
                             cn_hpc_proto_section_names[i], CN_HPC_PROTO_ALIGN);
    return true;
}

static void check_general(struct cn_hpc_proto_check *p)
{
    uint64_t off = p->meta.sections[CN_HPC_PROTO_GENERAL].off;
    const char *title, *description;
    struct cn_error damage;

    if (!cn_hpc_proto_general(&p->meta, &p->arena, &title, &description, &p->kinds,
                              &damage)) {
        cn_findings_error(&p->c.f, "general", off, "%s", damage.text);
        return;
    }
    check_text(p, title, off, "title");
    check_text(p, description, off, "description");
    for (size_t i = 0; i < p->kinds.count; i++)
        check_text(p, p->kinds.list[i], off, "name of an identifier kind");
}

static void check_id(struct cn_hpc_proto_check *p, struct cn_hpc_set *ids, uint16_t id,
                     const char *what, const char *metric)
{
    uint64_t off = p->meta.sections[CN_HPC_PROTO_METRICS].off;

    if (!cn_hpc_set_add(ids, id))
        cn_findings_error(&p->c.f, "metric-id-unique", off,
                          "metric %s: %s id %u is used twice", metric, what, id);
}

static void check_statistic(struct cn_hpc_proto_check *p, const struct cn_metric *metric,
                            const struct cn_statistic *statistic)
{
    uint64_t off = p->meta.sections[CN_HPC_PROTO_METRICS].off;
    const struct cn_formula *formula;
    struct cn_error damage;

    check_id(p, &p->stat_ids, statistic->stat_id, "summary", metric->name);
    if (statistic->combine > COMBINE_LAST)
        cn_findings_error(&p->c.f, "combine", off, "metric %s: combination %u of 0 to %d",
                          metric->name, statistic->combine, COMBINE_LAST);
    if (!cn_formula_parse(&formula, statistic->formula, &p->arena, &damage))
        cn_findings_error(&p->c.f, "formula", off, "metric %s: %s", metric->name,
                          damage.text);
}

static void check_metric(struct cn_hpc_proto_check *p, const struct cn_metric *metric)
{
    uint64_t off = p->meta.sections[CN_HPC_PROTO_METRICS].off;

    check_text(p, metric->name, off, "name of a metric");
    for (size_t i = 0; i < metric->instance_count; i++) {
        check_id(p, &p->prop_ids, metric->instances[i].prop_id, "thread", metric->name);
        for (size_t k = 0; k < i; k++)
            if (metric->instances[k].scope == metric->instances[i].scope)
                cn_findings_error(&p->c.f, "scope-unique", off,
                                  "metric %s: scope %s occurs twice", metric->name,
                                  p->metrics.scopes[metric->instances[i].scope].name);
    }
    for (size_t i = 0; i < metric->statistic_count; i++)
        check_statistic(p, metric, &metric->statistics[i]);
}

static void check_metrics(struct cn_hpc_proto_check *p)
{
    /* Scopes of a metric are compared with each other: limit the work. */
    enum { SCOPE_MAX = 1024 };
    struct cn_error damage;

    if (!cn_hpc_proto_metrics_read(&p->meta, &p->arena, &p->metrics, &damage)) {
        cn_findings_error(&p->c.f, "metrics", p->meta.sections[CN_HPC_PROTO_METRICS].off,
                          "%s", damage.text);
        return;
    }
    p->c.thread_ids = &p->prop_ids;
    p->c.summary_ids = &p->stat_ids;
    cn_hpc_set_init(&p->prop_ids, UINT16_MAX + 1);
    cn_hpc_set_init(&p->stat_ids, UINT16_MAX + 1);
    for (size_t i = 0; i < p->metrics.count; i++) {
        const struct cn_metric *metric = &p->metrics.list[i];

        if (metric->instance_count <= SCOPE_MAX)
            check_metric(p, metric);
        else
            cn_findings_error(&p->c.f, "scope-unique",
                              p->meta.sections[CN_HPC_PROTO_METRICS].off,
                              "metric %s: %zu scopes, expected at most %d", metric->name,
                              metric->instance_count, SCOPE_MAX);
    }
}

static void check_modules(struct cn_hpc_proto_check *p)
{
    for (uint32_t i = 0; i < p->meta.modules.count; i++) {
        uint64_t off = cn_hpc_table_off(&p->meta.modules, i);
        struct cn_hpc_proto_module record;

        if (!cn_hpc_proto_module_decode(cn_hpc_table_at(&p->meta.modules, i), &record))
            continue;
        (void)check_string(p, record.path_off, off, "path of a module");
        if (record.flags != 0)
            cn_findings_warn(&p->c.f, "reserved-bits", off,
                             "module %" PRIu32 ": flags 0x%" PRIx32 " are set", i,
                             record.flags);
    }
}

static void check_files(struct cn_hpc_proto_check *p)
{
    for (uint32_t i = 0; i < p->meta.files.count; i++) {
        uint64_t off = cn_hpc_table_off(&p->meta.files, i);
        struct cn_hpc_proto_source_file record;

        if (!cn_hpc_proto_source_file_decode(cn_hpc_table_at(&p->meta.files, i), &record))
            continue;
        (void)check_string(p, record.path_off, off, "path of a file");
        if (record.flags & ~(uint32_t)CN_HPC_PROTO_FILE_COPIED)
            cn_findings_warn(&p->c.f, "reserved-bits", off,
                             "file %" PRIu32 ": reserved bits of flags 0x%" PRIx32
                             " are set",
                             i, record.flags);
    }
}

static void check_functions(struct cn_hpc_proto_check *p)
{
    for (uint32_t i = 0; i < p->meta.functions.count; i++) {
        uint64_t off = cn_hpc_table_off(&p->meta.functions, i);
        struct cn_hpc_proto_function record;

        if (!cn_hpc_proto_function_decode(cn_hpc_table_at(&p->meta.functions, i),
                                          &record))
            continue;
        if (record.name_off != 0)
            (void)check_string(p, record.name_off, off, "name of a function");
        if (record.module_off != 0)
            cn_hpc_check_pointer(&p->c.f, "pointer", &p->meta.modules, record.module_off,
                                 off, "module");
        if (record.file_off != 0)
            cn_hpc_check_pointer(&p->c.f, "pointer", &p->meta.files, record.file_off, off,
                                 "file");
        if (record.flags != 0)
            cn_findings_warn(&p->c.f, "reserved-bits", off,
                             "function %" PRIu32 ": flags 0x%" PRIx32 " are set", i,
                             record.flags);
    }
}

static bool open_tables(struct cn_hpc_proto_check *p)
{
    static const struct {
        enum cn_hpc_proto_section_id section;
        const char *what;
        uint32_t least;
    } tables[] = {
        {CN_HPC_PROTO_MODULES, "modules", cn_hpc_proto_module_size},
        {CN_HPC_PROTO_FILES, "files", cn_hpc_proto_source_file_size},
        {CN_HPC_PROTO_FUNCTIONS, "functions", cn_hpc_proto_function_size},
    };
    struct cn_hpc_table *const out[] = {&p->meta.modules, &p->meta.files,
                                        &p->meta.functions};
    struct cn_error damage;
    bool ok = true;

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        struct cn_hpc_span section = p->meta.sections[tables[i].section];

        if (cn_hpc_proto_table_open(section, tables[i].what, tables[i].least, out[i],
                                    &damage))
            continue;
        cn_findings_error(&p->c.f, "table", section.off, "%s", damage.text);
        ok = false;
    }
    return ok;
}

void cn_hpc_proto_check_meta(struct cn_hpc_proto_check *p, struct cn_bytes file)
{
    p->string_budget = STRING_SHARING_MAX * (uint64_t)file.len;
    if (!check_frame(p, file))
        return;
    p->is_unfinished = p->meta.is_unfinished;
    check_general(p);
    p->c.kind_count = (uint32_t)p->kinds.count;
    check_metrics(p);
    if (p->is_unfinished || !open_tables(p))
        return;
    check_modules(p);
    check_files(p);
    check_functions(p);
    cn_hpc_proto_check_contexts(p);
}
