#include "store/groups/heat.h"

#include <math.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "store/groups/matches.h"

enum { ROWS_PER_OCTAVE = 4 };

static size_t row_of(uint64_t duration_ns)
{
    double row = duration_ns > 0 ? floor(log2((double)duration_ns) * ROWS_PER_OCTAVE) : 0;

    return row < CN_HEAT_ROWS ? (size_t)row : CN_HEAT_ROWS - 1;
}

double cn_heat_low(size_t row)
{
    return exp2((double)row / ROWS_PER_OCTAVE);
}

/* What a damaged file has now and did not have when matches were counted is skipped. */
static void add(void *arg, const struct cn_trace_sum *sum)
{
    struct cn_heat *heat = arg;
    uint64_t step = (sum->time_ns - heat->first_ns) / heat->step_ns;
    struct cn_heat_cell *cell;

    if (sum->time_ns < heat->first_ns || step >= heat->step_count)
        return;
    cell = &heat->cells[step * CN_HEAT_ROWS + row_of(sum->duration_ns)];
    cell->count++;
    cell->error_count += sum->errors > 0;
}

bool cn_search_heat(struct cn_search *search, const struct cn_query *query,
                    enum cn_search_unit unit, size_t step_count, struct cn_heat *out,
                    struct cn_error *err)
{
    struct cn_heat heat = {.step_count = step_count};
    struct cn_search_trace_count found;

    if (!cn_matches_count(search, query, unit, &found, err))
        return false;
    heat.count = found.count;
    if (found.count > 0) {
        heat.first_ns = found.first_ns;
        heat.step_ns = (found.last_ns - found.first_ns) / step_count + 1;
        heat.cells = cn_alloc(step_count * CN_HEAT_ROWS, sizeof(*heat.cells));
        if (!cn_matches_visit(search, query, unit, add, &heat, err)) {
            cn_heat_done(&heat);
            return false;
        }
    }
    *out = heat;
    return true;
}

void cn_heat_done(struct cn_heat *heat)
{
    free(heat->cells);
    *heat = (struct cn_heat){0};
}
