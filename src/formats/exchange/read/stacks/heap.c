#include "formats/exchange/read/stacks/heap.h"

#include "formats/exchange/read/stacks/import.h"

bool cn_heap_import_init(struct cn_heap_import *heap, struct cn_import *import,
                         struct cn_error *err)
{
    *heap = (struct cn_heap_import){.import = import, .use = cn_heap_use_new()};
    return cn_import_thread(import,
                            &(struct cn_import_identity){.kinds = {"THREAD"}, .name = ""},
                            &heap->thread, err);
}

void cn_heap_import_done(struct cn_heap_import *heap)
{
    cn_heap_use_free(heap->use);
    heap->use = NULL;
}

uint32_t cn_heap_import_unknown(struct cn_heap_import *heap)
{
    const struct cn_import_frame frame = {.name = "", .module = "", .file = ""};

    return cn_import_call(heap->import, 0, cn_import_frame(heap->import, &frame));
}

bool cn_heap_import_add(struct cn_heap_import *heap, uint32_t context,
                        enum cn_heap_metric metric, double value, struct cn_error *err)
{
    if (value <= 0)
        return true;
    if (!heap->has_metric[metric] &&
        !cn_import_metric(heap->import, cn_heap_metric_name(metric),
                          &heap->metrics[metric], err))
        return false;
    heap->has_metric[metric] = true;
    return cn_import_add(heap->import, heap->thread, context, heap->metrics[metric],
                         value, err);
}

/* Metrics come in the order of their table. */
static bool find_metrics(void *arg, uint32_t thread, uint32_t context,
                         const double values[CN_HEAP_METRIC_COUNT], struct cn_error *err)
{
    struct cn_heap_import *heap = arg;

    (void)thread, (void)context, (void)err;
    for (size_t i = 0; i < CN_HEAP_METRIC_COUNT; i++)
        heap->has_metric[i] = heap->has_metric[i] || values[i] > 0;
    return true;
}

static bool add_values(void *arg, uint32_t thread, uint32_t context,
                       const double values[CN_HEAP_METRIC_COUNT], struct cn_error *err)
{
    struct cn_heap_import *heap = arg;

    (void)thread;
    for (unsigned i = 0; i < CN_HEAP_METRIC_COUNT; i++)
        if (!cn_heap_import_add(heap, context, (enum cn_heap_metric)i, values[i], err))
            return false;
    return true;
}

bool cn_heap_import_finish(struct cn_heap_import *heap, struct cn_error *err)
{
    if (!cn_heap_use_visit(heap->use, find_metrics, heap, err))
        return false;
    for (unsigned i = 0; i < CN_HEAP_METRIC_COUNT; i++)
        if (heap->has_metric[i] &&
            !cn_import_metric(heap->import, cn_heap_metric_name((enum cn_heap_metric)i),
                              &heap->metrics[i], err))
            return false;
    return cn_heap_use_visit(heap->use, add_values, heap, err);
}
