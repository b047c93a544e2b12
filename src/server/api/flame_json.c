#include "server/api/flame_json.h"

#include "server/api/code_json.h"
#include "server/served/flame.h"

void cn_json_flame(struct cn_json *json, const struct cn_flame *flame, double total)
{
    struct cn_code_table codes = {0};

    cn_json_add_f64(json, "total", total);
    cn_json_add_bool(json, "isCut", flame->count == CN_FLAME_NODE_MAX);
    cn_json_add_strs(json, "names", flame->names.list, flame->names.count);
    cn_json_add_strs(json, "modules", flame->modules.list, flame->modules.count);
    if (flame->has_waits)
        cn_json_add_strs(json, "waits", cn_wait_states, CN_WAIT_KINDS);
    cn_json_add_array(json, "nodes");
    for (size_t i = 0; i < flame->count; i++) {
        const struct cn_flame_node *node = &flame->nodes[i];

        cn_json_array(json);
        cn_json_u64(json, node->depth);
        cn_json_u64(json, node->name);
        cn_json_u64(json, node->module);
        cn_json_f64(json, node->total);
        cn_json_f64(json, node->self);
        cn_json_id(json, node->id);
        for (unsigned k = 0; flame->has_waits && k < CN_WAIT_KINDS; k++)
            cn_json_f64(json, node->waits[k]);
        cn_json_end(json);
    }
    cn_json_end(json);
    if (!flame->has_codes)
        return;
    cn_json_add_array(json, "nodeCodes");
    for (size_t i = 0; i < flame->count; i++)
        cn_json_code(json, &codes, flame->nodes[i].code);
    cn_json_end(json);
    cn_json_add_codes(json, &codes);
}
