#include "server/served/flame.h"

#include <stdlib.h>

#include "base/alloc.h"

bool cn_flame_add(struct cn_flame *flame, const struct cn_flame_node *node,
                  const char *name, const char *module)
{
    struct cn_flame_node *added;

    if (flame->count == CN_FLAME_NODE_MAX)
        return false;
    flame->nodes =
        cn_grow(flame->nodes, flame->count, &flame->capacity, sizeof(*flame->nodes));
    added = &flame->nodes[flame->count++];
    *added = *node;
    added->name = cn_names_add(&flame->names, name);
    added->module = cn_names_add(&flame->modules, module ? module : "");
    return true;
}

void cn_flame_done(struct cn_flame *flame)
{
    free(flame->nodes);
    cn_names_done(&flame->names);
    cn_names_done(&flame->modules);
    *flame = (struct cn_flame){0};
}
