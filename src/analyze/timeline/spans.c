#include "analyze/timeline/spans.h"

#include <inttypes.h>

#include "base/search.h"

enum {
    FIRST_CHUNK = 16,       /* samples read at first; twice as many each time */
    CHUNK = 1024,           /* up to so many */
    FORGET_EVERY = 1 << 20, /* samples: their pages are given back */
};

struct spans_visit {
    uint64_t begin_ns, end_ns;
    cn_span_fn visit;
    void *arg;
};

static bool time_at(struct cn_database *db, const struct cn_timeline *timeline,
                    uint64_t at, uint64_t *out, struct cn_error *err)
{
    struct cn_sample sample;

    if (!cn_timeline_read(db, timeline, at, 1, &sample, err))
        return false;
    *out = sample.time_ns;
    return true;
}

/* Where a time is between two samples if those between were spread evenly; every fourth guess
 * is the middle, so that it ends soon even when they are not. The others are near each other:
 * few pages of the database are read. */
static uint64_t guess(uint64_t low, uint64_t high, uint64_t low_ns, uint64_t high_ns,
                      uint64_t time_ns, unsigned number)
{
    double share = (double)(time_ns - low_ns) / (double)(high_ns - low_ns);
    uint64_t at = low + (uint64_t)(share * (double)(high - low));

    if (number % 4 == 3)
        return low + (high - low) / 2;
    return at <= low ? low + 1 : at >= high ? high - 1 : at;
}

bool cn_timeline_find(struct cn_database *db, const struct cn_timeline *timeline,
                      uint64_t time_ns, uint64_t *out, struct cn_error *err)
{
    uint64_t low = 0, high = timeline->count - 1, low_ns, high_ns, middle_ns;

    *out = 0;
    if (timeline->count < 2)
        return true;
    if (!time_at(db, timeline, low, &low_ns, err) ||
        !time_at(db, timeline, high, &high_ns, err))
        return false;
    if (time_ns >= high_ns) {
        *out = high;
        return true;
    }
    /* The sample at `low`, if any, does not begin later, the one at `high` does. */
    for (unsigned i = 0; time_ns >= low_ns && high - low > 1; i++) {
        uint64_t middle = guess(low, high, low_ns, high_ns, time_ns, i);

        if (!time_at(db, timeline, middle, &middle_ns, err))
            return false;
        if (middle_ns <= time_ns) {
            low = middle;
            low_ns = middle_ns;
        } else {
            high = middle;
            high_ns = middle_ns;
        }
    }
    *out = low;
    return true;
}

static bool visit_chunk(const struct spans_visit *visit, const struct cn_sample *samples,
                        size_t count, struct cn_error *err)
{
    for (size_t i = 0; i + 1 < count; i++) {
        uint64_t begin_ns = samples[i].time_ns, end_ns = samples[i + 1].time_ns;

        if (end_ns < begin_ns)
            return cn_fail(err, CN_ERR_FORMAT,
                           "time runs backwards: %" PRIu64 " after %" PRIu64, end_ns,
                           begin_ns);
        begin_ns = begin_ns > visit->begin_ns ? begin_ns : visit->begin_ns;
        end_ns = end_ns < visit->end_ns ? end_ns : visit->end_ns;
        if (begin_ns < end_ns)
            visit->visit(visit->arg, samples[i].context, begin_ns, end_ns);
    }
    return true;
}

/* Chunks overlap by one sample: its time ends where the next chunk's second begins. */
bool cn_spans_visit(struct cn_database *db, uint32_t profile, uint64_t begin_ns,
                    uint64_t end_ns, cn_span_fn visit, void *arg, struct cn_error *err)
{
    struct spans_visit all = {begin_ns, end_ns, visit, arg};
    struct cn_sample samples[CHUNK];
    struct cn_timeline timeline;
    uint64_t at = 0;
    size_t most = FIRST_CHUNK;

    if (!cn_timeline_open(db, profile, &timeline, err) ||
        !cn_timeline_find(db, &timeline, begin_ns, &at, err))
        return false;
    while (at + 1 < timeline.count) {
        uint64_t rest = timeline.count - at;
        size_t count = rest < most ? (size_t)rest : most;

        if (!cn_timeline_read(db, &timeline, at, count, samples, err) ||
            !visit_chunk(&all, samples, count, err))
            return false;
        if (samples[count - 1].time_ns >= end_ns)
            break;
        at += count - 1;
        most = most < CHUNK ? 2 * most : CHUNK;
        if (at / FORGET_EVERY != (at - (count - 1)) / FORGET_EVERY)
            cn_database_forget(db);
    }
    return true;
}

/* Read the samples before and around the end of a range. */
static bool fill_window(struct cn_span_window *w, struct cn_database *db, uint64_t end_ns,
                        struct cn_error *err)
{
    uint64_t last;

    if (!cn_timeline_find(db, &w->timeline, end_ns, &last, err))
        return false;
    last = last + 1 < w->timeline.count ? last + 1 : last;
    w->first = last < CN_SPAN_WINDOW ? 0 : last + 1 - CN_SPAN_WINDOW;
    w->count = w->timeline.count - w->first < CN_SPAN_WINDOW
                   ? (size_t)(w->timeline.count - w->first)
                   : CN_SPAN_WINDOW;
    return cn_timeline_read(db, &w->timeline, w->first, w->count, w->samples, err);
}

static bool has_range(const struct cn_span_window *w, uint64_t begin_ns, uint64_t end_ns)
{
    return w->count > 0 && (w->first == 0 || w->samples[0].time_ns <= begin_ns) &&
           (w->first + w->count == w->timeline.count ||
            w->samples[w->count - 1].time_ns >= end_ns);
}

bool cn_spans_visit_near(struct cn_span_window *window, struct cn_database *db,
                         uint32_t profile, uint64_t begin_ns, uint64_t end_ns,
                         cn_span_fn visit, void *arg, struct cn_error *err)
{
    struct spans_visit all = {begin_ns, end_ns, visit, arg};
    const struct cn_sample *samples = window->samples;

    if (!window->is_open && !cn_timeline_open(db, profile, &window->timeline, err))
        return false;
    window->is_open = true;
    if (window->timeline.count < 2)
        return true;
    if (!has_range(window, begin_ns, end_ns) && !fill_window(window, db, end_ns, err))
        return false;
    if (!has_range(window, begin_ns, end_ns))
        return cn_spans_visit(db, profile, begin_ns, end_ns, visit, arg, err);
    size_t first =
        cn_search_u64(&samples->time_ns, window->count, sizeof(*samples), begin_ns);
    size_t end =
        cn_search_u64(&samples->time_ns, window->count, sizeof(*samples), end_ns);
    first = first > 0 ? first - 1 : 0;
    end = end < window->count ? end + 1 : end;
    return end <= first || visit_chunk(&all, &samples[first], end - first, err);
}
