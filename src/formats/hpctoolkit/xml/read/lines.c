/* The position in a cursor. Plane of a profile: the next value is the first one at or after
 * (key, metric run_end), and `at` is 1 at the end. Plane of a line: index_at is the metric, an
 * index in thread_ids, and `at` the next profile.
 */
#include "formats/hpctoolkit/xml/read/database.h"

#include <inttypes.h>

#include "base/search.h"

enum {
    CANDIDATES = 64, /* lines handled at a time */
    /* If a plane has fewer contexts than one per this many lines, it is faster to find the
     * lines of the contexts than to look at all lines. */
    FEW = 16,
};

static bool is_below(const void *links, uint64_t index, uint64_t id)
{
    return ((const struct cn_hpc_xml_link *)links)[index].id < id;
}

/* The first line whose id is at least this. */
static size_t find_line(const struct cn_hpc_xml_lines *lines, uint32_t id)
{
    return (size_t)cn_search(0, lines->count, is_below, lines->list, id);
}

bool cn_hpc_xml_lines_concern(const struct cn_hpc_xml_database *xml,
                              const struct cn_value_cursor *cursor)
{
    const struct cn_hpc_xml_lines *lines = &xml->lines;
    bool is_profile = cursor->plane == CN_PLANE_OF_PROFILE;

    if (lines->count == 0)
        return false;
    size_t i = find_line(lines, is_profile ? cursor->first_key : cursor->owner);
    return i < lines->count &&
           lines->list[i].id <= (is_profile ? cursor->last_key : cursor->owner);
}

void cn_hpc_xml_lines_begin(struct cn_value_cursor *cursor)
{
    if (cursor->plane == CN_PLANE_OF_PROFILE) {
        cursor->key = cursor->first_key;
        cursor->run_end = 0;
        cursor->at = false;
    } else {
        cursor->index_at = 0;
        cursor->at = 1; /* 0 is the summary */
    }
}

static struct cn_hpc_xml_cost cost_of(const struct cn_hpc_xml_database *xml,
                                      uint32_t profile, uint16_t metric)
{
    const struct cn_hpc_xml_costs *costs =
        profile == 0 ? &xml->lines.summaries : &xml->lines.threads;

    return metric < costs->count ? costs->list[metric]
                                 : (struct cn_hpc_xml_cost){.inclusive = CN_NO_ID};
}

/* The values of one line in one profile, sorted by metric. */
struct lines_sums {
    struct cn_value list[CN_VALUE_BATCH];
    size_t count;
};

static bool add(struct lines_sums *sums, uint32_t key, uint16_t metric, double value,
                struct cn_error *err)
{
    size_t at = sums->count;

    while (at > 0 && sums->list[at - 1].metric > metric)
        at--;
    if (at > 0 && sums->list[at - 1].metric == metric) {
        sums->list[at - 1].value += value;
        return true;
    }
    if (sums->count == CN_VALUE_BATCH)
        return cn_fail(err, CN_ERR_LIMIT, "context %" PRIu32 " has more than %d values",
                       key, CN_VALUE_BATCH);
    memmove(&sums->list[at + 1], &sums->list[at],
            (sums->count - at) * sizeof(*sums->list));
    sums->list[at] = (struct cn_value){.value = value, .key = key, .metric = metric};
    sums->count++;
    return true;
}

/* The values that the files have for a range of contexts. */
static bool look_up(struct cn_hpc_xml_database *xml, uint32_t profile, uint32_t first,
                    uint32_t last, struct cn_value_cursor *cursor, struct cn_error *err)
{
    cursor->db = &xml->database.base;
    cursor->plane = CN_PLANE_OF_PROFILE;
    cursor->owner = profile;
    cursor->first_key = first;
    cursor->last_key = last;
    cursor->as_key = 0;
    return xml->version->plane_begin(xml, cursor, err);
}

/* Add a value of the line itself, or of a function that it calls. The line's own exclusive
 * cost is a part of its inclusive cost, which replaces that of the file. */
static bool add_value(struct lines_sums *sums, uint32_t line,
                      const struct cn_value *value, struct cn_hpc_xml_cost cost,
                      struct cn_error *err)
{
    bool is_own = value->key == line;

    if (is_own ? cost.is_inclusive && cost.has_exclusive : !cost.is_inclusive)
        return true;
    return add(sums, line, value->metric, value->value, err) &&
           (!is_own || cost.inclusive == CN_NO_ID ||
            add(sums, line, (uint16_t)cost.inclusive, value->value, err));
}

static bool sum_context(struct cn_hpc_xml_database *xml, uint32_t profile,
                        uint32_t context, uint32_t line, struct lines_sums *sums,
                        struct cn_error *err)
{
    struct cn_value_cursor cursor;
    struct cn_value_batch batch;
    enum cn_step step;

    if (!look_up(xml, profile, context, context, &cursor, err))
        return false;
    while ((step = xml->version->plane_next(xml, &cursor, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++)
            if (!add_value(sums, line, &batch.values[i],
                           cost_of(xml, profile, batch.values[i].metric), err))
                return false;
    return step == CN_END;
}

static bool sum_line(struct cn_hpc_xml_database *xml, uint32_t profile,
                     const struct cn_hpc_xml_link *line, struct lines_sums *sums,
                     struct cn_error *err)
{
    const struct cn_hpc_xml_node *nodes = xml->tree.nodes;

    sums->count = 0;
    if (!sum_context(xml, profile, line->id, line->id, sums, err))
        return false;
    for (uint32_t i = nodes[line->to].child; i != CN_HPC_XML_NO_NODE; i = nodes[i].next)
        if (!sum_context(xml, profile, nodes[i].id, line->id, sums, err))
            return false;
    return true;
}

/* The next lines, sorted; if the list is full, there may be more. */
struct line_candidates {
    uint32_t list[CANDIDATES]; /* indexes in the list of lines */
    size_t count, at;
};

static void add_candidate(struct line_candidates *c, uint32_t line)
{
    size_t at = c->count;

    while (at > 0 && c->list[at - 1] > line)
        at--;
    if ((at > 0 && c->list[at - 1] == line) || at == CANDIDATES)
        return;
    if (c->count == CANDIDATES)
        c->count--;
    memmove(&c->list[at + 1], &c->list[at], (c->count - at) * sizeof(*c->list));
    c->list[at] = line;
    c->count++;
}

/* Add the lines from `from` to `end` that call a context. */
static void add_callers(const struct cn_hpc_xml_lines *lines, uint32_t context,
                        size_t from, size_t end, struct line_candidates *c)
{
    size_t i =
        (size_t)cn_search(0, lines->callee_count, is_below, lines->callees, context);

    for (; i < lines->callee_count && lines->callees[i].id == context; i++) {
        size_t line = find_line(lines, lines->callees[i].to);

        if (line >= from && line < end)
            add_candidate(c, (uint32_t)line);
    }
}

static bool search_few(struct cn_hpc_xml_database *xml,
                       const struct cn_value_cursor *cursor, size_t from, size_t end,
                       struct line_candidates *c, struct cn_error *err)
{
    struct cn_value_cursor all;
    struct cn_value_batch batch;
    uint32_t last = 0;
    enum cn_step step;

    if (!look_up(xml, cursor->owner, 0, UINT32_MAX, &all, err))
        return false;
    while ((step = xml->version->plane_next(xml, &all, &batch, err)) == CN_ITEM)
        for (size_t i = 0; i < batch.count; i++) {
            if (batch.values[i].key != last)
                add_callers(&xml->lines, batch.values[i].key, from, end, c);
            last = batch.values[i].key;
        }
    return step == CN_END;
}

static bool find_candidates(struct cn_hpc_xml_database *xml,
                            const struct cn_value_cursor *cursor, uint32_t from_id,
                            struct line_candidates *c, struct cn_error *err)
{
    const struct cn_hpc_xml_lines *lines = &xml->lines;
    size_t from = find_line(lines, from_id);
    size_t end = cursor->last_key == UINT32_MAX ? lines->count
                                                : find_line(lines, cursor->last_key + 1);
    struct cn_profile profile;

    c->count = 0;
    c->at = 0;
    if (from >= end)
        return true;
    if (!cn_database_profile(&xml->database.base, cursor->owner, &profile, err))
        return false;
    if (end - from > CANDIDATES && profile.context_count < (end - from) / FEW)
        return search_few(xml, cursor, from, end, c, err);
    for (; from < end && c->count < CANDIDATES; from++)
        c->list[c->count++] = (uint32_t)from;
    return true;
}

/* The plane of the files, merged with the values of lines. */
struct lines_merge {
    struct cn_hpc_xml_database *xml;
    struct cn_value_cursor *to; /* receives the batch */
    size_t filled;
    struct cn_value_cursor from;
    struct cn_value_batch batch;
    size_t at; /* in the batch */
    bool has_values;
    struct line_candidates lines;
    struct lines_sums sums;
};

static bool fetch(struct lines_merge *m, struct cn_error *err)
{
    if (m->at < m->batch.count)
        return true;
    enum cn_step step = m->xml->version->plane_next(m->xml, &m->from, &m->batch, err);
    m->at = 0;
    if (step != CN_ITEM)
        m->batch.count = 0;
    m->has_values = step == CN_ITEM;
    return step != CN_FAIL;
}

static bool skip_delivered(struct lines_merge *m, struct cn_error *err)
{
    while (fetch(m, err)) {
        if (!m->has_values || m->batch.values[m->at].key != m->to->key ||
            m->batch.values[m->at].metric >= m->to->run_end)
            return true;
        m->at++;
    }
    return false;
}

static void deliver(struct lines_merge *m, struct cn_value value)
{
    m->to->batch[m->filled++] = value;
    m->to->key = value.key;
    m->to->run_end = (uint64_t)value.metric + 1;
}

/* Deliver the values of a line instead of those in the plane. */
static bool deliver_line(struct lines_merge *m, const struct cn_hpc_xml_link *line,
                         struct cn_error *err)
{
    uint64_t first_metric = m->to->key == line->id ? m->to->run_end : 0;

    if (!sum_line(m->xml, m->to->owner, line, &m->sums, err))
        return false;
    for (size_t i = 0; i < m->sums.count && m->filled < CN_VALUE_BATCH; i++)
        if (m->sums.list[i].metric >= first_metric)
            deliver(m, m->sums.list[i]);
    if (m->filled == CN_VALUE_BATCH)
        return true;
    while (m->has_values && m->batch.values[m->at].key == line->id) {
        m->at++;
        if (!fetch(m, err))
            return false;
    }
    m->to->key = line->id;
    m->to->run_end = UINT64_MAX; /* all metrics */
    m->lines.at++;
    return true;
}

static bool refill_lines(struct lines_merge *m, struct cn_error *err)
{
    if (m->lines.at < m->lines.count || m->lines.count < CANDIDATES)
        return true;
    uint32_t last = m->xml->lines.list[m->lines.list[CANDIDATES - 1]].id;
    return find_candidates(m->xml, m->to, last + 1, &m->lines, err);
}

static bool merge_values(struct lines_merge *m, struct cn_error *err)
{
    while (m->filled < CN_VALUE_BATCH) {
        const struct cn_hpc_xml_link *line = NULL;

        if (!fetch(m, err) || !refill_lines(m, err))
            return false;
        if (m->lines.at < m->lines.count)
            line = &m->xml->lines.list[m->lines.list[m->lines.at]];
        if (line && (!m->has_values || line->id <= m->batch.values[m->at].key)) {
            if (!deliver_line(m, line, err))
                return false;
        } else if (m->has_values) {
            deliver(m, m->batch.values[m->at++]);
        } else {
            m->to->at = true;
            return true;
        }
    }
    return true;
}

static bool next_of_profile(struct lines_merge *m, struct cn_error *err)
{
    uint32_t from_id = m->to->key;

    if (m->to->run_end == UINT64_MAX)
        from_id++;
    return look_up(m->xml, m->to->owner, m->to->key, m->to->last_key, &m->from, err) &&
           skip_delivered(m, err) &&
           find_candidates(m->xml, m->to, from_id, &m->lines, err) &&
           merge_values(m, err);
}

/* The plane of a line: metric by metric, its values in all profiles. */
static bool next_of_line(struct lines_merge *m, const struct cn_hpc_xml_link *line,
                         struct cn_error *err)
{
    const struct cn_hpc_xml_lines *lines = &m->xml->lines;

    for (; m->to->index_at < lines->thread_id_count; m->to->index_at++) {
        uint16_t metric = lines->thread_ids[m->to->index_at];

        for (; m->to->at < m->xml->database.base.profile_count; m->to->at++) {
            uint32_t profile = (uint32_t)m->to->at;

            if (m->filled == CN_VALUE_BATCH)
                return true;
            if (!sum_line(m->xml, profile, line, &m->sums, err))
                return false;
            for (size_t i = 0; i < m->sums.count; i++)
                if (m->sums.list[i].metric == metric)
                    m->to->batch[m->filled++] =
                        (struct cn_value){m->sums.list[i].value, profile, metric};
        }
        m->to->at = 1;
    }
    return true;
}

enum cn_step cn_hpc_xml_lines_next(struct cn_hpc_xml_database *xml,
                                   struct cn_value_cursor *cursor,
                                   struct cn_value_batch *out, struct cn_error *err)
{
    struct lines_merge m;
    bool ok;

    m.xml = xml;
    m.to = cursor;
    m.filled = 0;
    m.batch = (struct cn_value_batch){0};
    m.at = 0;
    m.has_values = false;
    if (cursor->plane == CN_PLANE_OF_CONTEXT)
        ok = next_of_line(&m, &xml->lines.list[find_line(&xml->lines, cursor->owner)],
                          err);
    else
        ok = cursor->at || next_of_profile(&m, err);
    if (!ok && m.filled == 0)
        return CN_FAIL;
    if (m.filled == 0)
        return CN_END;
    *out = (struct cn_value_batch){cursor->batch, m.filled};
    return CN_ITEM;
}
