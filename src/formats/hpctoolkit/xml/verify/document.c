#include "formats/hpctoolkit/xml/verify/verify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/sparse/format.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/read/metrics_reader.h"
#include "formats/hpctoolkit/xml/read/scanner.h"
#include "formats/hpctoolkit/xml_events.h"

enum which { TREE_ONLY = 1 << 0, LEGACY_ONLY = 1 << 1, HAS_ID = 1 << 2 };

/* Elements, with their possible parents and mandatory attributes. */
static const struct document_element {
    const char *name, *parents, *needs;
    unsigned which;
} elements[] = {
    {"PF", " SecCallPathProfileData C PF ", "i n", TREE_ONLY | HAS_ID},
    {"Pr", " PF Pr L C ", "i n", TREE_ONLY | HAS_ID | LEGACY_ONLY},
    {"C", " PF Pr L ", "i", TREE_ONLY | HAS_ID},
    {"L", " PF Pr L ", "i", TREE_ONLY | HAS_ID},
    {"S", " PF Pr L C ", "i", TREE_ONLY | HAS_ID},
    {"M", " SecCallPathProfileData PF Pr C L S ", "n v", TREE_ONLY | LEGACY_ONLY},
    {"HPCToolkitExperiment", "", "version", 0},
    {"Header", " HPCToolkitExperiment ", "n", 0},
    {"SecCallPathProfile", " HPCToolkitExperiment ", "i n", 0},
    {"SecHeader", " SecCallPathProfile ", "", 0},
    {"SecCallPathProfileData", " SecCallPathProfile ", "", 0},
    {"Info", " Header SecHeader Metric MetricFormula LoadModule File Procedure ", "", 0},
    {"NV", " Info ", "n v", 0},
    {"IdentifierNameTable", " SecHeader ", "", 0},
    {"Identifier", " IdentifierNameTable ", "i n", 0},
    {"MetricTable", " SecHeader ", "", 0},
    {"Metric", " MetricTable ", "i n", 0},
    {"MetricFormula", " Metric ", "t frm", 0},
    {"MetricDBTable", " SecHeader ", "", 0},
    {"MetricDB", " MetricDBTable ", "i n", 0},
    {"TraceDBTable", " SecHeader ", "", 0},
    {"TraceDB", " TraceDBTable ", "i", 0},
    {"LoadModuleTable", " SecHeader ", "", 0},
    {"LoadModule", " LoadModuleTable ", "i n", 0},
    {"FileTable", " SecHeader ", "", 0},
    {"File", " FileTable ", "i n", 0},
    {"ProcedureTable", " SecHeader ", "", 0},
    {"Procedure", " ProcedureTable ", "i n", 0},
};
enum { ELEMENT_COUNT = sizeof(elements) / sizeof(*elements), NO_ELEMENT = UINT8_MAX };

/* A reference to a metric, which may come later. */
struct reference {
    uint64_t off;
    int64_t id;
    bool is_partner;
};

struct document_check {
    struct cn_hpc_xml_document *out;
    struct cn_findings *f;
    bool is_legacy;
    uint8_t *path; /* indexes in `elements` */
    size_t depth, capacity;
    struct cn_map modules, files, procedures, metrics;
    struct reference *references;
    size_t reference_count, reference_capacity;
};

static uint8_t find_element(const char *name)
{
    for (uint8_t i = 0; i < ELEMENT_COUNT; i++)
        if (strcmp(elements[i].name, name) == 0)
            return i;
    return NO_ELEMENT;
}

static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = strstr(words, word); at; at = strstr(at + 1, word))
        if (at > words && at[-1] == ' ' && at[len] == ' ')
            return true;
    return false;
}

static void check_place(struct document_check *c, const struct cn_hpc_xml_event *e,
                        uint8_t which)
{
    uint8_t parent = c->depth == 0 ? NO_ELEMENT : c->path[c->depth - 1];

    if (which == NO_ELEMENT) {
        cn_findings_error(c->f, "element-known", e->off,
                          "line %" PRIu64 ": <%.64s> is no element of the format",
                          e->line, e->name);
        return;
    }
    if (elements[which].which & LEGACY_ONLY && !c->is_legacy)
        cn_findings_error(c->f, "element-version", e->off,
                          "line %" PRIu64 ": <%s> belongs to version 2.x", e->line,
                          e->name);
    if (c->depth == 0 ? elements[which].parents[0] == '\0'
                      : parent == NO_ELEMENT ||
                            has_word(elements[which].parents, elements[parent].name))
        return;
    cn_findings_error(c->f, "element-place", e->off, "line %" PRIu64 ": <%s> inside <%s>",
                      e->line, e->name,
                      parent == NO_ELEMENT ? "" : elements[parent].name);
}

static void check_needs(struct document_check *c, const struct cn_hpc_xml_event *e,
                        uint8_t which)
{
    const char *at = elements[which].needs;

    while (*at) {
        size_t len = strcspn(at, " ");
        char name[16] = "";

        memcpy(name, at, len < sizeof(name) ? len : sizeof(name) - 1);
        if (!cn_hpc_xml_event_get(e, name))
            cn_findings_error(c->f, "attribute-missing", e->off,
                              "line %" PRIu64 ": <%s> has no %s", e->line, e->name, name);
        at += len + (at[len] == ' ');
    }
}

/* A whole number; false, after a report, when it is none, and when there is none. */
static bool get_number(struct document_check *c, const struct cn_hpc_xml_event *e,
                       const char *name, int64_t *out)
{
    const char *value = cn_hpc_xml_event_get(e, name);

    if (!value)
        return false;
    if (cn_hpc_xml_parse_i64(cn_bytes_of(value), out))
        return true;
    cn_findings_error(c->f, "attribute-number", e->off,
                      "line %" PRIu64 ": %s=\"%.64s\" of <%s> is no whole number",
                      e->line, name, value, e->name);
    return false;
}

static void check_row(struct document_check *c, const struct cn_hpc_xml_event *e,
                      struct cn_map *rows)
{
    int64_t id;

    if (!get_number(c, e, "i", &id))
        return;
    uint32_t *row = cn_map_at(rows, (uint64_t)id, 0);
    if ((*row)++ > 0)
        cn_findings_error(c->f, "row-unique", e->off,
                          "line %" PRIu64 ": there is another <%s> %" PRId64, e->line,
                          e->name, id);
}

static void check_reference(struct document_check *c, const struct cn_hpc_xml_event *e,
                            const char *name, const struct cn_map *rows)
{
    int64_t id;

    if (get_number(c, e, name, &id) && cn_map_find(rows, (uint64_t)id, 0) == 0)
        cn_findings_error(c->f, "reference", e->off,
                          "line %" PRIu64 ": %s=\"%" PRId64 "\" of <%s> is in no table",
                          e->line, name, id, e->name);
}

static void check_id(struct document_check *c, const struct cn_hpc_xml_event *e)
{
    int64_t id, sample_id;
    bool has_sample_id = get_number(c, e, "it", &sample_id);

    if (!get_number(c, e, "i", &id))
        return;
    if (id <= 0 && strcmp(e->name, "C") != 0 && strcmp(e->name, "S") != 0) {
        cn_findings_error(c->f, "context-id", e->off,
                          "line %" PRIu64 ": <%s> with the id %" PRId64, e->line, e->name,
                          id);
        return;
    }
    if (has_sample_id && sample_id > 0)
        *cn_map_at(&c->out->sample_ids, (uint64_t)sample_id, 0) = 1;
    if (id <= 0)
        return;
    if (!c->is_legacy && has_sample_id && sample_id != id)
        cn_findings_warn(c->f, "sample-id", e->off,
                         "line %" PRIu64 ": it=\"%" PRId64 "\" of context %" PRId64,
                         e->line, sample_id, id);
    if ((uint64_t)id >= c->out->contexts.limit)
        cn_findings_error(c->f, "context-id", e->off,
                          "line %" PRIu64 ": context %" PRId64
                          " is out of proportion to the file",
                          e->line, id);
    else if (!cn_hpc_set_add(&c->out->contexts, (uint64_t)id))
        cn_findings_error(c->f, "context-unique", e->off,
                          "line %" PRIu64 ": there is another context %" PRId64, e->line,
                          id);
    else if ((uint64_t)id > c->out->context_last)
        c->out->context_last = (uint32_t)id;
}

static void refer(struct document_check *c, uint64_t off, int64_t id, bool is_partner)
{
    CN_PUSH(c->references, c->reference_count, c->reference_capacity,
            (struct reference){off, id, is_partner});
}

static void check_metric(struct document_check *c, const struct cn_hpc_xml_event *e)
{
    const char *name = cn_hpc_xml_event_get(e, "n");
    const char *type = cn_hpc_xml_event_get(e, "t");
    struct cn_hpc_xml_metric_name parsed;
    int64_t id, partner;

    if (get_number(c, e, "partner", &partner))
        refer(c, e->off, partner, true);
    if (!name || !get_number(c, e, "i", &id))
        return;
    cn_hpc_xml_metric_name_parse(name, type ? type : "", &parsed);
    uint32_t *row = cn_map_at(&c->metrics, (uint64_t)id, 0);
    if ((*row)++ > 0 && parsed.is_partial && parsed.partial > 0)
        cn_findings_warn(c->f, "partial-id", e->off,
                         "line %" PRIu64 ": %s has the id %" PRId64
                         " of another statistic",
                         e->line, name, id);
    else if (*row > 1)
        cn_findings_error(c->f, "row-unique", e->off,
                          "line %" PRIu64 ": there is another <Metric> %" PRId64, e->line,
                          id);
    if (!parsed.is_partial && !c->is_legacy)
        return;
    if (id < 0 || id > CN_HPC_SPARSE_METRIC_ID_MAX)
        cn_findings_error(c->f, "metric-id", e->off,
                          "line %" PRIu64 ": metric id %" PRId64 ", limit %d", e->line,
                          id, CN_HPC_SPARSE_METRIC_ID_MAX);
    else
        (void)cn_hpc_set_add(&c->out->summary_ids, (uint64_t)id);
}

static void check_metric_db(struct document_check *c, const struct cn_hpc_xml_event *e)
{
    int64_t id;

    if (!get_number(c, e, "i", &id))
        return;
    if (id < 0 || id > CN_HPC_SPARSE_METRIC_ID_MAX)
        cn_findings_error(c->f, "metric-id", e->off,
                          "line %" PRIu64 ": metric id %" PRId64 ", limit %d", e->line,
                          id, CN_HPC_SPARSE_METRIC_ID_MAX);
    else if (!cn_hpc_set_add(&c->out->thread_ids, (uint64_t)id))
        cn_findings_error(c->f, "row-unique", e->off,
                          "line %" PRIu64 ": there is another <MetricDB> %" PRId64,
                          e->line, id);
}

/* `$2` and the like. */
static void check_formula(struct document_check *c, const struct cn_hpc_xml_event *e)
{
    const char *at = cn_hpc_xml_event_get(e, "frm");
    uint64_t id;

    while (at && (at = strchr(at, '$')) != NULL) {
        size_t len = strspn(++at, "0123456789");

        if (len == 0 ||
            !cn_hpc_xml_parse_u64((struct cn_bytes){(const uint8_t *)at, len}, &id) ||
            id > INT64_MAX)
            cn_findings_error(c->f, "formula", e->off,
                              "line %" PRIu64 ": a $ without a number", e->line);
        else
            refer(c, e->off, (int64_t)id, false);
    }
}

static void check_kind(struct document_check *c, const struct cn_hpc_xml_event *e)
{
    int64_t id;

    if (!get_number(c, e, "i", &id))
        return;
    if (id < 0 || id > CN_HPC_XML_KIND_MAX)
        cn_findings_error(c->f, "kind", e->off,
                          "line %" PRIu64 ": identifier kind %" PRId64 ", limit %d",
                          e->line, id, CN_HPC_XML_KIND_MAX);
    else if ((uint64_t)id >= c->out->kind_count)
        c->out->kind_count = (uint32_t)id + 1;
}

static void check_times(struct document_check *c, const struct cn_hpc_xml_event *e)
{
    int64_t begin, end;

    if (get_number(c, e, "db-min-time", &begin) &&
        get_number(c, e, "db-max-time", &end) && begin > end)
        cn_findings_error(c->f, "time-range", e->off,
                          "line %" PRIu64 ": times from %" PRId64 " to %" PRId64, e->line,
                          begin, end);
}

static void check_context(struct document_check *c, const struct cn_hpc_xml_event *e)
{
    int64_t ignored;

    check_id(c, e);
    check_reference(c, e, "f", &c->files);
    check_reference(c, e, "lm", &c->modules);
    if (strcmp(e->name, "PF") == 0 || strcmp(e->name, "Pr") == 0)
        check_reference(c, e, "n", &c->procedures);
    if (!c->is_legacy)
        (void)get_number(c, e, "l", &ignored);
}

static void check_element(struct document_check *c, const struct cn_hpc_xml_event *e,
                          uint8_t which)
{
    const char *name = elements[which].name;

    check_needs(c, e, which);
    if (elements[which].which & HAS_ID)
        check_context(c, e);
    else if (strcmp(name, "M") == 0)
        check_reference(c, e, "n", &c->metrics);
    else if (strcmp(name, "LoadModule") == 0)
        check_row(c, e, &c->modules);
    else if (strcmp(name, "File") == 0)
        check_row(c, e, &c->files);
    else if (strcmp(name, "Procedure") == 0)
        check_row(c, e, &c->procedures);
    else if (strcmp(name, "Metric") == 0)
        check_metric(c, e);
    else if (strcmp(name, "MetricFormula") == 0)
        check_formula(c, e);
    else if (strcmp(name, "MetricDB") == 0)
        check_metric_db(c, e);
    else if (strcmp(name, "Identifier") == 0)
        check_kind(c, e);
    else if (strcmp(name, "TraceDB") == 0)
        check_times(c, e);
}

static enum cn_step on_event(void *arg, const struct cn_hpc_xml_event *e,
                             struct cn_error *err)
{
    struct document_check *c = arg;

    (void)err;
    if (!e->attributes) {
        c->depth--;
        return CN_ITEM;
    }
    uint8_t which = find_element(e->name);
    check_place(c, e, which);
    if (which != NO_ELEMENT)
        check_element(c, e, which);
    CN_PUSH(c->path, c->depth, c->capacity, which);
    return CN_ITEM;
}

static void check_references(struct document_check *c)
{
    for (size_t i = 0; i < c->reference_count; i++) {
        const struct reference *r = &c->references[i];

        if (cn_map_find(&c->metrics, (uint64_t)r->id, 0) == 0)
            cn_findings_error(c->f, r->is_partner ? "metric-partner" : "formula", r->off,
                              "%s %" PRId64 " is no <Metric>",
                              r->is_partner ? "partner" : "the formula's", r->id);
    }
}

void cn_hpc_xml_document_verify(struct cn_hpc_xml_document *out, struct cn_findings *f,
                                struct cn_bytes text, unsigned major)
{
    struct document_check c = {
        .out = out, .f = f, .is_legacy = major == CN_HPC_XML_LEGACY_MAJOR};
    struct cn_hpc_xml_reading reading = {
        .text = text, .depth_max = CN_HPC_XML_DEPTH_MAX, .handle = on_event, .arg = &c};
    uint64_t damage_off = 0;
    struct cn_error damage = {0};
    bool is_complete;

    *out = (struct cn_hpc_xml_document){0};
    cn_hpc_set_init(&out->thread_ids, UINT16_MAX + 1);
    cn_hpc_set_init(&out->summary_ids, UINT16_MAX + 1);
    /* A context takes more bytes than there may be ids for one. */
    cn_hpc_set_init(&out->contexts, text.len < UINT32_MAX ? text.len + 1 : UINT32_MAX);
    reading.damage_off = &damage_off;
    out->is_readable = cn_hpc_xml_events_read(&reading, &is_complete, &damage);
    if (!out->is_readable)
        cn_findings_error(f, "xml", damage_off, "%s", damage.text);
    check_references(&c);
    free(c.path);
    free(c.references);
    cn_map_done(&c.modules);
    cn_map_done(&c.files);
    cn_map_done(&c.procedures);
    cn_map_done(&c.metrics);
}

void cn_hpc_xml_document_done(struct cn_hpc_xml_document *document)
{
    cn_hpc_set_done(&document->thread_ids);
    cn_hpc_set_done(&document->summary_ids);
    cn_hpc_set_done(&document->contexts);
    cn_map_done(&document->sample_ids);
}
