#include "cli/timeline/time_axis.h"

#include <inttypes.h>

#include "base/text.h"

enum { MARK_COLUMNS_MIN = 12 }; /* room for a label and a gap */

struct time_axis_unit {
    const char *name;
    uint64_t ns;
    int digits; /* of a nanosecond after the point */
};

/* The smallest of 1, 2, 5, 10, 20, ... whose marks do not overlap. */
static uint64_t choose_step(uint64_t span_ns, size_t columns)
{
    const double step_min = (double)span_ns * MARK_COLUMNS_MIN / (double)columns;
    uint64_t ten = 1;

    for (; ten <= UINT64_MAX / 100; ten *= 10) {
        if ((double)ten >= step_min)
            return ten;
        if ((double)ten * 2 >= step_min)
            return ten * 2;
        if ((double)ten * 5 >= step_min)
            return ten * 5;
    }
    return ten;
}

/* Append a mark with the decimals that distinguish it from the next. */
static void print_mark(struct cn_text *text, uint64_t time_ns, uint64_t step_ns,
                       const struct time_axis_unit *unit)
{
    int decimals = unit->digits;
    uint64_t fraction = time_ns % unit->ns;

    for (uint64_t rest = step_ns; rest % 10 == 0 && decimals > 0; rest /= 10) {
        decimals--;
        fraction /= 10;
    }
    cn_text_printf(text, "|%" PRIu64, time_ns / unit->ns);
    if (decimals > 0)
        cn_text_printf(text, ".%0*" PRIu64, decimals, fraction);
    cn_text_printf(text, " %s", unit->name);
}

void cn_time_axis_print(struct cn_text *text, uint64_t begin_ns, uint64_t end_ns,
                        size_t columns)
{
    uint64_t span_ns = end_ns - begin_ns, step_ns = choose_step(span_ns, columns);
    uint64_t time_ns = begin_ns + (step_ns - begin_ns % step_ns) % step_ns;
    static const struct time_axis_unit units[] = {
        {"s", 1000000000, 9}, {"ms", 1000000, 6}, {"us", 1000, 3}, {"ns", 1, 0}};
    const struct time_axis_unit *unit = units;
    size_t first = text->len;

    while (unit->ns > 1 && end_ns < unit->ns)
        unit++;
    /* A sum that wraps around is less than begin. */
    while (time_ns >= begin_ns && time_ns < end_ns) {
        double part = (double)(time_ns - begin_ns) / (double)span_ns;
        size_t column = (size_t)(part * (double)columns);
        size_t mark = first + column;

        /* Skip a mark that would overlap the one before. */
        if (mark >= text->len) {
            cn_text_fill(text, ' ', mark - text->len);
            print_mark(text, time_ns, step_ns, unit);
            if (text->len - first > columns) {
                text->len = mark;
                break;
            }
        }
        time_ns += step_ns;
    }
    while (text->len > first && text->chars[text->len - 1] == ' ')
        text->len--;
    if (text->chars)
        text->chars[text->len] = '\0';
}
