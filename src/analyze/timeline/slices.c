#include "analyze/timeline/occupancy.h"

enum {
    READ_MAX = 24 << 20, /* bytes of mapped files before they are given back */
    LOOK_LEN = 64 << 10, /* that the system maps around a sample that is read */
    CROWD = 16,          /* samples of a slice that are all looked at */
};

/* Looking here and there maps much of a long timeline: do not keep it all. */
static void note_looks(struct cn_slices *slices, uint64_t count)
{
    uint64_t len = count * LOOK_LEN;

    if (len > slices->unread_len)
        len = slices->unread_len;
    slices->unread_len -= len;
    slices->read_len += len;
    if (slices->read_len > READ_MAX) {
        cn_database_forget(slices->db);
        slices->read_len = 0;
    }
}

/* Whether sample `at` begins before a time. */
static bool is_before(struct cn_database *db, const struct cn_timeline *timeline,
                      uint64_t at, uint64_t time_ns, bool *out, struct cn_error *err)
{
    struct cn_sample sample;

    if (!cn_timeline_read(db, timeline, at, 1, &sample, err))
        return false;
    *out = sample.time_ns < time_ns;
    return true;
}

/* The first sample between `low` and `high` that begins at or after a time, `high` when
 * none does. Looks around `guess` in growing steps: samples are spread evenly enough for
 * good guesses, and each look at a long timeline is a cache miss. */
static bool find_from(struct cn_slices *slices, const struct cn_timeline *timeline,
                      uint64_t low, uint64_t high, uint64_t guess, uint64_t time_ns,
                      uint64_t *out, struct cn_error *err)
{
    uint64_t step = 1;
    bool before;

    while (low < high) {
        guess = guess < low ? low : guess >= high ? high - 1 : guess;
        if (high - low > LOOK_LEN / sizeof(struct cn_sample))
            note_looks(slices, 1);
        if (!is_before(slices->db, timeline, guess, time_ns, &before, err))
            return false;
        if (before)
            low = guess + 1;
        else
            high = guess;
        if (step < (high - low) / 2)
            guess = before ? guess + step : guess > step ? guess - step : 0;
        else
            guess = low + (high - low) / 2;
        step *= 4;
    }
    *out = low;
    return true;
}

/* Some moments of a slice with many samples. */
static bool look_around(struct cn_slices *slices, const struct cn_timeline *timeline,
                        uint64_t first, uint64_t last, uint64_t begin_ns, uint64_t end_ns,
                        struct cn_error *err)
{
    struct cn_database *db = slices->db;
    uint64_t points = slices->points;
    uint64_t step_ns = (end_ns - begin_ns) / points;
    struct cn_sample sample;

    slices->has_estimated = true;
    if (points == 1 && first > 0) {
        /* The one that runs when the slice begins is at hand: it was looked at to find the
         * beginning. */
        if (!cn_timeline_read(db, timeline, first - 1, 1, &sample, err))
            return false;
        if (first < timeline->count)
            slices->add(slices->arg, sample.context, begin_ns, end_ns);
        return true;
    }
    for (uint64_t i = 0, at = first; i < points; i++) {
        uint64_t from_ns = begin_ns + step_ns * i;
        uint64_t to_ns = i + 1 < points ? from_ns + step_ns : end_ns;

        if (!find_from(slices, timeline, at, last,
                       first + (last - first) / points * i + (last - first) / points / 2,
                       from_ns + (to_ns - from_ns) / 2, &at, err) ||
            (at > 0 && !cn_timeline_read(db, timeline, at - 1, 1, &sample, err)))
            return false;
        if (at > 0 && at < timeline->count)
            slices->add(slices->arg, sample.context, from_ns, to_ns);
    }
    return true;
}

/* One slice of time, samples `first` up to `last` beginning in it: every sample, the one
 * before the first included, or so many moments of it. */
static bool scan_slice(struct cn_slices *slices, const struct cn_timeline *timeline,
                       uint64_t first, uint64_t last, uint64_t begin_ns, uint64_t end_ns,
                       struct cn_error *err)
{
    uint64_t points = slices->points;
    uint64_t crowd_min = slices->crowd_min;
    struct cn_sample samples[CROWD + 2];

    if (crowd_min == 0)
        crowd_min = CROWD + 1;
    if (last - first >= crowd_min && (last - first) / 2 >= points &&
        end_ns - begin_ns > points && last - first > slices->crowded_left)
        return look_around(slices, timeline, first, last, begin_ns, end_ns, err);
    if (last - first >= crowd_min) {
        slices->crowded_left -=
            last - first < slices->crowded_left ? last - first : slices->crowded_left;
    }
    if (last - first > CROWD)
        return cn_spans_visit(slices->db, slices->profile, begin_ns, end_ns, slices->add,
                              slices->arg, err);
    first -= first > 0;
    last += last < timeline->count;
    size_t count = (size_t)(last - first);
    if (!cn_timeline_read(slices->db, timeline, first, count, samples, err))
        return false;
    for (size_t i = 0; i + 1 < count; i++) {
        uint64_t from_ns = samples[i].time_ns, to_ns = samples[i + 1].time_ns;

        from_ns = from_ns > begin_ns ? from_ns : begin_ns;
        to_ns = to_ns < end_ns ? to_ns : end_ns;
        if (from_ns < to_ns)
            slices->add(slices->arg, samples[i].context, from_ns, to_ns);
    }
    return true;
}

bool cn_slices_scan(struct cn_slices *slices, uint32_t profile,
                    const struct cn_occupancy *columns, struct cn_occupancy_cell *cells,
                    cn_span_fn add, void *arg, struct cn_error *err)
{
    struct cn_timeline timeline;
    uint64_t first, last, step = 0;

    if (!cn_timeline_open(slices->db, profile, &timeline, err))
        return false;
    slices->profile = profile;
    slices->add = add;
    slices->arg = arg;
    slices->unread_len = timeline.count * sizeof(struct cn_sample);
    if (!find_from(slices, &timeline, 0, timeline.count, timeline.count / 2,
                   columns->begin_ns, &first, err))
        return false;
    for (uint32_t i = 0; i < columns->column_count; i++) {
        uint64_t begin_ns = cn_occupancy_column_ns(columns, i);
        uint64_t end_ns = cn_occupancy_column_ns(columns, i + 1);

        if (!find_from(slices, &timeline, first, timeline.count, first + step, end_ns,
                       &last, err) ||
            !scan_slice(slices, &timeline, first, last, begin_ns, end_ns, err))
            return false;
        step = last - first;
        if (cells)
            cells[i].sample_count = step < UINT32_MAX ? (uint32_t)step : UINT32_MAX;
        first = last;
    }
    return true;
}
