#include "analyze/wakers/causes.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "analyze/wakers/sums.h"
#include "base/alloc.h"
#include "base/duration.h"
#include "base/map.h"
#include "base/sort.h"
#include "base/text.h"
#include "model/contexts/context.h"

void cn_wait_causes_list(struct cn_wait_causes *out, const struct cn_wait_sums *path)
{
    struct cn_map cause_of = {0};

    *out = (struct cn_wait_causes){
        .list = cn_alloc(path->count + 1, sizeof(*out->list)),
    };
    for (size_t i = 0; i < path->count; i++) {
        const struct cn_wait_row *row = &path->list[i];
        bool runs = row->kind == CN_CHAIN_RUNS, has_own = row->site.own != CN_NONE;
        uint32_t key[4] = {row->kind, runs ? row->name : 0, runs && has_own,
                           !runs     ? 0
                           : has_own ? row->site.own
                                     : row->site.call};
        uint32_t at =
            *cn_map_at(&cause_of, XXH3_64bits(key, sizeof(key)), (uint32_t)out->count);

        if (at == out->count)
            out->list[out->count++] = (struct cn_wait_cause){.row = i};
        out->list[at].time_ns += row->time_ns;
        out->list[at].inferred_ns += row->is_inferred ? row->time_ns : 0;
    }
    cn_map_done(&cause_of);
    CN_SORT(out->list, out->count, CN_DOWN(struct cn_wait_cause, time_ns),
            CN_UP(struct cn_wait_cause, row));
}

void cn_wait_causes_done(struct cn_wait_causes *causes)
{
    free(causes->list);
    *causes = (struct cn_wait_causes){0};
}

void cn_wait_cause_print(const struct cn_wait_sums *path, size_t at, const char *thread,
                         struct cn_text *out)
{
    static const char *const phrases[CN_WAIT_FOR_KINDS] = {
        [CN_WAIT_FOR_THREAD] = "for other threads",
        [CN_WAIT_FOR_PROCESS] = "for other processes",
        [CN_WAIT_FOR_CHILD] = "for child processes",
        [CN_WAIT_FOR_TIMER] = "for timers",
        [CN_WAIT_FOR_NETWORK] = "for the network",
        [CN_WAIT_FOR_DISK] = "for the disk",
        [CN_WAIT_FOR_INTERRUPT] = "for interrupts",
        [CN_WAIT_FOR_KERNEL] = "for threads of the kernel",
        [CN_WAIT_FOR_PROCESSOR] = "for a processor",
        [CN_WAIT_BY_PREEMPTION] = "pre-empted",
        [CN_WAIT_FOR_ALWAYS] = "not woken",
        [CN_WAIT_FOR_UNKNOWN] = "unknown (a wake-up is missing)",
    };
    const struct cn_wait_row *row = &path->list[at];
    struct cn_wait_site site = row->site;

    if (row->kind < CN_WAIT_FOR_KINDS) {
        cn_text_str_add(out, phrases[row->kind]);
        return;
    }
    if (strcmp(path->names.list[row->name], thread) != 0)
        cn_text_printf(out, "%s ", path->names.list[row->name]);
    cn_text_str_add(out, "in ");
    if (site.own != CN_NONE)
        site.call = CN_NONE;
    cn_wait_site_print(path->sites, site, out);
}

void cn_wait_cause_print_change(const char *name, int64_t change_ns, struct cn_text *out)
{
    static const char *const states[] = {"pre-empted", "not woken", "unknown "};
    bool is_own = strncmp(name, "in ", 3) == 0, is_for = strncmp(name, "for ", 4) == 0;
    bool is_state = false;

    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        is_state = is_state || strncmp(name, states[i], strlen(states[i])) == 0;
    if (is_state)
        cn_text_printf(out, "was %s ", name);
    else
        cn_text_str_add(out, is_own ? "ran " : "waited ");
    cn_duration_print(out, (uint64_t)(change_ns < 0 ? -change_ns : change_ns));
    cn_text_str_add(out, change_ns < 0 ? " shorter" : " longer");
    if (!is_state)
        cn_text_printf(out, " %s%s", is_own || is_for ? "" : "for ", name);
}

/* " (inferred)", " (2 ms inferred)". */
static void print_inferred(const struct cn_wait_cause *cause, struct cn_text *out)
{
    if (cause->inferred_ns == 0)
        return;
    cn_text_str_add(out, " (");
    if (cause->inferred_ns < cause->time_ns) {
        cn_duration_print(out, cause->inferred_ns);
        cn_text_char(out, ' ');
    }
    cn_text_str_add(out, "inferred)");
}

void cn_wait_causes_print(const struct cn_wait_causes *causes,
                          const struct cn_wait_sums *path, const char *thread,
                          size_t most, struct cn_text *out)
{
    uint64_t rest_ns = path->total_ns;

    cn_text_printf(out, "%s took ", thread);
    cn_duration_print(out, path->total_ns);
    for (size_t i = 0; i < causes->count && i < most; i++) {
        cn_text_str_add(out, i == 0 ? ": " : ", ");
        cn_duration_print(out, causes->list[i].time_ns);
        cn_text_char(out, ' ');
        cn_wait_cause_print(path, causes->list[i].row, thread, out);
        print_inferred(&causes->list[i], out);
        rest_ns -= causes->list[i].time_ns;
    }
    if (rest_ns > 0) {
        cn_text_str_add(out, ", ");
        cn_duration_print(out, rest_ns);
        cn_text_str_add(out, " of other things");
    }
}
