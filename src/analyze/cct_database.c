#include "analyze/cct_database.h"

#include <stdlib.h>

static struct cn_cct_database *self_of(struct cn_database *db)
{
    return (struct cn_cct_database *)db;
}

static bool get_profile(struct cn_database *db, uint32_t index, struct cn_profile *out,
                        struct cn_error *err)
{
    const struct cn_cct_database *self = self_of(db);
    const struct cn_cct_profile *profile = &self->profiles[index];

    (void)err;
    *out = (struct cn_profile){
        .is_summary = index == 0,
        .value_count = profile->value_count,
        .context_count = profile->context_count,
    };
    if (index > 0)
        out->identity = self->members.list[index - 1].identity;
    return true;
}

static bool get_module(struct cn_database *db, uint32_t index, struct cn_module *out,
                       struct cn_error *err)
{
    (void)err;
    *out = self_of(db)->merged.names.modules[index];
    return true;
}

static bool get_file(struct cn_database *db, uint32_t index, struct cn_source_file *out,
                     struct cn_error *err)
{
    (void)err;
    *out = self_of(db)->merged.names.files[index];
    return true;
}

static bool get_function(struct cn_database *db, uint32_t index, struct cn_function *out,
                         struct cn_error *err)
{
    (void)err;
    *out = self_of(db)->merged.names.functions[index];
    return true;
}

static void describe_entry(uint32_t key, struct cn_context *out)
{
    static const char *const names[] = {
        [CN_ENTRY_UNKNOWN] = "unknown entry",
        [CN_ENTRY_MAIN_THREAD] = "main thread",
        [CN_ENTRY_APPLICATION_THREAD] = "application thread",
    };

    out->relation = CN_LEXICAL;
    out->kind = CN_CONTEXT_ENTRY;
    out->entry = (uint16_t)key;
    out->entry_name = names[key];
}

static void describe(const struct cn_cct_merged *merged, cn_cct_id node,
                     struct cn_context *out)
{
    const struct cn_cct_link *link = &merged->tree.links[node];
    uint32_t number = link->key & ~(CN_CCT_KEY_LINE | CN_CCT_KEY_INLINED);

    *out = (struct cn_context){
        .id = merged->ids[node],
        .relation = CN_CALL,
        .kind = CN_CONTEXT_FUNCTION,
        .function = CN_NONE,
        .file = CN_NONE,
        .module = CN_NONE,
        .at = node,
    };
    if (link->parent == 0) {
        describe_entry(link->key, out);
    } else if (link->key & CN_CCT_KEY_LINE) {
        out->relation = CN_LEXICAL;
        out->kind = CN_CONTEXT_LINE;
        out->propagation = 1;
        out->has_source = true;
        out->file = merged->names.lines[number].file;
        out->line = merged->names.lines[number].line;
    } else {
        if (link->key & CN_CCT_KEY_INLINED)
            out->relation = CN_INLINED_CALL;
        out->has_function = true;
        out->function = number;
    }
}

/* The first of `node` and the siblings after it that is kept; 0: none. */
static cn_cct_id first_kept(const struct cn_cct_merged *merged, cn_cct_id node)
{
    while (node != 0 && !cn_cct_merged_keeps(merged, node))
        node = merged->tree.links[node].next;
    return node;
}

static bool children(struct cn_database *db, const struct cn_context *parent,
                     struct cn_context_cursor *out, struct cn_error *err)
{
    const struct cn_cct_merged *merged = &self_of(db)->merged;
    cn_cct_id node = parent ? (cn_cct_id)parent->at : 0;

    (void)err;
    *out = (struct cn_context_cursor){
        .at = first_kept(merged, merged->tree.links[node].first_child),
        .is_entry_list = !parent,
    };
    return true;
}

static enum cn_step child_next(struct cn_database *db, struct cn_context_cursor *cursor,
                               struct cn_context *out, struct cn_error *err)
{
    const struct cn_cct_merged *merged = &self_of(db)->merged;
    cn_cct_id node = (cn_cct_id)cursor->at;

    (void)err;
    if (node == 0)
        return CN_END;
    describe(merged, node, out);
    cursor->at = first_kept(merged, merged->tree.links[node].next);
    return CN_ITEM;
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    (void)err;
    describe(&self_of(db)->merged, (cn_cct_id)at, out);
    return true;
}

/* The first value of a profile, counted from `low`, whose context is not below
 * `key`. */
static bool find_value(const struct cn_cct_database *self, uint32_t profile, uint64_t low,
                       uint64_t key, uint64_t *out, struct cn_error *err)
{
    const struct cn_cct_profile *p = &self->profiles[profile];
    uint64_t high = p->value_count;

    if (key == 0)
        high = low;
    if (key > UINT32_MAX)
        low = high;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct cn_value value;

        if (!cn_spool_read(&self->spool, p->off + middle * sizeof(value), &value,
                           sizeof(value), err))
            return false;
        if (value.key < key)
            low = middle + 1;
        else
            high = middle;
    }
    *out = low;
    return true;
}

static bool values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    const struct cn_cct_database *self = self_of(db);

    return find_value(self, cursor->owner, 0, cursor->first_key, &cursor->at, err) &&
           find_value(self, cursor->owner, cursor->at, (uint64_t)cursor->last_key + 1,
                      &cursor->end, err);
}

static enum cn_step values_next(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    const struct cn_cct_database *self = self_of(cursor->db);
    uint64_t left = cursor->end - cursor->at;
    size_t count = left < CN_VALUE_BATCH ? (size_t)left : CN_VALUE_BATCH;
    uint64_t off =
        self->profiles[cursor->owner].off + cursor->at * sizeof(*cursor->batch);

    if (count == 0)
        return CN_END;
    if (!cn_spool_read(&self->spool, off, cursor->batch, count * sizeof(*cursor->batch),
                       err))
        return CN_FAIL;
    cursor->at += count;
    *out = (struct cn_value_batch){cursor->batch, count};
    return CN_ITEM;
}

static bool timeline(struct cn_database *db, uint32_t profile, struct cn_timeline *out,
                     struct cn_error *err)
{
    (void)err;
    *out = (struct cn_timeline){.at = profile};
    if (profile > 0 && db->has_timelines)
        out->count = self_of(db)->members.list[profile - 1].task.sample_count;
    return true;
}

static void stop_replay(struct cn_cct_database *self, uint64_t member)
{
    cn_cct_replay_close(&self->replays[member]);
    cn_cct_member_release(&self->members.list[member]);
}

/* Samples are made in their order: go to number `first`. */
static bool seek(struct cn_cct_database *self, uint64_t member, uint64_t first,
                 struct cn_error *err)
{
    struct cn_cct_replay *replay = &self->replays[member];
    struct cn_cct_member *m = &self->members.list[member];
    struct cn_sample skipped;

    if (!replay->task || replay->done_count > first) {
        stop_replay(self, member);
        if (!cn_cct_member_bring_back(m, &self->spool, false, err) ||
            !cn_cct_replay_open(replay, &m->task, err))
            return false;
    }
    while (replay->done_count < first)
        if (!cn_cct_replay_next(replay, &skipped, 1, err))
            return false;
    return true;
}

static bool samples(struct cn_database *db, const struct cn_timeline *from,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    struct cn_cct_database *self = self_of(db);
    uint64_t member = from->at - 1;
    const struct cn_cct_member *m = &self->members.list[member];
    uint64_t offset_ns = (uint64_t)self->offsets_ns[m->source];

    if (!seek(self, member, first, err) ||
        !cn_cct_replay_next(&self->replays[member], out, count, err))
        return false;
    for (size_t i = 0; i < count; i++) {
        cn_cct_id node = out[i].context;

        if (node >= m->node_count)
            return cn_fail(err, CN_ERR_FORMAT, "changed while it was being read");
        out[i].context = node == 0 ? 0 : m->nodes[node];
        out[i].time_ns += offset_ns;
    }
    if (first + count == from->count)
        stop_replay(self, member);
    return true;
}

static void close_database(struct cn_database *db)
{
    struct cn_cct_database *self = self_of(db);

    for (size_t i = 0; self->replays && i < self->members.count; i++)
        cn_cct_replay_close(&self->replays[i]);
    cn_cct_members_done(&self->members);
    cn_cct_merged_done(&self->merged);
    cn_spool_close(&self->spool);
    free(self->profiles);
    free(self->replays);
    free(self->offsets_ns);
    cn_arena_done(&db->arena);
    free(self);
}

const struct cn_database_ops cn_cct_database_ops = {
    .profile = get_profile,
    .module = get_module,
    .file = get_file,
    .function = get_function,
    .children = children,
    .child_next = child_next,
    .context_at = context_at,
    .values_begin = values_begin,
    .values_next = values_next,
    .timeline = timeline,
    .samples = samples,
    .close = close_database,
};
