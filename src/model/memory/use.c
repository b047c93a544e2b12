#include "model/memory/use.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "model/heap_history.h"
#include "model/memory/blocks.h"
#include "model/memory/moments.h"

static const double NS_PER_SECOND = 1e9;

/* A thread and context of a process. Bytes are whole numbers, so that sums of what was allocated
 * and freed are exact.
 *
 * What was live at the peak of the process is found without a second pass: peaks are numbered, and
 * before its live bytes change, a cell notes them if the process had another peak since. */
struct use_cell {
    uint32_t process, thread, context;
    uint32_t peak; /* number of the process's peak that `at_peak` is of */
    double live, live_calls, at_peak;
    double values[CN_HEAP_METRIC_COUNT];
};

/* Of a block that stands for another number of allocations than one. */
struct use_weight {
    double calls;
    uint32_t next_free;
};

struct use_process {
    uint64_t id, peak_ns;
    double live, peak_live;
    double variance, peak_variance; /* of both */
    uint32_t peak;                  /* its number */
    struct cn_map cell_of;          /* by thread and context */
    struct cn_heap_blocks blocks;
};

struct cn_heap_use {
    struct cn_map process_of; /* by id */
    struct use_process *processes;
    struct use_cell *cells;
    struct use_weight *weights; /* by number - 1 */
    size_t process_count, cell_count, weight_count;
    size_t process_capacity, cell_capacity, weight_capacity;
    uint32_t free_weight; /* number */
    uint32_t last;        /* process that was looked up */
    struct cn_heap_moments moments;
    bool has_moments;
};

struct cn_heap_use *cn_heap_use_new(void)
{
    return cn_alloc(1, sizeof(struct cn_heap_use));
}

void cn_heap_use_free(struct cn_heap_use *use)
{
    if (!use)
        return;
    for (size_t i = 0; i < use->process_count; i++) {
        cn_map_done(&use->processes[i].cell_of);
        cn_heap_blocks_done(&use->processes[i].blocks);
    }
    cn_map_done(&use->process_of);
    free(use->processes);
    free(use->cells);
    free(use->weights);
    cn_heap_moments_done(&use->moments);
    free(use);
}

void cn_heap_use_keep_history(struct cn_heap_use *use)
{
    use->has_moments = true;
}

static uint32_t process_at(struct cn_heap_use *use, uint64_t id)
{
    uint32_t at = use->last;

    if (at < use->process_count && use->processes[at].id == id)
        return at;
    at = *cn_map_at(&use->process_of, id, (uint32_t)use->process_count);
    use->last = at;
    if (at == use->process_count)
        CN_PUSH(use->processes, use->process_count, use->process_capacity,
                (struct use_process){.id = id});
    return at;
}

/* UINT32_MAX: it is unknown. */
static uint32_t find_process(const struct cn_heap_use *use, uint64_t id)
{
    if (use->last < use->process_count && use->processes[use->last].id == id)
        return use->last;
    return cn_map_find(&use->process_of, id, UINT32_MAX);
}

static uint32_t cell_at(struct cn_heap_use *use, uint32_t process, uint32_t thread,
                        uint32_t context)
{
    uint64_t key = (uint64_t)thread << 32 | context;
    uint32_t at =
        *cn_map_at(&use->processes[process].cell_of, key, (uint32_t)use->cell_count);

    if (at == use->cell_count)
        CN_PUSH(
            use->cells, use->cell_count, use->cell_capacity,
            (struct use_cell){.process = process, .thread = thread, .context = context});
    return at;
}

static double live_at_peak(const struct use_cell *cell, const struct use_process *process)
{
    return cell->peak == process->peak ? cell->at_peak : cell->live;
}

/* Of bytes that one block in `calls` stands for. */
static double variance_of(double bytes, double calls)
{
    return calls > 1 ? bytes * bytes * (1 - 1 / calls) : 0;
}

static void change_live(struct cn_heap_use *use, struct use_cell *cell, double bytes,
                        double calls, double variance, uint64_t time_ns)
{
    struct use_process *process = &use->processes[cell->process];

    cell->at_peak = live_at_peak(cell, process);
    cell->peak = process->peak;
    cell->live += bytes;
    cell->live_calls += calls;
    if (cell->live > cell->values[CN_HEAP_OWN_PEAK])
        cell->values[CN_HEAP_OWN_PEAK] = cell->live;
    if (use->has_moments)
        cn_heap_moments_add(&use->moments, time_ns, (uint32_t)(cell - use->cells), bytes);
    process->live += bytes;
    process->variance += variance;
    if (process->live > process->peak_live) {
        process->peak_live = process->live;
        process->peak_ns = time_ns;
        process->peak_variance = process->variance;
        process->peak++;
    }
}

static double calls_of(const struct cn_heap_use *use, const struct cn_heap_live *block)
{
    return block->weight > 0 ? use->weights[block->weight - 1].calls : 1;
}

static void add_leaked(struct cn_heap_use *use, const struct cn_heap_live *block,
                       int sign)
{
    double *values = use->cells[block->cell - 1].values;

    values[CN_HEAP_LEAKED] += sign * block->bytes;
    values[CN_HEAP_LEAKED_CALLS] += sign * calls_of(use, block);
}

/* The block is live no longer; its place in the table stays. */
static void end_block(struct cn_heap_use *use, const struct cn_heap_live *block,
                      uint64_t time_ns)
{
    double calls = calls_of(use, block);

    if (block->is_leaked)
        add_leaked(use, block, -1);
    change_live(use, &use->cells[block->cell - 1], -block->bytes, -calls,
                -variance_of(block->bytes, calls), time_ns);
    if (block->weight > 0) {
        use->weights[block->weight - 1].next_free = use->free_weight;
        use->free_weight = block->weight;
    }
}

static uint32_t add_weight(struct cn_heap_use *use, double calls)
{
    uint32_t number = use->free_weight;

    if (calls == 1)
        return 0;
    if (number == 0) {
        CN_PUSH(use->weights, use->weight_count, use->weight_capacity,
                (struct use_weight){.calls = calls});
        return (uint32_t)use->weight_count;
    }
    use->free_weight = use->weights[number - 1].next_free;
    use->weights[number - 1].calls = calls;
    return number;
}

static double bytes_of(const struct cn_heap_block *block)
{
    return round((double)block->size * block->calls);
}

/* Returns the cell. */
static uint32_t gain(struct cn_heap_use *use, const struct cn_heap_block *block)
{
    uint32_t at =
        cell_at(use, process_at(use, block->process), block->thread, block->context);
    double bytes = bytes_of(block), *values = use->cells[at].values;

    values[CN_HEAP_BYTES] += bytes;
    values[CN_HEAP_CALLS] += block->calls;
    values[CN_HEAP_SAMPLES] += block->is_sampled;
    if (block->usable_size > block->size)
        values[CN_HEAP_WASTE] +=
            round((double)(block->usable_size - block->size) * block->calls);
    if (block->old_size > 0 && block->size > block->old_size)
        values[CN_HEAP_GROWTH] +=
            round((double)(block->size - block->old_size) * block->calls);
    change_live(use, &use->cells[at], bytes, block->calls,
                variance_of(bytes, block->calls), block->time_ns);
    return at;
}

void cn_heap_use_gain(struct cn_heap_use *use, const struct cn_heap_block *block)
{
    (void)gain(use, block);
}

void cn_heap_use_lose(struct cn_heap_use *use, const struct cn_heap_block *block,
                      bool is_temporary)
{
    double bytes = bytes_of(block);
    struct use_cell *cell = &use->cells[cell_at(use, process_at(use, block->process),
                                                block->thread, block->context)];

    if (is_temporary)
        cell->values[CN_HEAP_TEMPORARY] += block->calls;
    change_live(use, cell, -bytes, -block->calls, -variance_of(bytes, block->calls),
                block->time_ns);
}

void cn_heap_use_alloc(struct cn_heap_use *use, const struct cn_heap_block *block)
{
    uint32_t process = process_at(use, block->process);
    struct cn_heap_live *live =
        cn_heap_blocks_at(&use->processes[process].blocks, block->address);

    if (live->cell > 0)
        end_block(use, live, block->time_ns);
    uint32_t cell = gain(use, block);
    *live = (struct cn_heap_live){.address = block->address,
                                  .time_ns = block->time_ns,
                                  .bytes = bytes_of(block),
                                  .cell = cell + 1,
                                  .weight = add_weight(use, block->calls) & INT32_MAX};
}

/* A thread that another one frees for is no part of the way of the block. */
static void count_free(struct cn_heap_use *use, const struct cn_heap_live *block,
                       const struct cn_heap_release *release)
{
    uint64_t lifetime_ns =
        release->time_ns > block->time_ns ? release->time_ns - block->time_ns : 0;
    uint32_t owner = use->cells[block->cell - 1].thread;
    double calls = calls_of(use, block), *values;

    if (release->thread != owner && release->has_root) {
        uint32_t at = cell_at(use, use->cells[block->cell - 1].process, release->thread,
                              release->root);

        use->cells[at].values[CN_HEAP_FREED_FOR_OTHERS] += block->bytes;
    }
    values = use->cells[block->cell - 1].values;
    if (release->thread != owner)
        values[CN_HEAP_FREED_ELSEWHERE] += block->bytes;
    if ((release->is_next && release->thread == owner) ||
        lifetime_ns <= CN_HEAP_TEMPORARY_NS)
        values[CN_HEAP_TEMPORARY] += calls;
    values[CN_HEAP_FREED] += calls;
    values[CN_HEAP_LIFETIME] += calls * (double)lifetime_ns;
    values[cn_heap_metric_lived(lifetime_ns)] += calls;
}

void cn_heap_use_expect(const struct cn_heap_use *use, uint64_t process, uint64_t address)
{
    uint32_t at = find_process(use, process);

    if (at != UINT32_MAX)
        cn_heap_blocks_expect(&use->processes[at].blocks, address);
}

static struct cn_heap_live *find_block(const struct cn_heap_use *use, uint64_t process,
                                       uint64_t address)
{
    uint32_t at = find_process(use, process);

    return at == UINT32_MAX ? NULL
                            : cn_heap_blocks_find(&use->processes[at].blocks, address);
}

bool cn_heap_use_release(struct cn_heap_use *use, const struct cn_heap_release *release)
{
    struct cn_heap_live *block = find_block(use, release->process, release->address);

    if (!block || (release->size > 0 && block->bytes > (double)release->size))
        return false;
    uint32_t process = use->cells[block->cell - 1].process;
    count_free(use, block, release);
    end_block(use, block, release->time_ns);
    cn_heap_blocks_remove(&use->processes[process].blocks, block);
    return true;
}

void cn_heap_use_leak(struct cn_heap_use *use, uint64_t process, uint64_t address)
{
    struct cn_heap_live *block = find_block(use, process, address);

    if (!block || block->is_leaked)
        return;
    block->is_leaked = true;
    add_leaked(use, block, 1);
}

void cn_heap_use_live(const struct cn_heap_use *use, uint64_t process,
                      cn_heap_live_fn take, void *arg)
{
    uint32_t at = find_process(use, process);
    const struct cn_heap_blocks *blocks =
        at == UINT32_MAX ? &(struct cn_heap_blocks){0} : &use->processes[at].blocks;

    for (size_t i = 0; i < blocks->capacity; i++)
        if (blocks->list[i].cell > 0)
            take(arg, blocks->list[i].address, blocks->list[i].bytes);
}

bool cn_heap_use_peak(const struct cn_heap_use *use, struct cn_heap_peak *out)
{
    const struct use_process *best = NULL;
    double sum = 0;

    for (size_t i = 0; i < use->process_count; i++) {
        sum += use->processes[i].peak_live;
        if (!best || use->processes[i].peak_live > best->peak_live)
            best = &use->processes[i];
    }
    if (!best)
        return false;
    *out = (struct cn_heap_peak){.process = best->id,
                                 .time_ns = best->peak_ns,
                                 .process_count = use->process_count,
                                 .sum = sum,
                                 .bytes = best->peak_live,
                                 .end_bytes = best->live,
                                 .error = sqrt(fmax(best->peak_variance, 0))};
    return true;
}

struct cn_heap_history *cn_heap_use_history(struct cn_heap_use *use,
                                            struct cn_arena *arena)
{
    struct cn_heap_history *out = cn_arena_alloc(arena, 1, sizeof(*out));

    cn_heap_moments_end(&use->moments);
    *out = (struct cn_heap_history){
        .changes = cn_arena_alloc(arena, use->moments.count + 1, sizeof(*out->changes)),
        .processes =
            cn_arena_alloc(arena, use->process_count + 1, sizeof(*out->processes)),
        .change_count = use->moments.count,
        .process_count = use->process_count,
        .resolution_ns = use->moments.tick_ns,
    };
    for (size_t i = 0; i < use->moments.count; i++) {
        const struct cn_heap_moment *moment = &use->moments.list[i];
        const struct use_cell *cell = &use->cells[moment->cell];

        out->changes[i] = (struct cn_heap_change){
            moment->time_ns, moment->bytes, cell->process, cell->thread, cell->context};
    }
    for (size_t i = use->cell_count; i-- > 0;)
        out->processes[use->cells[i].process].profile = use->cells[i].thread;
    for (size_t i = 0; i < use->process_count; i++) {
        out->processes[i].peak_ns = use->processes[i].peak_ns;
        out->processes[i].peak_bytes = use->processes[i].peak_live;
    }
    return out;
}

bool cn_heap_use_visit(const struct cn_heap_use *use, cn_heap_visit visit, void *arg,
                       struct cn_error *err)
{
    for (size_t i = 0; i < use->cell_count; i++) {
        struct use_cell cell = use->cells[i];

        cell.values[CN_HEAP_LIFETIME] /= NS_PER_SECOND;
        cell.values[CN_HEAP_LIVE_END] = cell.live;
        /* Calls are estimates: sums of what was added and removed are not exact. */
        cell.values[CN_HEAP_LIVE_END_CALLS] = cell.live > 0 ? cell.live_calls : 0;
        cell.values[CN_HEAP_LIVE_PEAK] =
            live_at_peak(&cell, &use->processes[cell.process]);
        if (!visit(arg, cell.thread, cell.context, cell.values, err))
            return false;
    }
    return true;
}
