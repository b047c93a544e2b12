#include "analyze/cct/ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/wire.h"

/* The least lengths of elements. */
enum {
    STR_LEN = 9,
    MODULE_LEN = 2 * STR_LEN,
    FUNCTION_LEN = STR_LEN + 20,
    LINE_LEN = 8,
    NODE_LEN = 8,
};

/* From numbers of the message to ours. */
struct translation {
    struct cn_cct_merged *merged;
    struct cn_bytes from;
    uint32_t *modules, *files, *functions, *lines, *nodes;
    size_t module_count, file_count, function_count, line_count, node_count;
    bool has_times;
};

static const char *build_id_of(const struct cn_cct_names *names, size_t module)
{
    return names->module_keys.list[module] + strlen(names->modules[module].path) + 1;
}

static void encode_names(const struct cn_cct_names *names, struct cn_text *message)
{
    cn_wire_u64(message, names->module_keys.count);
    for (size_t i = 0; i < names->module_keys.count; i++) {
        cn_wire_str(message, names->modules[i].path);
        cn_wire_str(message, build_id_of(names, i));
    }
    cn_wire_u64(message, names->file_keys.count);
    for (size_t i = 0; i < names->file_keys.count; i++)
        cn_wire_str(message, names->file_keys.list[i]);
    cn_wire_u64(message, names->function_keys.count);
    for (size_t i = 0; i < names->function_keys.count; i++) {
        const struct cn_function *function = &names->functions[i];

        cn_wire_str(message, function->name);
        cn_wire_u32(message, function->module);
        cn_wire_u64(message, function->offset);
        cn_wire_u32(message, function->file);
        cn_wire_u32(message, function->line);
    }
    cn_wire_u64(message, names->line_count);
    for (size_t i = 0; i < names->line_count; i++) {
        cn_wire_u32(message, names->lines[i].file);
        cn_wire_u32(message, names->lines[i].line);
    }
}

void cn_cct_merged_encode(const struct cn_cct_merged *merged, struct cn_text *message)
{
    bool has_times = merged->self_ns != NULL;

    cn_wire_u32(message, merged->has_waits);
    cn_wire_u32(message, has_times);
    encode_names(&merged->names, message);
    cn_wire_u64(message, merged->tree.count - 1);
    for (size_t i = 1; i < merged->tree.count; i++) {
        cn_wire_u32(message, merged->tree.links[i].parent);
        cn_wire_u32(message, merged->tree.links[i].key);
        if (has_times)
            cn_wire_u64(message, i < merged->self_capacity ? merged->self_ns[i] : 0);
    }
}

static bool is_short(struct cn_error *err)
{
    return cn_fail(err, CN_ERR_FORMAT, "message with a tree ends early");
}

/* Translate a number of the message; CN_NONE stays. */
static bool translate(const uint32_t *list, size_t count, uint32_t from, const char *what,
                      uint32_t *out, struct cn_error *err)
{
    if (from != CN_NONE && from >= count)
        return cn_fail(err, CN_ERR_FORMAT, "%s %" PRIu32 " of %zu in a tree", what, from,
                       count);
    *out = from == CN_NONE ? CN_NONE : list[from];
    return true;
}

static bool decode_modules(struct translation *t, struct cn_error *err)
{
    if (!cn_wire_count_take(&t->from, MODULE_LEN, &t->module_count))
        return is_short(err);
    t->modules = cn_alloc(t->module_count, sizeof(*t->modules));
    for (size_t i = 0; i < t->module_count; i++) {
        struct cn_call_module module = {0};

        if (!cn_wire_str_take(&t->from, &module.path) ||
            !cn_wire_str_take(&t->from, &module.build_id))
            return is_short(err);
        t->modules[i] = cn_cct_names_module(&t->merged->names, &module);
    }
    return true;
}

static bool decode_files(struct translation *t, struct cn_error *err)
{
    if (!cn_wire_count_take(&t->from, STR_LEN, &t->file_count))
        return is_short(err);
    t->files = cn_alloc(t->file_count, sizeof(*t->files));
    for (size_t i = 0; i < t->file_count; i++) {
        const char *path;

        if (!cn_wire_str_take(&t->from, &path))
            return is_short(err);
        t->files[i] = cn_cct_names_file(&t->merged->names, path);
    }
    return true;
}

static bool decode_function(struct translation *t, struct cn_function *out,
                            struct cn_error *err)
{
    uint32_t module, file;

    if (!cn_wire_str_take(&t->from, &out->name) || !cn_wire_u32_take(&t->from, &module) ||
        !cn_wire_u64_take(&t->from, &out->offset) || !cn_wire_u32_take(&t->from, &file) ||
        !cn_wire_u32_take(&t->from, &out->line))
        return is_short(err);
    return translate(t->modules, t->module_count, module, "module", &out->module, err) &&
           translate(t->files, t->file_count, file, "file", &out->file, err);
}

static bool decode_functions(struct translation *t, struct cn_error *err)
{
    if (!cn_wire_count_take(&t->from, FUNCTION_LEN, &t->function_count))
        return is_short(err);
    t->functions = cn_alloc(t->function_count, sizeof(*t->functions));
    for (size_t i = 0; i < t->function_count; i++) {
        struct cn_function function;

        if (!decode_function(t, &function, err))
            return false;
        t->functions[i] = cn_cct_names_known(&t->merged->names, &function);
    }
    return true;
}

static bool decode_lines(struct translation *t, struct cn_error *err)
{
    if (!cn_wire_count_take(&t->from, LINE_LEN, &t->line_count))
        return is_short(err);
    t->lines = cn_alloc(t->line_count, sizeof(*t->lines));
    for (size_t i = 0; i < t->line_count; i++) {
        uint32_t file, line;

        if (!cn_wire_u32_take(&t->from, &file) || !cn_wire_u32_take(&t->from, &line))
            return is_short(err);
        if (file >= t->file_count)
            return cn_fail(err, CN_ERR_FORMAT, "file %" PRIu32 " of %zu in a tree", file,
                           t->file_count);
        t->lines[i] = cn_cct_names_line(&t->merged->names, t->files[file], line);
    }
    return true;
}

/* Translate the key of a node; those of entry points stay. */
static bool translate_key(const struct translation *t, uint32_t parent, uint32_t key,
                          uint32_t *out, struct cn_error *err)
{
    uint32_t bits = key & (CN_CCT_KEY_LINE | CN_CCT_KEY_INLINED);
    bool is_line = key & CN_CCT_KEY_LINE;
    uint32_t number = key & ~bits, own;

    if (parent == 0) {
        if (key > CN_ENTRY_APPLICATION_THREAD)
            return cn_fail(err, CN_ERR_FORMAT, "entry point %" PRIu32 " in a tree", key);
        *out = key;
        return true;
    }
    if (!translate(is_line ? t->lines : t->functions,
                   is_line ? t->line_count : t->function_count, number,
                   is_line ? "line" : "function", &own, err))
        return false;
    *out = bits | own;
    return true;
}

static bool decode_node(struct translation *t, uint32_t number, struct cn_error *err)
{
    struct cn_cct_merged *merged = t->merged;
    uint32_t parent, from_key, key = 0;
    uint64_t self_ns = 0;

    if (!cn_wire_u32_take(&t->from, &parent) || !cn_wire_u32_take(&t->from, &from_key) ||
        (t->has_times && !cn_wire_u64_take(&t->from, &self_ns)))
        return is_short(err);
    if (parent >= number)
        return cn_fail(err, CN_ERR_FORMAT,
                       "node %" PRIu32 " below node %" PRIu32 " in a tree", number,
                       parent);
    if (!translate_key(t, parent, from_key, &key, err))
        return false;
    t->nodes[number] = cn_tree_child(&merged->tree, t->nodes[parent], key);
    if (merged->tree.is_full || merged->tree.count >= UINT32_MAX - 1)
        return cn_fail(err, CN_ERR_LIMIT, "more contexts than 32 bits can number");
    if (t->has_times)
        cn_cct_merged_weigh_node(merged, t->nodes[number], self_ns);
    return true;
}

static bool decode_nodes(struct translation *t, struct cn_error *err)
{
    if (!cn_wire_count_take(&t->from, NODE_LEN, &t->node_count) ||
        t->node_count >= UINT32_MAX)
        return is_short(err);
    t->node_count++;
    t->nodes = cn_alloc(t->node_count, sizeof(*t->nodes));
    for (size_t i = 1; i < t->node_count; i++)
        if (!decode_node(t, (uint32_t)i, err))
            return false;
    return true;
}

bool cn_cct_merged_decode(struct cn_cct_merged *merged, struct cn_bytes message,
                          uint32_t **nodes, size_t *count, struct cn_error *err)
{
    struct translation t = {.merged = merged, .from = message};
    uint32_t has_waits, has_times;
    bool ok = (cn_wire_u32_take(&t.from, &has_waits) &&
               cn_wire_u32_take(&t.from, &has_times)) ||
              is_short(err);

    if (ok) {
        merged->has_waits = merged->has_waits || has_waits != 0;
        t.has_times = has_times != 0;
        ok = decode_modules(&t, err) && decode_files(&t, err) &&
             decode_functions(&t, err) && decode_lines(&t, err) && decode_nodes(&t, err);
    }
    if (ok) {
        *nodes = t.nodes;
        *count = t.node_count;
        t.nodes = NULL;
    }
    free(t.modules);
    free(t.files);
    free(t.functions);
    free(t.lines);
    free(t.nodes);
    return ok;
}
