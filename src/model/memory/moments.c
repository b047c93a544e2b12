#include "model/memory/moments.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

static uint64_t tick_end(const struct cn_heap_moments *m, uint64_t time_ns)
{
    return time_ns | (m->tick_ns - 1);
}

/* The number of the cell's change in the last tick; the count: it has none. */
static size_t find(const struct cn_heap_moments *m, uint32_t cell)
{
    size_t number = cell < m->number_count ? m->numbers[cell] : 0;

    return number > m->tick_first && number <= m->count &&
                   m->list[number - 1].cell == cell
               ? number - 1
               : m->count;
}

static void place(struct cn_heap_moments *m, uint64_t time_ns, uint32_t cell,
                  double bytes)
{
    uint64_t end_ns = tick_end(m, time_ns);

    if (m->count == 0 || m->list[m->count - 1].time_ns != end_ns)
        m->tick_first = m->count;
    size_t at = find(m, cell);
    if (at < m->count) {
        m->list[at].bytes += bytes;
        return;
    }
    if (cell >= m->number_count) {
        size_t count = 2 * ((size_t)cell + 1);

        m->numbers = cn_realloc(m->numbers, count, sizeof(*m->numbers));
        memset(m->numbers + m->number_count, 0,
               (count - m->number_count) * sizeof(*m->numbers));
        m->number_count = count;
    }
    CN_PUSH(m->list, m->count, m->capacity, (struct cn_heap_moment){end_ns, bytes, cell});
    m->numbers[cell] = (uint32_t)m->count;
}

/* Place all again, in longer ticks. A change is placed before or where it was. */
static void shorten(struct cn_heap_moments *m)
{
    size_t count = m->count;

    m->tick_ns *= 2;
    m->count = m->tick_first = 0;
    memset(m->numbers, 0, m->number_count * sizeof(*m->numbers));
    for (size_t i = 0; i < count; i++) {
        struct cn_heap_moment moment = m->list[i];

        if (moment.bytes != 0)
            place(m, moment.time_ns, moment.cell, moment.bytes);
    }
}

void cn_heap_moments_add(struct cn_heap_moments *m, uint64_t time_ns, uint32_t cell,
                         double bytes)
{
    if (m->tick_ns == 0) {
        m->tick_ns = 1;
        m->limit = CN_HEAP_MOMENTS_MAX;
    }
    m->last_ns = time_ns;
    place(m, time_ns, cell, bytes);
    if (m->count < m->limit)
        return;
    do
        shorten(m);
    while (m->count > m->limit / 2 && m->tick_first > 0);
    /* One tick of very many cells. */
    if (m->count > m->limit / 2)
        m->limit = 2 * m->count;
}

void cn_heap_moments_end(struct cn_heap_moments *m)
{
    size_t count = m->count;

    m->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct cn_heap_moment moment = m->list[i];

        /* The last tick is not over. */
        if (moment.time_ns > m->last_ns)
            moment.time_ns = m->last_ns;
        if (moment.bytes != 0)
            m->list[m->count++] = moment;
    }
}

void cn_heap_moments_done(struct cn_heap_moments *m)
{
    free(m->list);
    free(m->numbers);
    *m = (struct cn_heap_moments){0};
}
