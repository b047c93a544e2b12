#include "formats/hpctoolkit/xml/head_reader.h"

#include <expat.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "formats/hpctoolkit/xml/scanner.h"

enum { FEED_LEN = 64 * 1024 };

struct reading {
    struct cn_hpc_xml_head *head;
    struct cn_arena *arena;
    XML_Parser parser;
    unsigned depth;
    bool is_at_tree;
    struct cn_error err; /* why a handler stopped the parser */
};

static void refuse(struct reading *r)
{
    (void)XML_StopParser(r->parser, XML_FALSE);
}

/* An attribute, or NULL. */
static const char *get(const char **attributes, const char *name)
{
    for (size_t i = 0; attributes[i]; i += 2)
        if (strcmp(attributes[i], name) == 0)
            return attributes[i + 1];
    return NULL;
}

static const char *keep(struct reading *r, const char **attributes, const char *name,
                        const char *otherwise)
{
    const char *value = get(attributes, name);

    return value ? cn_arena_strdup(r->arena, value) : otherwise;
}

static struct cn_bytes bytes_of(const char *text)
{
    return (struct cn_bytes){(const uint8_t *)text, strlen(text)};
}

static bool number(struct reading *r, const char *element, const char **attributes,
                   const char *name, int64_t otherwise, int64_t *out)
{
    const char *value = get(attributes, name);

    *out = otherwise;
    if (!value || cn_hpc_xml_parse_i64(bytes_of(value), out))
        return true;
    (void)cn_fail(&r->err, CN_ERR_FORMAT, "<%s>: %s=\"%.64s\" is no whole number",
                  element, name, value);
    refuse(r);
    return false;
}

/* The number a row cannot be without. */
static bool needed(struct reading *r, const char *element, const char **attributes,
                   const char *name, int64_t *out)
{
    if (get(attributes, name))
        return number(r, element, attributes, name, 0, out);
    (void)cn_fail(&r->err, CN_ERR_FORMAT, "<%s> has no %s", element, name);
    refuse(r);
    return false;
}

static void add_row(struct reading *r, struct cn_hpc_xml_rows *rows, const char *element,
                    const char **attributes)
{
    struct cn_hpc_xml_row row = {.name = keep(r, attributes, "n", "")};
    const char *address = get(attributes, "v");

    if (!needed(r, element, attributes, "i", &row.id) ||
        !number(r, element, attributes, "f", 0, &row.flags))
        return;
    if (address && !cn_hpc_xml_parse_u64(bytes_of(address), &row.address)) {
        (void)cn_fail(&r->err, CN_ERR_FORMAT, "<%s>: v=\"%.64s\" is no address", element,
                      address);
        refuse(r);
        return;
    }
    rows->list = cn_grow(rows->list, rows->count, &rows->capacity, sizeof(*rows->list));
    rows->list[rows->count++] = row;
}

static bool has_room(struct reading *r, size_t count, const char *element)
{
    if (count < CN_HPC_XML_METRIC_MAX)
        return true;
    (void)cn_fail(&r->err, CN_ERR_LIMIT, "more than %d <%s>s", CN_HPC_XML_METRIC_MAX,
                  element);
    refuse(r);
    return false;
}

static void add_metric(struct reading *r, const char **attributes)
{
    struct cn_hpc_xml_head *head = r->head;
    struct cn_hpc_xml_metric metric = {
        .name = keep(r, attributes, "n", ""),
        .type = keep(r, attributes, "t", ""),
        .format = keep(r, attributes, "fmt", NULL),
        .combine = "",
        .view = "",
    };

    if (!has_room(r, head->metric_count, "Metric") ||
        !needed(r, "Metric", attributes, "i", &metric.id) ||
        !number(r, "Metric", attributes, "show", CN_HPC_XML_SHOWN, &metric.show) ||
        !number(r, "Metric", attributes, "show-percent", 1, &metric.show_percent))
        return;
    head->metrics = cn_grow(head->metrics, head->metric_count, &head->metric_capacity,
                            sizeof(*head->metrics));
    head->metrics[head->metric_count++] = metric;
}

static void add_formula(struct reading *r, const char **attributes)
{
    struct cn_hpc_xml_head *head = r->head;
    const char *type = get(attributes, "t");
    struct cn_hpc_xml_metric *metric;

    if (head->metric_count == 0) {
        (void)cn_fail(&r->err, CN_ERR_FORMAT, "<MetricFormula> without a <Metric>");
        refuse(r);
        return;
    }
    metric = &head->metrics[head->metric_count - 1];
    if (type && strcmp(type, "combine") == 0)
        metric->combine = keep(r, attributes, "frm", "");
    else
        metric->view = keep(r, attributes, "frm", "");
}

static void add_metric_db(struct reading *r, const char **attributes)
{
    struct cn_hpc_xml_head *head = r->head;
    struct cn_hpc_xml_metric_db row = {
        .name = keep(r, attributes, "n", ""),
        .type = keep(r, attributes, "t", ""),
    };

    if (!has_room(r, head->metric_db_count, "MetricDB") ||
        !needed(r, "MetricDB", attributes, "i", &row.id) ||
        !number(r, "MetricDB", attributes, "db-id", row.id, &row.column))
        return;
    head->metric_dbs = cn_grow(head->metric_dbs, head->metric_db_count,
                               &head->metric_db_capacity, sizeof(*head->metric_dbs));
    head->metric_dbs[head->metric_db_count++] = row;
}

static void add_times(struct reading *r, const char **attributes)
{
    /* The first writers counted microseconds and did not say so. */
    enum { MICROSECONDS = 1000000 };
    int64_t begin, end, ticks;

    if (!number(r, "TraceDB", attributes, "db-min-time", 0, &begin) ||
        !number(r, "TraceDB", attributes, "db-max-time", 0, &end) ||
        !number(r, "TraceDB", attributes, "u", MICROSECONDS, &ticks))
        return;
    r->head->has_times = get(attributes, "db-min-time") && get(attributes, "db-max-time");
    r->head->begin = (uint64_t)begin;
    r->head->end = (uint64_t)end;
    r->head->ticks_per_second = (uint64_t)ticks;
}

static void add_pair(struct reading *r, const char **attributes)
{
    const char *name = get(attributes, "n");
    const char *value = get(attributes, "v");

    if (!name || !value)
        return;
    if (strcmp(name, CN_HPC_XML_DESCRIPTION) == 0)
        r->head->description = cn_arena_strdup(r->arena, value);
    else if (strcmp(name, CN_HPC_XML_LINES_NAME) == 0)
        r->head->lines_have_calls = strcmp(value, CN_HPC_XML_LINES_VALUE) == 0;
}

/* "4.0" */
static bool parse_version(const char *text, struct cn_hpc_xml_head *head)
{
    const char *dot = text ? strchr(text, '.') : NULL;
    uint64_t major, minor;

    if (!dot ||
        !cn_hpc_xml_parse_u64((struct cn_bytes){(const uint8_t *)text,
                                                (size_t)(dot - text)},
                              &major) ||
        !cn_hpc_xml_parse_u64(bytes_of(dot + 1), &minor) || major > 99 || minor > 99)
        return false;
    head->major = (unsigned)major;
    head->minor = (unsigned)minor;
    return true;
}

static void begin_root(struct reading *r, const char *name, const char **attributes)
{
    const char *version = get(attributes, "version");

    if (strcmp(name, "HPCToolkitExperiment") != 0)
        (void)cn_fail(&r->err, CN_ERR_FORMAT,
                      "the root element is <%.64s>, not <HPCToolkitExperiment>", name);
    else if (!parse_version(version, r->head))
        (void)cn_fail(&r->err, CN_ERR_FORMAT, "version \"%.64s\" is none",
                      version ? version : "");
    else
        return;
    refuse(r);
}

static void begin_tree(struct reading *r)
{
    XML_Index off = XML_GetCurrentByteIndex(r->parser);

    r->head->tree_off =
        (uint64_t)off + (uint64_t)XML_GetCurrentByteCount(r->parser);
    r->is_at_tree = true;
    (void)XML_StopParser(r->parser, XML_TRUE);
}

static void XMLCALL on_start(void *arg, const char *name, const char **attributes)
{
    struct reading *r = arg;
    struct cn_hpc_xml_head *head = r->head;

    if (r->is_at_tree || r->err.kind != CN_ERR_NONE)
        return;
    if (r->depth++ == 0)
        begin_root(r, name, attributes);
    else if (r->depth > CN_HPC_XML_HEAD_DEPTH_MAX) {
        (void)cn_fail(&r->err, CN_ERR_LIMIT, "elements nested deeper than %d",
                      CN_HPC_XML_HEAD_DEPTH_MAX);
        refuse(r);
    } else if (strcmp(name, "Procedure") == 0)
        add_row(r, &head->procedures, name, attributes);
    else if (strcmp(name, "File") == 0)
        add_row(r, &head->files, name, attributes);
    else if (strcmp(name, "LoadModule") == 0)
        add_row(r, &head->modules, name, attributes);
    else if (strcmp(name, "Identifier") == 0)
        add_row(r, &head->identifiers, name, attributes);
    else if (strcmp(name, "Metric") == 0)
        add_metric(r, attributes);
    else if (strcmp(name, "MetricFormula") == 0)
        add_formula(r, attributes);
    else if (strcmp(name, "MetricDB") == 0)
        add_metric_db(r, attributes);
    else if (strcmp(name, "TraceDB") == 0)
        add_times(r, attributes);
    else if (strcmp(name, "NV") == 0)
        add_pair(r, attributes);
    else if (strcmp(name, "SecCallPathProfile") == 0)
        head->title = keep(r, attributes, "n", "");
    else if (strcmp(name, "SecCallPathProfileData") == 0)
        begin_tree(r);
}

static void XMLCALL on_end(void *arg, const char *name)
{
    struct reading *r = arg;

    (void)name;
    if (!r->is_at_tree)
        r->depth--;
}

static void XMLCALL on_entity(void *arg, const XML_Char *name, int is_parameter,
                              const XML_Char *value, int value_len, const XML_Char *base,
                              const XML_Char *system_id, const XML_Char *public_id,
                              const XML_Char *notation)
{
    struct reading *r = arg;

    (void)is_parameter, (void)value, (void)value_len, (void)base;
    (void)system_id, (void)public_id, (void)notation;
    (void)cn_fail(&r->err, CN_ERR_FORMAT,
                  "entity %.64s is declared: such files are not read", name);
    refuse(r);
}

static void XMLCALL on_declaration(void *arg, const XML_Char *version,
                                   const XML_Char *encoding, int standalone)
{
    struct reading *r = arg;

    (void)version, (void)standalone;
    if (!encoding || strcasecmp(encoding, "UTF-8") == 0 ||
        strcasecmp(encoding, "US-ASCII") == 0)
        return;
    (void)cn_fail(&r->err, CN_ERR_FORMAT, "encoding %.64s, can read UTF-8", encoding);
    refuse(r);
}

/* Why the parser gave up. */
static bool parser_failure(struct reading *r, struct cn_bytes text, struct cn_error *err)
{
    XML_Index off = XML_GetCurrentByteIndex(r->parser);

    if (r->err.kind != CN_ERR_NONE)
        *err = r->err;
    else
        (void)cn_fail(err, CN_ERR_FORMAT, "%s",
                      XML_ErrorString(XML_GetErrorCode(r->parser)));
    return cn_hpc_xml_fail_at(text, off < 0 ? 0 : (uint64_t)off, err);
}

/* Give the text to expat piece by piece. It keeps what it has not understood yet: more of that
 * than the longest tag ends the reading. */
static bool feed(struct reading *r, struct cn_bytes text, struct cn_error *err)
{
    size_t fed = 0;

    while (!r->is_at_tree) {
        size_t len = text.len - fed < FEED_LEN ? text.len - fed : FEED_LEN;
        struct cn_bytes part;
        XML_Index off;

        (void)cn_bytes_slice(text, fed, len, &part);
        fed += len;
        if (XML_Parse(r->parser, (const char *)part.ptr, (int)len, fed == text.len) ==
            XML_STATUS_ERROR)
            return parser_failure(r, text, err);
        off = XML_GetCurrentByteIndex(r->parser);
        if (!r->is_at_tree && off >= 0 && fed - (uint64_t)off > CN_HPC_XML_TAG_MAX + len) {
            (void)cn_fail(err, CN_ERR_LIMIT, "a tag of more than %d bytes",
                          CN_HPC_XML_TAG_MAX);
            return cn_hpc_xml_fail_at(text, (uint64_t)off, err);
        }
        if (!r->is_at_tree && fed == text.len)
            return cn_fail(err, CN_ERR_FORMAT, "no <SecCallPathProfileData>");
    }
    r->head->tree_is_empty =
        r->head->tree_off >= 2 && text.ptr[r->head->tree_off - 2] == '/';
    return true;
}

static bool is_wide(struct cn_bytes text)
{
    return text.len >= 2 && ((text.ptr[0] == 0xfe && text.ptr[1] == 0xff) ||
                             (text.ptr[0] == 0xff && text.ptr[1] == 0xfe) ||
                             text.ptr[0] == 0 || text.ptr[1] == 0);
}

static bool read_head(struct reading *r, struct cn_bytes text, struct cn_error *err)
{
    if (is_wide(text))
        return cn_fail(err, CN_ERR_FORMAT, "encoding UTF-16 or UTF-32, can read UTF-8");
    if (text.len == 0)
        return cn_fail(err, CN_ERR_FORMAT, "the file is empty");
    r->parser = XML_ParserCreate(NULL);
    if (!r->parser)
        return cn_fail(err, CN_ERR_LIMIT, "no memory for an XML parser");
    XML_SetUserData(r->parser, r);
    XML_SetElementHandler(r->parser, on_start, on_end);
    XML_SetEntityDeclHandler(r->parser, on_entity);
    XML_SetXmlDeclHandler(r->parser, on_declaration);
    return feed(r, text, err);
}

bool cn_hpc_xml_head_read(struct cn_hpc_xml_head *out, struct cn_bytes text,
                          struct cn_arena *arena, struct cn_error *err)
{
    struct cn_hpc_xml_head head = {.title = "", .description = ""};
    struct reading r = {.head = &head, .arena = arena};
    bool ok = read_head(&r, text, err);

    if (r.parser)
        XML_ParserFree(r.parser);
    if (!ok) {
        cn_hpc_xml_head_done(&head);
        return false;
    }
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
    const uint8_t *found;

    if (text.len > CN_HPC_XML_HEAD_MAX)
        (void)cn_bytes_slice(text, 0, CN_HPC_XML_HEAD_MAX, &start);
    found = start.len == 0 ? NULL
                           : memmem(start.ptr, start.len, root, sizeof(root) - 1);
    if (!found ||
        !cn_bytes_from(start, (uint64_t)(found - start.ptr) + sizeof(root) - 1, &start))
        return false;
    /* `version="4.0"`, the only attribute the root ever had. */
    for (size_t i = 0; i < start.len && start.ptr[i] != '>'; i++)
        if (start.ptr[i] >= '0' && start.ptr[i] <= '9') {
            *major = start.ptr[i] - (unsigned)'0';
            return true;
        }
    return false;
}
