#include "cli/info/gpu_uses.h"

#include <inttypes.h>

#include "analyze/timeline/gpu_use.h"
#include "base/duration.h"
#include "base/text.h"
#include "cli/info/sheet.h"
#include "cli/print/facts.h"
#include "cli/print/quantity.h"
#include "model/contexts/database.h"
#include "model/heap_history.h"

/* The most bytes that a GPU had allocated; 0: unknown, as where those of several nodes have its number. */
static uint64_t peak_of(const struct cn_gpu_uses *uses, const struct cn_gpu_use *use,
                        const struct cn_database *db)
{
    const struct cn_heap_history *memory = db->gpu_memory;

    for (size_t i = 0; i < uses->count; i++)
        if (&uses->list[i] != use && uses->list[i].number == use->number)
            return 0;
    for (size_t i = 0; memory && i < memory->process_count; i++)
        if (memory->processes[i].device == use->number &&
            memory->processes[i].peak_bytes > 0)
            return (uint64_t)memory->processes[i].peak_bytes;
    return 0;
}

static void print_use(const struct cn_gpu_use *use, uint64_t peak_bytes,
                      struct cn_text *text)
{
    uint64_t ns = use->end_ns - use->begin_ns;

    cn_text_printf(text, "busy %.1f %% of ",
                   ns > 0 ? 100 * (double)use->busy_ns / (double)ns : 100);
    cn_duration_print(text, ns);
    cn_text_str_add(text, ", idle in ");
    cn_count_print_of(text, use->gap_count, "gap");
    cn_text_str_add(text, ", on ");
    cn_count_print_of(text, use->stream_count, "stream");
    if (peak_bytes > 0) {
        cn_text_str_add(text, ", at most ");
        cn_size_print(text, peak_bytes);
        cn_text_str_add(text, " allocated at once");
    }
}

void cn_gpu_uses_show(const struct cn_gpu_uses *uses, const struct cn_database *db,
                      struct cn_sheet *sheet)
{
    if (uses->count > 0)
        cn_sheet_group(sheet, "GPUs");
    for (size_t i = 0; i < uses->count; i++) {
        const struct cn_gpu_use *use = &uses->list[i];
        struct cn_text key = {0}, text = {0};

        /* They are sorted by node. */
        if (uses->list[0].node != uses->list[uses->count - 1].node)
            cn_text_printf(&key, "NODE 0x%" PRIx64 " ", use->node);
        cn_text_printf(&key, "GPU %" PRIu32, use->number);
        print_use(use, peak_of(uses, use, db), &text);
        cn_sheet_add(sheet, cn_text_str(&key), "%s", cn_text_str(&text));
        cn_text_done(&key);
        cn_text_done(&text);
    }
}

void cn_gpu_uses_list(const struct cn_gpu_uses *uses, const struct cn_database *db,
                      struct cn_facts *facts)
{
    if (uses->count == 0)
        return;
    cn_facts_array(facts, "gpus");
    for (size_t i = 0; i < uses->count; i++) {
        const struct cn_gpu_use *use = &uses->list[i];

        cn_facts_object(facts, NULL);
        if (use->node != 0)
            cn_facts_u64(facts, "node", use->node);
        cn_facts_u64(facts, "number", use->number);
        cn_facts_u64(facts, "stream_count", use->stream_count);
        cn_facts_u64(facts, "busy_ns", use->busy_ns);
        cn_facts_u64(facts, "duration_ns", use->end_ns - use->begin_ns);
        cn_facts_u64(facts, "gap_count", use->gap_count);
        cn_facts_u64(facts, "peak_bytes", peak_of(uses, use, db));
        cn_facts_end(facts);
    }
    cn_facts_end(facts);
}
