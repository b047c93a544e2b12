#include <inttypes.h>

#include "base/bytes/utf8.h"
#include "formats/hpctoolkit/proto/metrics_reader.h"
#include "formats/hpctoolkit/proto/verify_parts.h"
#include "model/contexts/formula.h"

enum { STRING_SHARING_MAX = 64, COMBINE_LAST = CN_COMBINE_MAX };

static void check_text(struct cn_hpc_proto_check *c, const char *text, uint64_t off,
                       const char *what)
{
    size_t len = strlen(text);

    if (len > c->string_budget)
        return;
    c->string_budget -= len;
    if (!cn_utf8_is_valid(text, len))
        cn_findings_warn(&c->f, "utf-8", off, "%s is not UTF-8", what);
}

/* A pointer to a string; NULL, after a report, when it does not lead to one. */
static const char *check_string(struct cn_hpc_proto_check *c, uint64_t string_off,
                                uint64_t off, const char *what)
{
    struct cn_error damage;
    const char *text;

    if (!cn_hpc_span_string(c->meta.sections[CN_HPC_PROTO_STRINGS], string_off, what,
                            &text, &damage)) {
        cn_findings_error(&c->f, "string-bounds", off, "%s", damage.text);
        return NULL;
    }
    check_text(c, text, string_off, what);
    return text;
}

static bool check_frame(struct cn_hpc_proto_check *c, struct cn_bytes file)
{
    struct cn_error damage;

    if (!cn_hpc_proto_frame_open(file, &c->meta, &damage)) {
        cn_findings_error(&c->f, "frame", 0, "%s", damage.text);
        return false;
    }
    if (c->meta.is_unfinished)
        cn_findings_warn(&c->f, "unfinished", file.len,
                         "the file stops after the metrics: it has no contexts");
    else if (!c->meta.has_footer)
        cn_findings_warn(&c->f, "footer", file.len, "the file does not end with %s",
                         CN_HPC_PROTO_FOOTER);
    for (size_t i = 0; i < CN_HPC_PROTO_SECTION_COUNT; i++)
        if (c->meta.sections[i].off % CN_HPC_PROTO_ALIGN != 0)
            cn_findings_warn(&c->f, "section-alignment", c->meta.sections[i].off,
                             "section %s does not start at a multiple of %d",
                             cn_hpc_proto_section_names[i], CN_HPC_PROTO_ALIGN);
    return true;
}

static void check_general(struct cn_hpc_proto_check *c)
{
    uint64_t off = c->meta.sections[CN_HPC_PROTO_GENERAL].off;
    const char *title, *description;
    struct cn_error damage;

    if (!cn_hpc_proto_general(&c->meta, &c->arena, &title, &description, &c->kinds,
                              &damage)) {
        cn_findings_error(&c->f, "general", off, "%s", damage.text);
        return;
    }
    check_text(c, title, off, "title");
    check_text(c, description, off, "description");
    for (size_t i = 0; i < c->kinds.count; i++)
        check_text(c, c->kinds.list[i], off, "name of an identifier kind");
}

static void check_id(struct cn_hpc_proto_check *c, struct cn_hpc_set *ids, uint16_t id,
                     const char *what, const char *metric)
{
    uint64_t off = c->meta.sections[CN_HPC_PROTO_METRICS].off;

    if (!cn_hpc_set_add(ids, id))
        cn_findings_error(&c->f, "metric-id-unique", off,
                          "metric %s: %s id %u is used twice", metric, what, id);
}

static void check_statistic(struct cn_hpc_proto_check *c, const struct cn_metric *metric,
                            const struct cn_statistic *statistic)
{
    uint64_t off = c->meta.sections[CN_HPC_PROTO_METRICS].off;
    const struct cn_formula *formula;
    struct cn_error damage;

    check_id(c, &c->stat_ids, statistic->stat_id, "summary", metric->name);
    if (statistic->combine > COMBINE_LAST)
        cn_findings_error(&c->f, "combine", off, "metric %s: combination %u of 0 to %d",
                          metric->name, statistic->combine, COMBINE_LAST);
    if (!cn_formula_parse(&formula, statistic->formula, &c->arena, &damage))
        cn_findings_error(&c->f, "formula", off, "metric %s: %s", metric->name,
                          damage.text);
}

static void check_metric(struct cn_hpc_proto_check *c, const struct cn_metric *metric)
{
    uint64_t off = c->meta.sections[CN_HPC_PROTO_METRICS].off;

    check_text(c, metric->name, off, "name of a metric");
    for (size_t i = 0; i < metric->instance_count; i++) {
        check_id(c, &c->prop_ids, metric->instances[i].prop_id, "thread", metric->name);
        for (size_t k = 0; k < i; k++)
            if (metric->instances[k].scope == metric->instances[i].scope)
                cn_findings_error(&c->f, "scope-unique", off,
                                  "metric %s: scope %s is there twice", metric->name,
                                  c->metrics.scopes[metric->instances[i].scope].name);
    }
    for (size_t i = 0; i < metric->statistic_count; i++)
        check_statistic(c, metric, &metric->statistics[i]);
}

static void check_metrics(struct cn_hpc_proto_check *c)
{
    /* Scopes of one metric are compared with each other: more than real files have
     * is not worth the work. */
    enum { SCOPE_MAX = 1024 };
    struct cn_error damage;

    if (!cn_hpc_proto_metrics_read(&c->meta, &c->arena, &c->metrics, &damage)) {
        cn_findings_error(&c->f, "metrics", c->meta.sections[CN_HPC_PROTO_METRICS].off,
                          "%s", damage.text);
        return;
    }
    c->has_metrics = true;
    cn_hpc_set_init(&c->prop_ids, UINT16_MAX + 1);
    cn_hpc_set_init(&c->stat_ids, UINT16_MAX + 1);
    for (size_t i = 0; i < c->metrics.count; i++) {
        const struct cn_metric *metric = &c->metrics.list[i];

        if (metric->instance_count <= SCOPE_MAX)
            check_metric(c, metric);
        else
            cn_findings_error(&c->f, "scope-unique",
                              c->meta.sections[CN_HPC_PROTO_METRICS].off,
                              "metric %s: %zu scopes, expected at most %d", metric->name,
                              metric->instance_count, SCOPE_MAX);
    }
}

static void check_modules(struct cn_hpc_proto_check *c)
{
    for (uint32_t i = 0; i < c->meta.modules.count; i++) {
        uint64_t off = cn_hpc_proto_records_off(&c->meta.modules, i);
        struct cn_hpc_proto_module record;

        if (!cn_hpc_proto_module_decode(cn_hpc_proto_records_at(&c->meta.modules, i),
                                        &record))
            continue;
        (void)check_string(c, record.path_off, off, "path of a module");
        if (record.flags != 0)
            cn_findings_warn(&c->f, "reserved-bits", off,
                             "module %" PRIu32 ": flags 0x%" PRIx32 " are set", i,
                             record.flags);
    }
}

static void check_files(struct cn_hpc_proto_check *c)
{
    for (uint32_t i = 0; i < c->meta.files.count; i++) {
        uint64_t off = cn_hpc_proto_records_off(&c->meta.files, i);
        struct cn_hpc_proto_source_file record;

        if (!cn_hpc_proto_source_file_decode(cn_hpc_proto_records_at(&c->meta.files, i),
                                             &record))
            continue;
        (void)check_string(c, record.path_off, off, "path of a file");
        if (record.flags & ~(uint32_t)CN_HPC_PROTO_FILE_COPIED)
            cn_findings_warn(&c->f, "reserved-bits", off,
                             "file %" PRIu32 ": reserved bits of flags 0x%" PRIx32
                             " are set",
                             i, record.flags);
    }
}

static void check_pointer(struct cn_hpc_proto_check *c,
                          const struct cn_hpc_proto_records *records, uint64_t pointer,
                          uint64_t off, const char *what)
{
    struct cn_error damage;
    uint32_t index;

    if (pointer != 0 &&
        !cn_hpc_proto_records_find(records, pointer, what, &index, &damage))
        cn_findings_error(&c->f, "pointer", off, "%s", damage.text);
}

static void check_functions(struct cn_hpc_proto_check *c)
{
    for (uint32_t i = 0; i < c->meta.functions.count; i++) {
        uint64_t off = cn_hpc_proto_records_off(&c->meta.functions, i);
        struct cn_hpc_proto_function record;

        if (!cn_hpc_proto_function_decode(cn_hpc_proto_records_at(&c->meta.functions, i),
                                          &record))
            continue;
        if (record.name_off != 0)
            (void)check_string(c, record.name_off, off, "name of a function");
        check_pointer(c, &c->meta.modules, record.module_off, off, "module");
        check_pointer(c, &c->meta.files, record.file_off, off, "file");
        if (record.flags != 0)
            cn_findings_warn(&c->f, "reserved-bits", off,
                             "function %" PRIu32 ": flags 0x%" PRIx32 " are set", i,
                             record.flags);
    }
}

static bool open_tables(struct cn_hpc_proto_check *c)
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
    struct cn_hpc_proto_records *const out[] = {&c->meta.modules, &c->meta.files,
                                                &c->meta.functions};
    struct cn_error damage;
    bool ok = true;

    for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++) {
        struct cn_hpc_span section = c->meta.sections[tables[i].section];

        if (cn_hpc_proto_records_open(section, tables[i].what, tables[i].least, out[i],
                                      &damage))
            continue;
        cn_findings_error(&c->f, "table", section.off, "%s", damage.text);
        ok = false;
    }
    return ok;
}

void cn_hpc_proto_check_meta(struct cn_hpc_proto_check *c, struct cn_bytes file)
{
    cn_findings_begin(&c->f, "meta.db");
    c->string_budget = STRING_SHARING_MAX * (uint64_t)file.len;
    c->has_frame = check_frame(c, file);
    if (!c->has_frame)
        return;
    c->is_unfinished = c->meta.is_unfinished;
    check_general(c);
    check_metrics(c);
    if (c->is_unfinished || !open_tables(c))
        return;
    check_modules(c);
    check_files(c);
    check_functions(c);
    cn_hpc_proto_check_contexts(c);
}
