#include "server/served/flame_json.h"

void cn_flame_begin(struct cn_flame *flame)
{
    *flame = (struct cn_flame){0};
    flame->nodes.text = &flame->nodes_text;
    cn_json_array(&flame->nodes);
}

bool cn_flame_add(struct cn_flame *flame, const struct cn_flame_node *node)
{
    struct cn_json *json = &flame->nodes;

    if (flame->count == CN_FLAME_NODE_MAX)
        return false;
    flame->count++;
    cn_json_array(json);
    cn_json_u64(json, node->depth);
    cn_json_u64(json, cn_names_add(&flame->names, node->name));
    cn_json_u64(json, cn_names_add(&flame->modules, node->module ? node->module : ""));
    cn_json_f64(json, node->total);
    cn_json_f64(json, node->self);
    cn_json_id(json, node->id);
    for (unsigned i = 0; flame->has_waits && i < CN_WAIT_KINDS; i++)
        cn_json_f64(json, node->waits[i]);
    cn_json_end(json);
    return true;
}

static void add_names(struct cn_json *json, const char *key, const struct cn_names *names)
{
    cn_json_key(json, key);
    cn_json_array(json);
    for (size_t i = 0; i < names->count; i++)
        cn_json_str(json, names->list[i]);
    cn_json_end(json);
}

void cn_flame_end(struct cn_flame *flame, struct cn_json *json, double total)
{
    cn_json_end(&flame->nodes);
    cn_json_add_f64(json, "total", total);
    cn_json_add_bool(json, "isCut", flame->count == CN_FLAME_NODE_MAX);
    add_names(json, "names", &flame->names);
    add_names(json, "modules", &flame->modules);
    if (flame->has_waits) {
        cn_json_key(json, "waits");
        cn_json_array(json);
        for (unsigned i = 0; i < CN_WAIT_KINDS; i++)
            cn_json_str(json, cn_wait_states[i]);
        cn_json_end(json);
    }
    cn_json_key(json, "nodes");
    cn_json_raw(json, flame->nodes_text.chars, flame->nodes_text.len);
    cn_text_done(&flame->nodes_text);
    cn_names_done(&flame->names);
    cn_names_done(&flame->modules);
}
