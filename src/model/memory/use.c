#include "model/memory/use.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/map.h"
#include "model/heap_history.h"
#include "model/memory/moments.h"
#include "model/memory/places.h"

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

/* A block that is live, or a free place in the list. */
struct use_block {
    double bytes, calls;
    uint64_t time_ns, address;
    uint32_t cell, next_free;
    bool is_live, is_leaked;
};

struct use_process {
    uint64_t id, peak_ns;
    double live, peak_live;
    double variance, peak_variance; /* of both */
    uint32_t peak;                  /* its number */
    struct cn_map cell_of;          /* by thread and context */
    struct cn_heap_places block_of; /* by address: its number + 1, or 0 */
};

struct cn_heap_use {
    struct cn_map process_of; /* by id */
    struct use_process *processes;
    struct use_cell *cells;
    struct use_block *blocks;
    size_t process_count, cell_count, block_count;
    size_t process_capacity, cell_capacity, block_capacity;
    uint32_t free_block; /* number + 1 */
    uint32_t last;       /* process that was looked up */
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
        cn_heap_places_done(&use->processes[i].block_of);
    }
    cn_map_done(&use->process_of);
    free(use->processes);
    free(use->cells);
    free(use->blocks);
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

static void add_leaked(struct cn_heap_use *use, const struct use_block *block, int sign)
{
    double *values = use->cells[block->cell].values;

    values[CN_HEAP_LEAKED] += sign * block->bytes;
    values[CN_HEAP_LEAKED_CALLS] += sign * block->calls;
}

static void remove_block(struct cn_heap_use *use, uint32_t *number, uint64_t time_ns)
{
    struct use_block *block = &use->blocks[*number - 1];

    if (block->is_leaked)
        add_leaked(use, block, -1);
    block->is_live = block->is_leaked = false;
    change_live(use, &use->cells[block->cell], -block->bytes, -block->calls,
                -variance_of(block->bytes, block->calls), time_ns);
    block->next_free = use->free_block;
    use->free_block = *number;
    *number = 0;
}

static uint32_t add_block(struct cn_heap_use *use, const struct use_block *block)
{
    uint32_t number = use->free_block;

    if (number == 0) {
        CN_PUSH(use->blocks, use->block_count, use->block_capacity, *block);
        return (uint32_t)use->block_count;
    }
    use->free_block = use->blocks[number - 1].next_free;
    use->blocks[number - 1] = *block;
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
    uint32_t *number =
        cn_heap_places_at(&use->processes[process].block_of, block->address);

    if (*number > 0)
        remove_block(use, number, block->time_ns);
    uint32_t cell = gain(use, block);
    *number = add_block(use, &(struct use_block){.bytes = bytes_of(block),
                                                 .calls = block->calls,
                                                 .time_ns = block->time_ns,
                                                 .address = block->address,
                                                 .cell = cell,
                                                 .is_live = true});
}

/* A thread that another one frees for is no part of the way of the block. */
static void count_free(struct cn_heap_use *use, const struct use_block *block,
                       const struct cn_heap_release *release)
{
    uint64_t lifetime_ns =
        release->time_ns > block->time_ns ? release->time_ns - block->time_ns : 0;
    uint32_t owner = use->cells[block->cell].thread;
    double *values;

    if (release->thread != owner && release->has_root) {
        uint32_t at =
            cell_at(use, use->cells[block->cell].process, release->thread, release->root);

        use->cells[at].values[CN_HEAP_FREED_FOR_OTHERS] += block->bytes;
    }
    values = use->cells[block->cell].values;
    if (release->thread != owner)
        values[CN_HEAP_FREED_ELSEWHERE] += block->bytes;
    if ((release->is_next && release->thread == owner) ||
        lifetime_ns <= CN_HEAP_TEMPORARY_NS)
        values[CN_HEAP_TEMPORARY] += block->calls;
    values[CN_HEAP_FREED] += block->calls;
    values[CN_HEAP_LIFETIME] += block->calls * (double)lifetime_ns;
    values[cn_heap_metric_lived(lifetime_ns)] += block->calls;
}

void cn_heap_use_expect(struct cn_heap_use *use, uint64_t process, uint64_t address)
{
    uint32_t at = find_process(use, process);

    if (at != UINT32_MAX)
        cn_heap_places_expect(&use->processes[at].block_of, address);
}

void cn_heap_use_expect_block(struct cn_heap_use *use, uint64_t process, uint64_t address)
{
    uint32_t at = find_process(use, process);
    const uint32_t *number =
        at == UINT32_MAX ? NULL
                         : cn_heap_places_find(&use->processes[at].block_of, address);

    if (number && *number > 0)
        __builtin_prefetch(&use->blocks[*number - 1], 1);
}

bool cn_heap_use_release(struct cn_heap_use *use, const struct cn_heap_release *release)
{
    uint32_t process = find_process(use, release->process);
    uint32_t *number =
        process == UINT32_MAX
            ? NULL
            : cn_heap_places_find(&use->processes[process].block_of, release->address);

    if (!number || *number == 0)
        return false;
    const struct use_block *block = &use->blocks[*number - 1];

    if (release->size > 0 && block->bytes > (double)release->size)
        return false;
    count_free(use, block, release);
    remove_block(use, number, release->time_ns);
    return true;
}

void cn_heap_use_leak(struct cn_heap_use *use, uint64_t process, uint64_t address)
{
    uint32_t at = find_process(use, process);
    const uint32_t *number =
        at == UINT32_MAX ? NULL
                         : cn_heap_places_find(&use->processes[at].block_of, address);

    if (!number || *number == 0 || use->blocks[*number - 1].is_leaked)
        return;
    use->blocks[*number - 1].is_leaked = true;
    add_leaked(use, &use->blocks[*number - 1], 1);
}

void cn_heap_use_live(const struct cn_heap_use *use, uint64_t process,
                      cn_heap_live_fn take, void *arg)
{
    uint32_t at = find_process(use, process);

    for (size_t i = 0; i < use->block_count; i++)
        if (use->blocks[i].is_live && use->cells[use->blocks[i].cell].process == at)
            take(arg, use->blocks[i].address, use->blocks[i].bytes);
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
