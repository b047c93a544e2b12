/* Any bytes as the tree of another rank: what is accepted is sent on as a tree that is
 * accepted, and is numbered. */

#include <assert.h>
#include <stdlib.h>

#include "analyze/cct/ranks.h"
#include "base/bytes/wire.h"
#include "support/fuzz.h"

static bool decode(struct cn_cct_merged *merged, struct cn_bytes message)
{
    struct cn_error err;
    uint32_t *nodes = NULL;
    size_t count;
    bool ok = cn_cct_merged_decode(merged, message, &nodes, &count, &err);

    free(nodes);
    return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_cct_merged merged, again;
    struct cn_text message = {0};

    cn_cct_merged_init(&merged, NULL);
    if (decode(&merged, (struct cn_bytes){data, len})) {
        cn_cct_merged_encode(&merged, &message);
        cn_cct_merged_init(&again, NULL);
        assert(decode(&again, cn_wire_view(&message)));
        assert(again.tree.count == merged.tree.count);
        cn_cct_merged_done(&again);
        cn_cct_merged_number(&merged, 1);
        assert(merged.context_count <= merged.tree.count);
    }
    cn_cct_merged_done(&merged);
    cn_text_done(&message);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    struct cn_cct_merged merged;
    struct cn_text message = {0};
    uint32_t module, file, line;
    cn_cct_id node;

    cn_cct_merged_init(&merged, NULL);
    module = cn_cct_names_module(
        &merged.names, &(struct cn_call_module){.path = "/bin/prog", .build_id = "12ab"});
    file = cn_cct_names_file(&merged.names, "prog.c");
    line = cn_cct_names_line(&merged.names, file, 7);
    node = cn_tree_child(&merged.tree, 0, CN_ENTRY_MAIN_THREAD);
    node = cn_tree_child(
        &merged.tree, node,
        cn_cct_names_known(&merged.names,
                           &(struct cn_function){"main", module, 0x40, file, 3}));
    node = cn_tree_child(&merged.tree, node, CN_CCT_KEY_LINE | line);
    node = cn_tree_child(&merged.tree, node,
                         CN_CCT_KEY_INLINED | cn_cct_names_other(&merged.names, "f"));
    cn_cct_merged_encode(&merged, &message);
    emit((const uint8_t *)message.chars, message.len);
    cn_cct_merged_weigh_node(&merged, node, 40);
    cn_text_clear(&message);
    cn_cct_merged_encode(&merged, &message);
    emit((const uint8_t *)message.chars, message.len);
    cn_cct_merged_done(&merged);
    cn_text_done(&message);
}
