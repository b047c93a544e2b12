#include "cli/info/gpus.h"

#include "base/duration.h"
#include "base/size.h"
#include "base/text.h"
#include "cli/print/facts.h"
#include "cli/print/quantity.h"
#include "model/contexts/context.h"

struct cn_gpu_totals cn_gpu_totals_of(const struct cn_gpu_work *work, uint32_t device)
{
    struct cn_gpu_totals totals = {.stream_count = 0};

    for (uint32_t i = 0; i < work->op_count; i++) {
        const struct cn_gpu_op *op = &work->ops[i];

        if (op->device != device)
            continue;
        totals.counts[op->kind]++;
        if (op->kind == CN_GPU_KERNEL)
            totals.kernel_ns += cn_gpu_op_ns(op);
        if (op->kind == CN_GPU_COPY)
            totals.copied_bytes += op->bytes;
        if (op->is_at_peak)
            totals.peak_bytes += op->bytes;
    }
    for (uint32_t i = 0; i < work->stream_count; i++)
        totals.stream_count += work->streams[i].node == work->devices[device].node &&
                               work->streams[i].device == work->devices[device].number;
    return totals;
}

static void add_count(struct cn_text *text, uint64_t count, const char *one,
                      const char *many)
{
    cn_count_print(text, count);
    cn_text_printf(text, " %s", cn_plural(count, one, many));
}

void cn_gpu_totals_print(const struct cn_gpu_work *work, uint32_t device,
                         struct cn_text *text)
{
    struct cn_gpu_totals totals = cn_gpu_totals_of(work, device);

    if (work->devices[device].name[0])
        cn_text_printf(text, "%s: ", work->devices[device].name);
    add_count(text, totals.counts[CN_GPU_KERNEL], "kernel", "kernels");
    cn_text_str_add(text, " (");
    cn_duration_print(text, totals.kernel_ns);
    cn_text_str_add(text, "), ");
    add_count(text, totals.counts[CN_GPU_COPY], "copy", "copies");
    cn_text_str_add(text, " (");
    cn_size_print(text, totals.copied_bytes);
    cn_text_str_add(text, ") on ");
    add_count(text, totals.stream_count, "stream", "streams");
    if (totals.counts[CN_GPU_ALLOC] > 0) {
        cn_text_str_add(text, ", ");
        add_count(text, totals.counts[CN_GPU_ALLOC], "allocation", "allocations");
    }
    if (totals.peak_bytes > 0) {
        cn_text_str_add(text, ", at most ");
        cn_size_print(text, totals.peak_bytes);
        cn_text_str_add(text, " at once");
    }
}

void cn_gpu_totals_list(const struct cn_gpu_work *work, struct cn_facts *facts)
{
    if (!work)
        return;
    cn_facts_array(facts, "gpus");
    for (uint32_t i = 0; i < work->device_count; i++) {
        struct cn_gpu_totals totals = cn_gpu_totals_of(work, i);

        cn_facts_object(facts, NULL);
        cn_facts_u64(facts, "number", work->devices[i].number);
        cn_facts_str(facts, "name", work->devices[i].name);
        cn_facts_u64(facts, "stream_count", totals.stream_count);
        cn_facts_u64(facts, "kernel_count", totals.counts[CN_GPU_KERNEL]);
        cn_facts_u64(facts, "kernel_ns", totals.kernel_ns);
        cn_facts_u64(facts, "copy_count", totals.counts[CN_GPU_COPY]);
        cn_facts_u64(facts, "copied_bytes", totals.copied_bytes);
        cn_facts_u64(facts, "allocation_count", totals.counts[CN_GPU_ALLOC]);
        cn_facts_u64(facts, "peak_bytes", totals.peak_bytes);
        cn_facts_end(facts);
    }
    cn_facts_end(facts);
}
