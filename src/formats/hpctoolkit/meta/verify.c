#include "formats/hpctoolkit/meta/verify.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/bytes/utf8.h"
#include "base/map.h"
#include "base/text.h"
#include "formats/hpctoolkit/meta/meta.h"
#include "model/contexts/formula.h"

enum {
    PROPAGATION_BITS = 16,
    ID_COUNT = UINT16_MAX + 1,
    ID_MAX = 32767, /* hpcviewer: ids are signed */
    /* Strings may be shared, but together be at most this many times the file. */
    STRING_SHARING_MAX = 64,
};

struct verifier {
    struct cn_hpc_meta_check *check;
    struct cn_findings *f;
    struct cn_hpc_walk walk;
    bool is_proto;
    uint64_t string_budget;      /* bytes of strings that may still be checked */
    struct cn_names names;       /* of metrics */
    struct cn_names scope_names; /* of the scopes of a metric */
};

static void check_text(struct verifier *v, const char *what, const char *text,
                       uint64_t off)
{
    size_t len = strlen(text);

    if (len > v->string_budget) {
        cn_findings_warn(v->f, "strings-shared", off,
                         "%s: records share so many strings that this one is not checked",
                         what);
        return;
    }
    v->string_budget -= len;
    if (!cn_utf8_is_valid(text, len))
        cn_findings_add(v->f, !v->is_proto, "string-utf8", off, "%s is not UTF-8", what);
}

static void check_scope(struct verifier *v, const struct cn_hpc_item *item)
{
    uint64_t type = cn_hpc_item_get(item, "type");
    uint64_t bit = cn_hpc_item_get(item, "propagation");

    if (type > CN_SCOPE_TRANSITIVE)
        cn_findings_warn(v->f, "unknown-value", item->off,
                         "scope type %" PRIu64 " is unknown", type);
    if (bit < PROPAGATION_BITS)
        return;
    if (type == CN_SCOPE_TRANSITIVE)
        cn_findings_error(v->f, "propagation-index", item->off,
                          "transitive scope follows bit %" PRIu64 ", there are %d", bit,
                          PROPAGATION_BITS);
    else
        cn_findings_warn(v->f, "propagation-index", item->off,
                         "propagation index %" PRIu64
                         " of a scope that is not transitive, limit %d",
                         bit, PROPAGATION_BITS);
}

static void check_metric(struct verifier *v, const struct cn_hpc_item *item)
{
    const char *name = item->parts[0].text;

    if (name && cn_names_had(&v->names, name))
        cn_findings_warn(v->f, "metric-name-unique", item->off,
                         "two metrics are called %.80s", name);
    cn_names_done(&v->scope_names);
}

static void check_metric_id(struct verifier *v, struct cn_hpc_set *ids,
                            const struct cn_hpc_item *item, const char *field,
                            const char *what)
{
    uint64_t id = cn_hpc_item_get(item, field);

    if (!cn_hpc_set_add(ids, id))
        cn_findings_error(v->f, "metric-id-unique", item->off,
                          "%s id %" PRIu64 " is used twice", what, id);
    if (id > ID_MAX)
        cn_findings_warn(v->f, "metric-id-signed", item->off,
                         "%s id %" PRIu64 ": hpcviewer reads ids up to %d", what, id,
                         ID_MAX);
}

static void check_instance(struct verifier *v, const struct cn_hpc_item *item)
{
    const char *name = item->parts[0].text;

    check_metric_id(v, &v->check->prop_ids, item, "prop_id", "propagated metric");
    /* Only scopes inside metrics have a name. */
    if (v->is_proto && name && cn_names_had(&v->scope_names, name))
        cn_findings_error(v->f, "scope-unique", item->off,
                          "scope %.80s occurs twice in a metric", name);
}

static void check_statistic(struct verifier *v, const struct cn_hpc_item *item)
{
    const char *text = item->parts[0].text;
    uint64_t combine = cn_hpc_item_get(item, "combine");
    const struct cn_formula *formula;
    struct cn_arena arena = {0};
    struct cn_error err = {0};

    if (text && !cn_formula_parse(&formula, text, &arena, &err))
        cn_findings_error(v->f, "formula", item->parts[0].off, "%s", err.text);
    cn_arena_done(&arena);
    check_metric_id(v, &v->check->stat_ids, item, "stat_id", "statistic");
    if (combine > CN_COMBINE_MAX)
        cn_findings_warn(v->f, "unknown-value", item->off,
                         "combine %" PRIu64 " is unknown", combine);
}

static void check_reserved(struct verifier *v, const struct cn_hpc_item *item,
                           uint64_t known)
{
    uint64_t flags = cn_hpc_item_get(item, "flags");

    if (flags & ~known)
        cn_findings_warn(v->f, "reserved-bits", item->off,
                         "%s: reserved bits of flags 0x%" PRIx64 " are set",
                         v->walk.meta->encoding->shapes[item->shape]->name, flags);
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

static void check_file(struct verifier *v, const struct cn_hpc_item *item)
{
    const char *path = item->parts[0].text;
    struct stat st;

    check_reserved(v, item, CN_HPC_FILE_COPIED);
    if (v->is_proto || !path || !(cn_hpc_item_get(item, "flags") & CN_HPC_FILE_COPIED))
        return;
    if (!stays_inside(path)) {
        cn_findings_error(v->f, "copied-path", item->off,
                          "copied file %.200s lies outside the database", path);
        return;
    }
    if (!v->check->dir)
        return;
    char *full = cn_strprintf("%s/%s", v->check->dir, path);
    if (stat(full, &st) != 0 || !S_ISREG(st.st_mode))
        cn_findings_warn(v->f, "copied-missing", item->off,
                         "copied file %.200s is not in the database", path);
    free(full);
}

static void check_function(struct verifier *v, const struct cn_hpc_item *item)
{
    uint64_t name_off = cn_hpc_item_get(item, "name_off");

    check_reserved(v, item, 0);
    if (v->is_proto || name_off != 0)
        return;
    cn_findings_warn(v->f, "function-name", item->off,
                     "no name: hpcviewer cannot read a name at 0");
    if (cn_hpc_item_get(item, "module_off") == 0 &&
        cn_hpc_item_get(item, "file_off") == 0)
        cn_findings_error(v->f, "function-empty", item->off,
                          "neither name, module nor file");
}

static void check_context_id(struct verifier *v, uint32_t id, uint64_t off)
{
    struct cn_hpc_meta_check *check = v->check;

    if (id == 0) {
        cn_findings_error(v->f, "context-id-zero", off,
                          "context id 0 is reserved for the global context");
        return;
    }
    if (id > check->c.context_last)
        check->c.context_last = id;
    if (id >= check->contexts.limit)
        cn_findings_error(
            v->f, "context-id-spread", off,
            "context id %" PRIu32
            " is out of proportion to the size of the section, limit %" PRIu64,
            id, check->contexts.limit);
    else if (!cn_hpc_set_add(&check->contexts, id))
        cn_findings_error(v->f, "context-id-unique", off,
                          "context id %" PRIu32 " is used twice", id);
}

static void check_entry(struct verifier *v, const struct cn_hpc_item *item)
{
    uint64_t entry = cn_hpc_item_get(item, "entry");

    check_context_id(v, (uint32_t)cn_hpc_item_get(item, "context"), item->off);
    if (entry > CN_ENTRY_APPLICATION_THREAD)
        cn_findings_warn(v->f, "unknown-value", item->off,
                         "entry point %" PRIu64 " is unknown", entry);
}

static bool on_record(void *arg, const struct cn_hpc_item *item)
{
    struct verifier *v = arg;
    const struct cn_hpc_shape *shape = v->walk.meta->encoding->shapes[item->shape];

    for (size_t i = 0; i < CN_HPC_PART_MAX; i++)
        if (item->parts[i].text)
            check_text(v, shape->parts[i].what, item->parts[i].text, item->parts[i].off);
    switch (item->shape) {
    case CN_HPC_KIND_SHAPE:
        v->check->c.kind_count++;
        break;
    case CN_HPC_SCOPE_SHAPE:
        check_scope(v, item);
        break;
    case CN_HPC_METRIC_SHAPE:
        check_metric(v, item);
        break;
    case CN_HPC_INSTANCE_SHAPE:
        check_instance(v, item);
        break;
    case CN_HPC_STATISTIC_SHAPE:
        check_statistic(v, item);
        break;
    case CN_HPC_MODULE_SHAPE:
        check_reserved(v, item, 0);
        break;
    case CN_HPC_FILE_SHAPE:
        check_file(v, item);
        break;
    case CN_HPC_FUNCTION_SHAPE:
        check_function(v, item);
        break;
    case CN_HPC_ENTRY_SHAPE:
        check_entry(v, item);
        break;
    default:
        break;
    }
    return true;
}

static void check_pointer(struct verifier *v, bool is_there, unsigned shape,
                          uint64_t pointer, uint64_t off)
{
    if (is_there)
        cn_hpc_check_pointer(v->f, "pointer-element", &v->walk.tables[shape], pointer,
                             off, v->walk.meta->encoding->shapes[shape]->name);
}

static void check_kind(struct verifier *v, const struct cn_hpc_node *node, uint64_t off)
{
    bool is_loop = node->kind == CN_CONTEXT_LOOP;

    if (node->kind > CN_CONTEXT_INSTRUCTION)
        cn_findings_warn(v->f, "unknown-value", off, "lexical type %u is unknown",
                         node->kind);
    if ((is_loop || node->kind == CN_CONTEXT_LINE) && !node->has_source)
        cn_findings_add(v->f, v->is_proto, "context-source", off,
                        "context %" PRIu32 ": a %s without source location", node->id,
                        is_loop ? "loop" : "line");
    if (node->kind == CN_CONTEXT_INSTRUCTION && !node->has_point)
        cn_findings_add(v->f, v->is_proto, "context-point", off,
                        "context %" PRIu32 ": an instruction without module and offset",
                        node->id);
}

static bool on_node(void *arg, const struct cn_hpc_node *node, uint64_t off,
                    uint64_t index)
{
    const unsigned known = 1 << 0 | 1 << 1 | 1 << 2; /* function, source, point */
    struct verifier *v = arg;

    (void)index;
    check_context_id(v, node->id, off);
    if (node->flags & ~known)
        cn_findings_warn(v->f, "reserved-bits", off,
                         "context %" PRIu32 ": reserved bits of flags 0x%x are set",
                         node->id, node->flags);
    if (node->relation > CN_INLINED_CALL)
        cn_findings_warn(v->f, "unknown-value", off, "relation %u is unknown",
                         node->relation);
    check_kind(v, node, off);
    if ((node->relation == CN_LEXICAL) != (node->propagation & 1))
        cn_findings_warn(v->f, "propagation-mask", off,
                         "context %" PRIu32
                         ": propagation 0x%x, but bit 0 means relation lexical, not %u",
                         node->id, node->propagation, node->relation);
    check_pointer(v, node->has_function, CN_HPC_FUNCTION_SHAPE, node->function_off, off);
    check_pointer(v, node->has_source, CN_HPC_FILE_SHAPE, node->file_off, off);
    check_pointer(v, node->has_point, CN_HPC_MODULE_SHAPE, node->module_off, off);
    check_pointer(v, node->has_caller, CN_HPC_FILE_SHAPE, node->caller_file_off, off);
    if (node->has_surplus)
        cn_findings_warn(v->f, "flex-words", off,
                         "flex words are more than flags 0x%x need", node->flags);
    return true;
}

/* A walk that reports findings goes on to its end. */
static void walk(struct verifier *v, enum cn_hpc_meta_section section)
{
    struct cn_error err;
    bool ok = cn_hpc_walk_section(&v->walk, section, &err);

    assert(ok);
}

static void verify_metrics(struct verifier *v)
{
    struct cn_hpc_meta_check *check = v->check;
    uint64_t errors = v->f->error_count;
    struct cn_error err = {0};

    cn_hpc_set_init(&check->prop_ids, ID_COUNT);
    cn_hpc_set_init(&check->stat_ids, ID_COUNT);
    walk(v, CN_HPC_METRICS);
    if (cn_hpc_meta_read(v->walk.meta, &check->head, &err)) {
        check->c.thread_ids = &check->prop_ids;
        check->c.summary_ids = &check->stat_ids;
        cn_zero_ids_init(&check->zero_ids[0], &check->head.metrics, false);
        cn_zero_ids_init(&check->zero_ids[1], &check->head.metrics, true);
        check->c.zero_ids = check->zero_ids;
    } else if (v->f->error_count == errors) {
        cn_findings_error(v->f, "metrics", v->walk.section.off, "%s", err.text);
    }
}

static void verify_contexts(struct verifier *v)
{
    const struct cn_hpc_meta *meta = v->walk.meta;
    uint64_t len = meta->sections[CN_HPC_CONTEXTS].bytes.len;
    uint64_t errors = v->f->error_count;
    uint64_t limit = (len / meta->encoding->node_min + 1) * CN_HPC_ID_SPREAD_MAX;
    struct cn_error err;

    cn_hpc_set_init(&v->check->contexts, limit < UINT32_MAX ? limit : UINT32_MAX);
    walk(v, CN_HPC_CONTEXTS);
    bool ok = cn_hpc_walk_nodes(&v->walk, on_node, &err);
    assert(ok);
    if (v->f->error_count == errors)
        v->check->c.contexts = &v->check->contexts;
    if (v->check->c.context_last == 0 && !v->is_proto)
        cn_findings_warn(v->f, "no-contexts", meta->sections[CN_HPC_CONTEXTS].off,
                         "no context is listed: hpcviewer shows no row, Hatchet fails");
}

void cn_hpc_meta_verify(struct cn_hpc_meta_check *check, const struct cn_hpc_meta *meta)
{
    struct verifier v = {
        .check = check,
        .f = &check->c.f,
        .walk = {.meta = meta, .record = on_record, .f = &check->c.f},
        .is_proto = meta->encoding->is_proto,
        .string_budget = STRING_SHARING_MAX * (uint64_t)meta->file.len,
    };

    v.walk.arg = &v;
    walk(&v, CN_HPC_GENERAL);
    walk(&v, CN_HPC_ID_NAMES);
    verify_metrics(&v);
    if (!meta->is_unfinished) {
        walk(&v, CN_HPC_MODULES);
        walk(&v, CN_HPC_FILES);
        walk(&v, CN_HPC_FUNCTIONS);
        verify_contexts(&v);
    }
    cn_names_done(&v.names);
    cn_names_done(&v.scope_names);
}

void cn_hpc_meta_check_done(struct cn_hpc_meta_check *check)
{
    cn_hpc_check_done(&check->c);
    cn_hpc_set_done(&check->prop_ids);
    cn_hpc_set_done(&check->stat_ids);
    cn_hpc_set_done(&check->contexts);
    cn_arena_done(&check->head.arena);
}
