#include "model/gpu/metrics.h"

#include <string.h>

/* How a metric is presented. */
struct metric_text {
    const char *name, *description;
    bool is_hidden; /* by default */
};

/* clang-format off */
static const struct metric_text texts[CN_GPU_METRIC_COUNT] = {
    [CN_GPU_OP_TIME] = {"GPUOP (sec)", "GPU time: all operations (seconds)", false},
    [CN_GPU_KERNEL_TIME] = {"GKER (sec)", "GPU time: kernel execution (seconds)", false},
    [CN_GPU_MEMORY_TIME] = {"GMEM (sec)", "GPU time: memory allocation/deallocation (seconds)", false},
    [CN_GPU_SET_TIME] = {"GMSET (sec)", "GPU time: memory set (seconds)", false},
    [CN_GPU_COPY_TIME] = {"GXCOPY (sec)", "GPU time: explicit data copy (seconds)", false},
    [CN_GPU_MIGRATION_TIME] = {"GICOPY (sec)", "GPU time: implicit data copy (seconds)", false},
    [CN_GPU_SYNC_TIME] = {"GSYNC (sec)", "GPU time: synchronization (seconds)", false},
    [CN_GPU_LAUNCH_WAIT] = {"GLAUNCH:WAIT (sec)", "GPU operations: from the launch to the start (seconds)", false},
    [CN_GPU_IDLE_CAUSE] = {"GPU_IDLE_CAUSE (sec)", "GPU idle until the work that was launched here (seconds)", false},
    [CN_GPU_CPU_IDLE_CAUSE] = {"CPU_IDLE_CAUSE (sec)", "CPU threads blocked in synchronization while this ran (seconds)", false},

    [CN_GPU_MEMORY_BYTES + CN_GPU_MEMORY_UNKNOWN] = {"GMEM:UNK (B)", "GPU memory alloc/free: unknown memory kind (bytes)", false},
    [CN_GPU_MEMORY_BYTES + CN_GPU_PAGEABLE] = {"GMEM:PAG (B)", "GPU memory alloc/free: pageable memory (bytes)", false},
    [CN_GPU_MEMORY_BYTES + CN_GPU_PINNED] = {"GMEM:PIN (B)", "GPU memory alloc/free: pinned memory (bytes)", false},
    [CN_GPU_MEMORY_BYTES + CN_GPU_DEVICE] = {"GMEM:DEV (B)", "GPU memory alloc/free: device memory (bytes)", false},
    [CN_GPU_MEMORY_BYTES + CN_GPU_ARRAY] = {"GMEM:ARY (B)", "GPU memory alloc/free: array memory (bytes)", false},
    [CN_GPU_MEMORY_BYTES + CN_GPU_MANAGED] = {"GMEM:MAN (B)", "GPU memory alloc/free: managed memory (bytes)", false},
    [CN_GPU_MEMORY_BYTES + CN_GPU_DEVICE_STATIC] = {"GMEM:DST (B)", "GPU memory alloc/free: device static memory (bytes)", false},
    [CN_GPU_MEMORY_BYTES + CN_GPU_MANAGED_STATIC] = {"GMEM:MST (B)", "GPU memory alloc/free: managed static memory (bytes)", false},
    [CN_GPU_MEMORY_CALLS] = {"GMEM:COUNT", "GPU memory alloc/free: count", false},

    [CN_GPU_ALLOCATED] = {"GPU allocated (B)", "memory of GPUs: bytes allocated", false},
    [CN_GPU_ALLOCATIONS] = {"GPU allocations", "memory of GPUs: allocations", false},
    [CN_GPU_LIVE_END] = {"GPU live at end (B)", "memory of GPUs: bytes that were never freed", false},
    [CN_GPU_LIVE_PEAK] = {"GPU live at peak (B)", "memory of GPUs: bytes not yet freed when the GPU had the most of them", false},

    [CN_GPU_SET_BYTES + CN_GPU_MEMORY_UNKNOWN] = {"GMSET:UNK (B)", "GPU memory set: unknown memory kind (bytes)", false},
    [CN_GPU_SET_BYTES + CN_GPU_PAGEABLE] = {"GMSET:PAG (B)", "GPU memory set: pageable memory (bytes)", false},
    [CN_GPU_SET_BYTES + CN_GPU_PINNED] = {"GMSET:PIN (B)", "GPU memory set: pinned memory (bytes)", false},
    [CN_GPU_SET_BYTES + CN_GPU_DEVICE] = {"GMSET:DEV (B)", "GPU memory set: device memory (bytes)", false},
    [CN_GPU_SET_BYTES + CN_GPU_ARRAY] = {"GMSET:ARY (B)", "GPU memory set: array memory (bytes)", false},
    [CN_GPU_SET_BYTES + CN_GPU_MANAGED] = {"GMSET:MAN (B)", "GPU memory set: managed memory (bytes)", false},
    [CN_GPU_SET_BYTES + CN_GPU_DEVICE_STATIC] = {"GMSET:DST (B)", "GPU memory set: device static memory (bytes)", false},
    [CN_GPU_SET_BYTES + CN_GPU_MANAGED_STATIC] = {"GMSET:MST (B)", "GPU memory set: managed static memory (bytes)", false},
    [CN_GPU_SET_CALLS] = {"GMSET:COUNT", "GPU memory set: count", false},

    [CN_GPU_COPY_BYTES + CN_GPU_COPY_UNKNOWN] = {"GXCOPY:UNK (B)", "GPU explicit memory copy: unknown kind (bytes)", false},
    [CN_GPU_COPY_BYTES + CN_GPU_HOST_TO_DEVICE] = {"GXCOPY:H2D (B)", "GPU explicit memory copy: host to device (bytes)", false},
    [CN_GPU_COPY_BYTES + CN_GPU_DEVICE_TO_HOST] = {"GXCOPY:D2H (B)", "GPU explicit memory copy: device to host (bytes)", false},
    [CN_GPU_COPY_BYTES + CN_GPU_HOST_TO_ARRAY] = {"GXCOPY:H2A (B)", "GPU explicit memory copy: host to array (bytes)", false},
    [CN_GPU_COPY_BYTES + CN_GPU_ARRAY_TO_HOST] = {"GXCOPY:A2H (B)", "GPU explicit memory copy: array to host (bytes)", false},
    [CN_GPU_COPY_BYTES + CN_GPU_ARRAY_TO_ARRAY] = {"GXCOPY:A2A (B)", "GPU explicit memory copy: array to array (bytes)", false},
    [CN_GPU_COPY_BYTES + CN_GPU_ARRAY_TO_DEVICE] = {"GXCOPY:A2D (B)", "GPU explicit memory copy: array to device (bytes)", false},
    [CN_GPU_COPY_BYTES + CN_GPU_DEVICE_TO_ARRAY] = {"GXCOPY:D2A (B)", "GPU explicit memory copy: device to array (bytes)", false},
    [CN_GPU_COPY_BYTES + CN_GPU_DEVICE_TO_DEVICE] = {"GXCOPY:D2D (B)", "GPU explicit memory copy: device to device (bytes)", false},
    [CN_GPU_COPY_BYTES + CN_GPU_HOST_TO_HOST] = {"GXCOPY:H2H (B)", "GPU explicit memory copy: host to host (bytes)", false},
    [CN_GPU_COPY_BYTES + CN_GPU_PEER_TO_PEER] = {"GXCOPY:P2P (B)", "GPU explicit memory copy: peer to peer (bytes)", false},
    [CN_GPU_COPY_CALLS] = {"GXCOPY:COUNT", "GPU explicit memory copy: count", false},
    [CN_GPU_MIGRATION_BYTES] = {"GICOPY (B)", "GPU implicit data copy: migration of managed memory (bytes)", false},

    [CN_GPU_SYNC_KIND_TIME + CN_GPU_SYNC_UNKNOWN] = {"GSYNC:UNK (sec)", "GPU synchronizations: unknown kind", true},
    [CN_GPU_SYNC_KIND_TIME + CN_GPU_SYNC_EVENT] = {"GSYNC:EVT (sec)", "GPU synchronizations: event", true},
    [CN_GPU_SYNC_KIND_TIME + CN_GPU_SYNC_STREAM_EVENT] = {"GSYNC:STRE (sec)", "GPU synchronizations: stream event wait", true},
    [CN_GPU_SYNC_KIND_TIME + CN_GPU_SYNC_STREAM] = {"GSYNC:STR (sec)", "GPU synchronizations: stream", true},
    [CN_GPU_SYNC_KIND_TIME + CN_GPU_SYNC_CONTEXT] = {"GSYNC:CTX (sec)", "GPU synchronizations: context", true},
    [CN_GPU_SYNC_CALLS] = {"GSYNC:COUNT", "GPU synchronizations: count", true},
    [CN_GPU_SYNC_IDLE] = {"GSYNC:IDLE (sec)", "GPU synchronizations: the GPU had no work (seconds)", false},

    [CN_GPU_KERNEL_CALLS] = {"GKER:COUNT", "GPU kernel: launch count", false},
    [CN_GPU_STATIC_SHARED] = {"GKER:STMEM_ACUMU (B)", "GPU kernel: static memory accumulator (bytes)", true},
    [CN_GPU_DYNAMIC_SHARED] = {"GKER:DYMEM_ACUMU (B)", "GPU kernel: dynamic memory accumulator (bytes)", true},
    [CN_GPU_LOCAL] = {"GKER:LMEM_ACUMU (B)", "GPU kernel: local memory accumulator (bytes)", true},
    [CN_GPU_ACTIVE_WARPS] = {"GKER:FGP_ACT_ACUMU", "GPU kernel: fine-grain parallelism accumulator, actual", true},
    [CN_GPU_MAX_WARPS] = {"GKER:FGP_MAX_ACUMU", "GPU kernel: fine-grain parallelism accumulator, maximum", true},
    [CN_GPU_REGISTERS] = {"GKER:THR_REG_ACUMU", "GPU kernel: thread register count accumulator", true},
    [CN_GPU_BLOCK_THREADS] = {"GKER:BLK_THR_ACUMU", "GPU kernel: thread count accumulator", true},
    [CN_GPU_BLOCK_SHARED] = {"GKER:BLK_SM_ACUMU", "GPU kernel: block local memory accumulator (bytes)", true},
    [CN_GPU_BLOCKS] = {"GKER:BLKS_ACUMU", "GPU kernel: block count accumulator", true},
};

/* Means over launches, in the order of the facts. */
static const struct metric_text means[] = {
    {"GKER:STMEM (B)", "GPU kernel: static memory (bytes)", false},
    {"GKER:DYMEM (B)", "GPU kernel: dynamic memory (bytes)", false},
    {"GKER:LMEM (B)", "GPU kernel: local memory (bytes)", false},
    {"GKER:FGP_ACT", "GPU kernel: fine-grain parallelism, actual", false},
    {"GKER:FGP_MAX", "GPU kernel: fine-grain parallelism, maximum", false},
    {"GKER:THR_REG", "GPU kernel: thread register count", false},
    {"GKER:BLK_THR", "GPU kernel: thread count", false},
    {"GKER:BLK_SM (B)", "GPU kernel: block local memory (bytes)", false},
    {"GKER:BLKS", "GPU kernel: block count", false},
};
static const struct metric_text occupancy = {
    "GKER:OCC_THR", "GPU kernel: theoretical occupancy (FGP_ACT / FGP_MAX)", false};
/* clang-format on */

enum { MEANS = sizeof(means) / sizeof(*means) };
_Static_assert((int)MEANS == CN_GPU_METRIC_COUNT - CN_GPU_FACTS, "a fact has no mean");

const char *cn_gpu_metric_name(enum cn_gpu_metric metric)
{
    return texts[metric].name;
}

bool cn_gpu_metric_is_time(enum cn_gpu_metric metric)
{
    return metric <= CN_GPU_CPU_IDLE_CAUSE || metric == CN_GPU_SYNC_IDLE ||
           (metric >= CN_GPU_SYNC_KIND_TIME && metric < CN_GPU_SYNC_CALLS);
}

double cn_gpu_amount_value(enum cn_gpu_metric metric, uint64_t amount)
{
    return cn_gpu_metric_is_time(metric) ? (double)amount / 1e9 : (double)amount;
}

/* Amounts being listed. */
struct amounts {
    struct cn_gpu_amount *out;
    size_t count;
};

static void put(struct amounts *a, unsigned metric, uint64_t amount)
{
    if (amount > 0)
        a->out[a->count++] = (struct cn_gpu_amount){(enum cn_gpu_metric)metric, amount};
}

static void put_shape(struct amounts *a, const struct cn_gpu_shape *shape)
{
    put(a, CN_GPU_STATIC_SHARED, shape->static_shared_len);
    put(a, CN_GPU_DYNAMIC_SHARED, shape->dynamic_shared_len);
    put(a, CN_GPU_LOCAL, shape->local_len);
    put(a, CN_GPU_ACTIVE_WARPS, shape->active_warps);
    put(a, CN_GPU_MAX_WARPS, shape->max_warps);
    put(a, CN_GPU_REGISTERS, shape->registers);
    put(a, CN_GPU_BLOCK_THREADS,
        (uint64_t)shape->block[0] * shape->block[1] * shape->block[2]);
    put(a, CN_GPU_BLOCK_SHARED,
        (uint64_t)shape->static_shared_len + shape->dynamic_shared_len);
    put(a, CN_GPU_BLOCKS, (uint64_t)shape->grid[0] * shape->grid[1] * shape->grid[2]);
}

static void put_memory(struct amounts *a, const struct cn_gpu_op *op)
{
    if (!cn_gpu_op_takes_memory(op))
        return;
    put(a, CN_GPU_ALLOCATED, op->bytes);
    put(a, CN_GPU_ALLOCATIONS, 1);
    put(a, CN_GPU_LIVE_END, op->is_followed && op->freed_ns == 0 ? op->bytes : 0);
    put(a, CN_GPU_LIVE_PEAK, op->is_at_peak ? op->bytes : 0);
}

static unsigned limited(unsigned detail, unsigned count)
{
    return detail < count ? detail : 0;
}

size_t cn_gpu_amounts(const struct cn_gpu_work *work, const struct cn_gpu_op *op,
                      struct cn_gpu_amount out[CN_GPU_AMOUNT_MAX])
{
    static const uint8_t times[CN_GPU_KIND_COUNT] = {
        [CN_GPU_KERNEL] = CN_GPU_KERNEL_TIME,
        [CN_GPU_COPY] = CN_GPU_COPY_TIME,
        [CN_GPU_SET] = CN_GPU_SET_TIME,
        [CN_GPU_SYNC] = CN_GPU_SYNC_TIME,
        [CN_GPU_ALLOC] = CN_GPU_MEMORY_TIME,
        [CN_GPU_FREE] = CN_GPU_MEMORY_TIME,
        [CN_GPU_MIGRATION] = CN_GPU_MIGRATION_TIME,
    };
    struct amounts a = {out, 0};
    uint64_t ns = cn_gpu_op_ns(op);

    put(&a, CN_GPU_OP_TIME, ns);
    put(&a, times[op->kind], ns);
    if (cn_gpu_op_is_busy(op)) {
        put(&a, CN_GPU_LAUNCH_WAIT, cn_gpu_op_delay_ns(op));
        put(&a, CN_GPU_IDLE_CAUSE, op->idle_ns);
        put(&a, CN_GPU_CPU_IDLE_CAUSE, op->wait_ns);
    }
    switch (op->kind) {
    case CN_GPU_KERNEL:
        put(&a, CN_GPU_KERNEL_CALLS, 1);
        if (op->shape < work->shape_count)
            put_shape(&a, &work->shapes[op->shape]);
        break;
    case CN_GPU_COPY:
        put(&a, CN_GPU_COPY_BYTES + limited(op->detail, CN_GPU_COPY_COUNT), op->bytes);
        put(&a, CN_GPU_COPY_CALLS, 1);
        break;
    case CN_GPU_SET:
        put(&a, CN_GPU_SET_BYTES + limited(op->detail, CN_GPU_MEMORY_COUNT), op->bytes);
        put(&a, CN_GPU_SET_CALLS, 1);
        break;
    case CN_GPU_SYNC:
        put(&a, CN_GPU_SYNC_KIND_TIME + limited(op->detail, CN_GPU_SYNC_COUNT), ns);
        put(&a, CN_GPU_SYNC_CALLS, 1);
        put(&a, CN_GPU_SYNC_IDLE, op->idle_ns);
        break;
    case CN_GPU_MIGRATION:
        put(&a, CN_GPU_MIGRATION_BYTES, op->bytes);
        break;
    default:
        put_memory(&a, op);
        put(&a, CN_GPU_MEMORY_BYTES + limited(op->detail, CN_GPU_MEMORY_COUNT),
            op->bytes);
        put(&a, CN_GPU_MEMORY_CALLS, 1);
        break;
    }
    return a.count;
}

static enum cn_gpu_metric find_text(const char *name)
{
    unsigned i = 0;

    while (i < CN_GPU_METRIC_COUNT && strcmp(texts[i].name, name) != 0)
        i++;
    return (enum cn_gpu_metric)i;
}

/* A column of self costs alone: the fact of a kernel is none of its callers. */
static struct cn_presented_metric present_mean(const struct metric_text *text,
                                               const struct cn_variant *sum,
                                               const struct cn_variant *by, double scale,
                                               struct cn_arena *arena)
{
    struct cn_variant *variant = cn_arena_alloc(arena, 1, sizeof(*variant));
    const struct cn_formula *standard =
        cn_formula_binary(arena, CN_FORMULA_DIV, sum->self.standard, by->self.standard);
    const struct cn_formula *custom =
        cn_formula_binary(arena, CN_FORMULA_DIV, sum->self.custom, by->self.custom);

    if (scale != 1) {
        standard = cn_formula_binary(arena, CN_FORMULA_MUL,
                                     cn_formula_number(arena, scale), standard);
        custom = cn_formula_binary(arena, CN_FORMULA_MUL, cn_formula_number(arena, scale),
                                   custom);
    }
    *variant = (struct cn_variant){
        .name = "",
        .render = CN_RENDER_NUMBER,
        .self = {standard, custom},
    };
    return (struct cn_presented_metric){
        .name = text->name,
        .description = text->description,
        .is_visible = true,
        .format = scale != 1 ? "%6.2f %%" : "%6.0f",
        .variants = variant,
        .variant_count = 1,
    };
}

void cn_gpu_taxonomy(struct cn_taxonomy *taxonomy, struct cn_arena *arena)
{
    const struct cn_variant *found[CN_GPU_METRIC_COUNT] = {0};
    struct cn_presented_metric *roots =
        cn_arena_alloc(arena, taxonomy->root_count + 1, sizeof(*roots));
    struct cn_presented_metric *facts = cn_arena_alloc(arena, MEANS + 1, sizeof(*facts));
    size_t count = 0, fact_count = 0;

    for (size_t i = 0; i < taxonomy->root_count; i++) {
        const struct cn_presented_metric *root = &taxonomy->roots[i];
        enum cn_gpu_metric metric = find_text(root->name);

        if (metric < CN_GPU_METRIC_COUNT)
            found[metric] = root->variant_count > 0 ? root->variants : NULL;
        if (metric >= CN_GPU_FACTS && metric < CN_GPU_METRIC_COUNT)
            continue;
        roots[count] = *root;
        if (metric < CN_GPU_METRIC_COUNT) {
            roots[count].description = texts[metric].description;
            roots[count].is_visible = !texts[metric].is_hidden;
        }
        count++;
    }
    for (size_t i = 0; found[CN_GPU_KERNEL_CALLS] && i < MEANS; i++)
        if (found[CN_GPU_FACTS + i])
            facts[fact_count++] = present_mean(&means[i], found[CN_GPU_FACTS + i],
                                               found[CN_GPU_KERNEL_CALLS], 1, arena);
    if (found[CN_GPU_ACTIVE_WARPS] && found[CN_GPU_MAX_WARPS])
        facts[fact_count++] = present_mean(&occupancy, found[CN_GPU_ACTIVE_WARPS],
                                           found[CN_GPU_MAX_WARPS], 100, arena);
    if (fact_count > 0)
        roots[count++] =
            cn_taxonomy_category("launches of GPU kernels", facts, fact_count, arena);
    taxonomy->roots = roots;
    taxonomy->root_count = count;
}
