#include "analyze/cct/database.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/search.h"

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

static void describe(const struct cn_cct_merged *merged, cn_cct_id node,
                     struct cn_context *out)
{
    const struct cn_tree_link *link = &merged->tree.links[node];
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
        out->relation = CN_LEXICAL;
        out->kind = CN_CONTEXT_ENTRY;
        out->entry = (uint16_t)link->key;
        out->entry_name = merged->is_of_traces ? "traces" : cn_entry_name(link->key);
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

/* The first of `node` and the siblings after it that is a context; 0: none. */
static cn_cct_id first_context(const struct cn_cct_merged *merged, cn_cct_id node)
{
    while (node != 0 && !cn_cct_merged_is_context(merged, node))
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
        .at = first_context(merged, merged->tree.links[node].first_child),
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
    cursor->at = first_context(merged, merged->tree.links[node].next);
    return CN_ITEM;
}

static bool context_at(struct cn_database *db, uint64_t at, struct cn_context *out,
                       struct cn_error *err)
{
    (void)err;
    describe(&self_of(db)->merged, (cn_cct_id)at, out);
    return true;
}

/* A search among the values of a profile, which may fail to read one. */
struct value_search {
    const struct cn_spool *spool;
    uint64_t off;
    bool *has_failed;
    struct cn_error *err;
};

/* Whether the first value of a batch is before a key. */
static bool is_before(const void *data, uint64_t number, uint64_t key)
{
    const struct value_search *search = data;
    struct cn_value value;

    if (cn_spool_read(search->spool,
                      search->off + number * CN_VALUE_BATCH * sizeof(value), &value,
                      sizeof(value), search->err))
        return value.key < key;
    *search->has_failed = true;
    return false;
}

static bool has_smaller_key(const void *data, uint64_t index, uint64_t key)
{
    const struct cn_value *values = data;

    return values[index].key < key;
}

static bool values_read(struct cn_value_cursor *cursor, size_t *count,
                        struct cn_error *err)
{
    const struct cn_cct_database *self = self_of(cursor->db);
    uint64_t left = cursor->end - cursor->at;
    uint64_t off =
        self->profiles[cursor->owner].off + cursor->at * sizeof(*cursor->batch);

    *count = left < CN_VALUE_BATCH ? (size_t)left : CN_VALUE_BATCH;
    return cn_spool_read(&self->spool, off, cursor->batch,
                         *count * sizeof(*cursor->batch), err);
}

/* Reading is what costs time: the batch is found by its first value, the value in memory. */
static bool values_begin(struct cn_database *db, struct cn_value_cursor *cursor,
                         struct cn_error *err)
{
    const struct cn_cct_database *self = self_of(db);
    const struct cn_cct_profile *profile = &self->profiles[cursor->owner];
    bool has_failed = false;
    struct value_search search = {&self->spool, profile->off, &has_failed, err};
    size_t count;

    cursor->at = 0;
    cursor->end = profile->value_count;
    if (cursor->first_key == 0 || cursor->end == 0)
        return true;
    cursor->at = cn_search(1, (cursor->end - 1) / CN_VALUE_BATCH + 1, is_before, &search,
                           cursor->first_key);
    cursor->at = (cursor->at - 1) * CN_VALUE_BATCH;
    if (has_failed || !values_read(cursor, &count, err))
        return false;
    cursor->at += cn_search(0, count, has_smaller_key, cursor->batch, cursor->first_key);
    return true;
}

static enum cn_step values_next(struct cn_value_cursor *cursor,
                                struct cn_value_batch *out, struct cn_error *err)
{
    size_t count, wanted;

    if (cursor->at == cursor->end)
        return CN_END;
    if (!values_read(cursor, &count, err))
        return CN_FAIL;
    wanted = count;
    if (cursor->batch[count - 1].key > cursor->last_key)
        wanted = (size_t)cn_search(0, count, has_smaller_key, cursor->batch,
                                   (uint64_t)cursor->last_key + 1);
    cursor->at += wanted;
    if (wanted < count)
        cursor->end = cursor->at;
    *out = (struct cn_value_batch){cursor->batch, wanted};
    return wanted > 0 ? CN_ITEM : CN_END;
}

static bool timeline(struct cn_database *db, uint32_t profile, struct cn_timeline *out,
                     struct cn_error *err)
{
    (void)err;
    *out = (struct cn_timeline){.at = profile};
    if (profile > 0 && db->has_timelines) {
        const struct cn_cct_database *self = self_of(db);
        const struct cn_cct_member *member = &self->members.list[profile - 1];
        const struct cn_cct_task *task = &member->task;

        out->origin_ns = (uint64_t)self->offsets_ns[member->source];
        if (member->samples.spool) {
            out->count = member->samples.count + (task->follow.node != 0);
            out->resolution_ns = task->thinner.resolution_ns;
        } else {
            out->count = task->sample_count;
            out->part_count = task->part_count;
        }
    }
    return true;
}

static uint64_t part_start(struct cn_database *db, const struct cn_timeline *timeline,
                           size_t number)
{
    return self_of(db)->members.list[timeline->at - 1].task.starts[number].first_sample;
}

void cn_cct_database_make_players(struct cn_cct_database *self)
{
    size_t count = 0;

    self->first_player = cn_alloc(self->members.count + 1, sizeof(*self->first_player));
    for (size_t i = 0; i < self->members.count; i++) {
        size_t parts = self->members.list[i].task.part_count;

        self->first_player[i] = count;
        count += parts > 0 ? parts : 1;
    }
    self->first_player[self->members.count] = count;
    self->players = cn_alloc(count, sizeof(*self->players));
}

static void stop(struct cn_cct_player *player)
{
    cn_cct_replay_close(&player->replay);
    cn_tree_done(&player->tree);
}

/* Go to sample `first`: samples are made in order. */
static bool seek(const struct cn_cct_database *self, const struct cn_cct_member *member,
                 size_t part, struct cn_cct_player *player, uint64_t first,
                 struct cn_error *err)
{
    struct cn_cct_replay *replay = &player->replay;
    struct cn_sample skipped;

    if (!replay->is_open || replay->done_count > first) {
        stop(player);
        if (member->is_spilled &&
            !cn_cct_member_read_tree(member, &self->spool, &player->tree, err))
            return false;
        if (!cn_cct_replay_open(replay, &member->task,
                                member->is_spilled ? &player->tree : &member->task.tree,
                                part, err))
            return false;
    }
    while (replay->done_count < first)
        if (!cn_cct_replay_next(replay, &skipped, 1, err))
            return false;
    return true;
}

/* Read samples from `first` on, up to `count` or the end of a part; returns how many, 0 on
 * failure. */
static size_t read_part(struct cn_cct_database *self, size_t number, uint64_t first,
                        uint64_t count, struct cn_sample *out, struct cn_error *err)
{
    const struct cn_cct_member *member = &self->members.list[number];
    const struct cn_cct_task *task = &member->task;
    size_t part = task->part_count > 0
                      ? cn_search_u64(&task->starts[0].first_sample, task->part_count,
                                      sizeof(*task->starts), first) -
                            1
                      : 0;
    struct cn_cct_player *player = &self->players[self->first_player[number] + part];
    uint64_t end = part + 1 < task->part_count ? task->starts[part + 1].first_sample
                                               : task->sample_count;

    if (count > end - first)
        count = end - first;
    if (!seek(self, member, part, player, first, err) ||
        !cn_cct_replay_next(&player->replay, out, (size_t)count, err)) {
        stop(player);
        return 0;
    }
    if (first + count == end)
        stop(player);
    return (size_t)count;
}

/* Read stored samples. When calls are open at the end, the last one is not stored. */
static bool read_stored(const struct cn_cct_member *member, uint64_t first, size_t count,
                        struct cn_sample *out, struct cn_error *err)
{
    if (count > 0 && first + count > member->samples.count)
        out[--count] = (struct cn_sample){member->task.end_ns, 0};
    return cn_cct_samples_read(&member->samples, first, count, out, err);
}

static bool read_parts(struct cn_cct_database *self, size_t number, uint64_t first,
                       size_t count, struct cn_sample *out, struct cn_error *err)
{
    for (size_t done = 0; done < count;) {
        size_t more =
            read_part(self, number, first + done, count - done, out + done, err);

        if (more == 0)
            return false;
        done += more;
    }
    return true;
}

static bool samples(struct cn_database *db, const struct cn_timeline *from,
                    uint64_t first, size_t count, struct cn_sample *out,
                    struct cn_error *err)
{
    struct cn_cct_database *self = self_of(db);
    size_t number = (size_t)from->at - 1;
    const struct cn_cct_member *m = &self->members.list[number];
    uint64_t offset_ns = (uint64_t)self->offsets_ns[m->source];

    if (!(m->samples.spool ? read_stored(m, first, count, out, err)
                           : read_parts(self, number, first, count, out, err)))
        return false;
    for (size_t i = 0; i < count; i++) {
        cn_cct_id node = out[i].context;

        out[i].time_ns += offset_ns;
        if (m->stream != CN_NONE) /* its samples are contexts */
            continue;
        if (node >= m->node_count)
            return cn_fail(err, CN_ERR_FORMAT, "the recording changed while it was read");
        out[i].context = node == 0 ? 0 : m->nodes[node];
    }
    return true;
}

static void close_database(struct cn_database *db)
{
    struct cn_cct_database *self = self_of(db);

    for (size_t i = 0; self->players && i < self->first_player[self->members.count]; i++)
        stop(&self->players[i]);
    cn_cct_members_done(&self->members);
    cn_cct_merged_done(&self->merged);
    cn_spool_close(&self->spool);
    for (size_t i = 0; i < self->source_count; i++)
        cn_spool_close(&self->sample_spools[i]);
    free(self->sample_spools);
    free(self->profiles);
    free(self->players);
    free(self->first_player);
    free(self->offsets_ns);
    cn_arena_done(&db->arena);
    free(self);
}

const struct cn_database_ops cn_cct_database_ops = {
    .profile = get_profile,
    .children = children,
    .child_next = child_next,
    .context_at = context_at,
    .values_begin = values_begin,
    .values_next = values_next,
    .timeline = timeline,
    .samples = samples,
    .part = part_start,
    .close = close_database,
};
