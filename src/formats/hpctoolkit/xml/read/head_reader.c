#include "formats/hpctoolkit/xml/read/head_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/xml/format.h"
#include "formats/hpctoolkit/xml/read/scanner.h"
#include "formats/hpctoolkit/xml_events.h"

struct head_reader {
    struct cn_hpc_xml_head *head;
    struct cn_arena *arena;
    bool is_at_tree;
};

/* A copy of an attribute, or `otherwise`. */
static const char *copy(struct head_reader *r, const struct cn_hpc_xml_event *e,
                        const char *name, const char *otherwise)
{
    const char *value = cn_hpc_xml_event_get(e, name);

    return value ? cn_arena_strdup(r->arena, value) : otherwise;
}

static bool number(const struct cn_hpc_xml_event *e, const char *name, int64_t otherwise,
                   int64_t *out, struct cn_error *err)
{
    const char *value = cn_hpc_xml_event_get(e, name);

    *out = otherwise;
    if (!value || cn_hpc_xml_parse_i64(cn_bytes_of(value), out))
        return true;
    return cn_fail(err, CN_ERR_FORMAT, "<%.32s>: %s=\"%.64s\" is not a whole number",
                   e->name, name, value);
}

/* A mandatory number. */
static bool needed(const struct cn_hpc_xml_event *e, const char *name, int64_t *out,
                   struct cn_error *err)
{
    if (cn_hpc_xml_event_get(e, name))
        return number(e, name, 0, out, err);
    return cn_fail(err, CN_ERR_FORMAT, "<%.32s> has no %s", e->name, name);
}

static bool add_row(struct head_reader *r, struct cn_hpc_xml_rows *rows,
                    const struct cn_hpc_xml_event *e, struct cn_error *err)
{
    struct cn_hpc_xml_row row = {.name = copy(r, e, "n", "")};
    const char *address = cn_hpc_xml_event_get(e, "v");

    if (!needed(e, "i", &row.id, err) || !number(e, "f", 0, &row.flags, err))
        return false;
    if (address && !cn_hpc_xml_parse_u64(cn_bytes_of(address), &row.address))
        return cn_fail(err, CN_ERR_FORMAT, "<%.32s>: v=\"%.64s\" is not an address",
                       e->name, address);
    CN_PUSH(rows->list, rows->count, rows->capacity, row);
    return true;
}

static bool has_room(const struct cn_hpc_xml_event *e, size_t count, struct cn_error *err)
{
    return count < CN_HPC_XML_METRIC_MAX ||
           cn_fail(err, CN_ERR_LIMIT, "more than %d <%s>s", CN_HPC_XML_METRIC_MAX,
                   e->name);
}

static bool add_metric(struct head_reader *r, const struct cn_hpc_xml_event *e,
                       struct cn_error *err)
{
    struct cn_hpc_xml_head *head = r->head;
    struct cn_hpc_xml_metric metric = {
        .name = copy(r, e, "n", ""),
        .type = copy(r, e, "t", ""),
        .format = copy(r, e, "fmt", NULL),
        .combine = "",
        .view = "",
    };

    if (!has_room(e, head->metric_count, err) || !needed(e, "i", &metric.id, err) ||
        !number(e, "show", CN_HPC_XML_SHOWN, &metric.show, err) ||
        !number(e, "show-percent", 1, &metric.show_percent, err))
        return false;
    CN_PUSH(head->metrics, head->metric_count, head->metric_capacity, metric);
    return true;
}

static bool add_formula(struct head_reader *r, const struct cn_hpc_xml_event *e,
                        struct cn_error *err)
{
    struct cn_hpc_xml_head *head = r->head;
    const char *type = cn_hpc_xml_event_get(e, "t");

    if (head->metric_count == 0)
        return cn_fail(err, CN_ERR_FORMAT, "<MetricFormula> without a <Metric>");
    struct cn_hpc_xml_metric *metric = &head->metrics[head->metric_count - 1];
    if (type && strcmp(type, "combine") == 0)
        metric->combine = copy(r, e, "frm", "");
    else
        metric->view = copy(r, e, "frm", "");
    return true;
}

static bool add_metric_db(struct head_reader *r, const struct cn_hpc_xml_event *e,
                          struct cn_error *err)
{
    struct cn_hpc_xml_head *head = r->head;
    struct cn_hpc_xml_metric_db row = {
        .name = copy(r, e, "n", ""),
        .type = copy(r, e, "t", ""),
    };

    if (!has_room(e, head->metric_db_count, err) || !needed(e, "i", &row.id, err) ||
        !number(e, "db-id", row.id, &row.column, err))
        return false;
    CN_PUSH(head->metric_dbs, head->metric_db_count, head->metric_db_capacity, row);
    return true;
}

static bool add_times(struct head_reader *r, const struct cn_hpc_xml_event *e,
                      struct cn_error *err)
{
    /* The first writers used microseconds, without an attribute that says so. */
    enum { MICROSECONDS = 1000000 };
    int64_t begin, end, ticks;

    if (!number(e, "db-min-time", 0, &begin, err) ||
        !number(e, "db-max-time", 0, &end, err) ||
        !number(e, "u", MICROSECONDS, &ticks, err))
        return false;
    r->head->has_times =
        cn_hpc_xml_event_get(e, "db-min-time") && cn_hpc_xml_event_get(e, "db-max-time");
    r->head->begin = (uint64_t)begin;
    r->head->end = (uint64_t)end;
    r->head->ticks_per_second = (uint64_t)ticks;
    return true;
}

static void add_pair(struct head_reader *r, const struct cn_hpc_xml_event *e)
{
    const char *name = cn_hpc_xml_event_get(e, "n");
    const char *value = cn_hpc_xml_event_get(e, "v");

    if (!name || !value)
        return;
    if (strcmp(name, CN_HPC_XML_DESCRIPTION) == 0)
        r->head->description = cn_arena_strdup(r->arena, value);
    else if (strcmp(name, CN_HPC_XML_LINES_NAME) == 0)
        r->head->lines_have_calls = strcmp(value, CN_HPC_XML_LINES_VALUE) == 0;
}

static bool begin_root(struct head_reader *r, const struct cn_hpc_xml_event *e,
                       struct cn_error *err)
{
    const char *version = cn_hpc_xml_event_get(e, "version");
    const char *dot = version ? strchr(version, '.') : NULL; /* "4.0" */
    uint64_t major, minor;

    if (strcmp(e->name, "HPCToolkitExperiment") != 0)
        return cn_fail(err, CN_ERR_FORMAT,
                       "the root element is <%.64s>, not <HPCToolkitExperiment>",
                       e->name);
    if (!dot ||
        !cn_hpc_xml_parse_u64(
            (struct cn_bytes){(const uint8_t *)version, (size_t)(dot - version)},
            &major) ||
        !cn_hpc_xml_parse_u64(cn_bytes_of(dot + 1), &minor) || major > 99 || minor > 99)
        return cn_fail(err, CN_ERR_FORMAT, "\"%.64s\" is not a version",
                       version ? version : "");
    r->head->major = (unsigned)major;
    r->head->minor = (unsigned)minor;
    return true;
}

static bool add_element(struct head_reader *r, const struct cn_hpc_xml_event *e,
                        struct cn_error *err)
{
    struct cn_hpc_xml_head *head = r->head;
    const char *name = e->name;

    if (e->depth == 0)
        return begin_root(r, e, err);
    if (strcmp(name, "Procedure") == 0)
        return add_row(r, &head->procedures, e, err);
    if (strcmp(name, "File") == 0)
        return add_row(r, &head->files, e, err);
    if (strcmp(name, "LoadModule") == 0)
        return add_row(r, &head->modules, e, err);
    if (strcmp(name, "Identifier") == 0)
        return add_row(r, &head->identifiers, e, err);
    if (strcmp(name, "Metric") == 0)
        return add_metric(r, e, err);
    if (strcmp(name, "MetricFormula") == 0)
        return add_formula(r, e, err);
    if (strcmp(name, "MetricDB") == 0)
        return add_metric_db(r, e, err);
    if (strcmp(name, "TraceDB") == 0)
        return add_times(r, e, err);
    if (strcmp(name, "NV") == 0)
        add_pair(r, e);
    else if (strcmp(name, "SecCallPathProfile") == 0)
        head->title = copy(r, e, "n", "");
    return true;
}

static enum cn_step on_event(void *arg, const struct cn_hpc_xml_event *e,
                             struct cn_error *err)
{
    struct head_reader *r = arg;

    if (!e->attributes)
        return CN_ITEM;
    if (e->depth > 0 && strcmp(e->name, "SecCallPathProfileData") == 0) {
        r->is_at_tree = true;
        r->head->tree_off = e->off + e->len;
        return CN_END;
    }
    return add_element(r, e, err) ? CN_ITEM : CN_FAIL;
}

bool cn_hpc_xml_head_read(struct cn_hpc_xml_head *out, struct cn_bytes text,
                          struct cn_arena *arena, struct cn_error *err)
{
    struct cn_hpc_xml_head head = {.title = "", .description = ""};
    struct head_reader r = {.head = &head, .arena = arena};
    struct cn_hpc_xml_reading reading = {.text = text,
                                         .depth_max = CN_HPC_XML_HEAD_DEPTH_MAX,
                                         .handle = on_event,
                                         .arg = &r,
                                         .without_lines = true};
    struct cn_bytes end;
    bool is_complete;
    bool ok = cn_hpc_xml_events_read(&reading, &is_complete, err) &&
              (r.is_at_tree ||
               cn_fail(err, CN_ERR_FORMAT, "there is no <SecCallPathProfileData>"));

    if (ok)
        ok = (head.tree_off >= 2 && cn_bytes_slice(text, head.tree_off - 2, 2, &end)) ||
             cn_fail(err, CN_ERR_FORMAT,
                     "the context tree begins after the end of the file");
    if (!ok) {
        cn_hpc_xml_head_done(&head);
        return false;
    }
    head.tree_is_empty = cn_bytes_equal(end, "/>");
    *out = head;
    return true;
}

void cn_hpc_xml_head_done(struct cn_hpc_xml_head *head)
{
    free(head->identifiers.list);
    free(head->modules.list);
    free(head->files.list);
    free(head->procedures.list);
    free(head->metrics);
    free(head->metric_dbs);
    *head = (struct cn_hpc_xml_head){0};
}

bool cn_hpc_xml_sniff(struct cn_bytes text, unsigned *major)
{
    static const char root[] = "<HPCToolkitExperiment";
    struct cn_bytes start = text;

    if (text.len > CN_HPC_XML_HEAD_MAX)
        (void)cn_bytes_slice(text, 0, CN_HPC_XML_HEAD_MAX, &start);
    const uint8_t *found =
        start.len == 0 ? NULL : memmem(start.ptr, start.len, root, sizeof(root) - 1);
    if (!found ||
        !cn_bytes_from(start, (uint64_t)(found - start.ptr) + sizeof(root) - 1, &start))
        return false;
    /* `version="4.0"` is the only attribute of the root. */
    for (size_t i = 0; i < start.len && start.ptr[i] != '>'; i++)
        if (start.ptr[i] >= '0' && start.ptr[i] <= '9') {
            *major = start.ptr[i] - (unsigned)'0';
            return true;
        }
    return false;
}
