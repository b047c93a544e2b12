/* The values of memory (model/memory) of an import, whose metrics come in the order of their table.
 *
 *     cn_heap_import_init(&heap, import, err)
 *     cn_heap_use_gain(heap.use, &block);        with thread 0
 *     cn_heap_import_finish(&heap, err)
 *     cn_heap_import_done(&heap);
 *
 * Values that are the same at another time can be added without the stream of allocations, with
 * cn_heap_import_add(). Borrows the import. Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_STACKS_HEAP_H
#define CN_FORMATS_EXCHANGE_READ_STACKS_HEAP_H

#include "model/memory/use.h"

struct cn_import;

struct cn_heap_import {
    struct cn_import *import;
    struct cn_heap_use *use;
    uint32_t thread; /* of the profile that knows none */
    bool has_metric[CN_HEAP_METRIC_COUNT];
    uint32_t metrics[CN_HEAP_METRIC_COUNT];
};

CN_CHECK bool cn_heap_import_init(struct cn_heap_import *heap, struct cn_import *import,
                                  struct cn_error *err);

/* The context of allocations whose stack is unknown. */
uint32_t cn_heap_import_unknown(struct cn_heap_import *heap);

CN_CHECK bool cn_heap_import_add(struct cn_heap_import *heap, uint32_t context,
                                 enum cn_heap_metric metric, double value,
                                 struct cn_error *err);

/* Add what the stream of allocations came to. */
CN_CHECK bool cn_heap_import_finish(struct cn_heap_import *heap, struct cn_error *err);
void cn_heap_import_done(struct cn_heap_import *heap);

#endif
