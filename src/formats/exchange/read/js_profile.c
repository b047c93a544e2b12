#include "formats/exchange/read/js_profile.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "model/contexts/context.h"

enum { NS_PER_US = 1000, TIME_US_LOG = 52 };

void cn_js_profile_done(struct cn_js_profile *p)
{
    cn_names_done(&p->texts);
    free(p->nodes);
    free(p->ticks);
    free(p->samples);
    cn_map_done(&p->node_of);
    cn_map_done(&p->parent_of);
    free(p->ids);
    free(p->times_us);
    free(p->lines);
    *p = (struct cn_js_profile){0};
}

static uint32_t text_number(struct cn_js_profile *p, struct cn_bytes text)
{
    struct cn_text copy = {0};

    cn_text_add(&copy, (const char *)text.ptr, text.len);
    uint32_t number = cn_names_add(&p->texts, cn_text_str(&copy));
    cn_text_done(&copy);
    return number;
}

static uint32_t add_node(struct cn_js_profile *p)
{
    uint32_t empty = cn_names_add(&p->texts, "");

    p->at = (uint32_t)p->node_count;
    CN_PUSH(
        p->nodes, p->node_count, p->node_capacity,
        (struct cn_js_node){
            .id = UINT64_MAX - p->at, .parent = CN_NONE, .name = empty, .file = empty});
    return p->at;
}

/* Files that this machine may have are named by their path. */
static struct cn_bytes path_of(struct cn_bytes url)
{
    static const char scheme[] = "file://";
    struct cn_bytes path = url;

    if (url.len > sizeof(scheme) - 1 && memcmp(url.ptr, scheme, sizeof(scheme) - 1) == 0)
        (void)cn_bytes_from(url, sizeof(scheme) - 1, &path);
    return path;
}

static void name_node(struct cn_js_profile *p, const struct cn_json_token *token)
{
    struct cn_js_node *node = &p->nodes[p->at];

    node->kind = cn_json_is(token, "(root)") || cn_json_is(token, "[root]") ? CN_JS_ROOT
                 : cn_json_is(token, "(idle)")                              ? CN_JS_IDLE
                 : cn_json_is(token, "(garbage collector)") ? CN_JS_COLLECTOR
                                                            : CN_JS_FUNCTION;
    node->name = text_number(p, token->text.len > 0
                                    ? token->text
                                    : (struct cn_bytes){(const uint8_t *)"(anonymous)",
                                                        strlen("(anonymous)")});
}

/* A line that counts from `first`; 0 if it is none. */
static uint32_t line_of(struct cn_bytes text, int64_t first)
{
    int64_t line;

    return cn_json_as_i64(text, &line) && line >= first && line < INT32_MAX
               ? (uint32_t)(line - first + 1)
               : 0;
}

static bool take_call_frame(void *arg, const struct cn_json_member *member,
                            struct cn_error *err)
{
    struct cn_js_profile *p = arg;
    struct cn_bytes text = member->token.text;

    if (cn_json_key_is(member, "functionName") && member->kind == CN_JSON_STRING)
        name_node(p, &member->token);
    else if (cn_json_key_is(member, "url") && member->kind == CN_JSON_STRING)
        p->nodes[p->at].file = text_number(p, path_of(text));
    else if (cn_json_key_is(member, "lineNumber") && member->kind == CN_JSON_NUMBER)
        p->nodes[p->at].line = line_of(text, 0);
    return cn_json_skip(p->json, member->kind, err);
}

static bool take_tick(void *arg, const struct cn_json_member *member,
                      struct cn_error *err)
{
    struct cn_js_profile *p = arg;
    struct cn_js_tick *tick = &p->ticks[p->tick_count];

    if (cn_json_key_is(member, "line"))
        tick->line = line_of(member->token.text, 1);
    else if (cn_json_key_is(member, "ticks"))
        (void)cn_json_as_u64(member->token.text, &tick->count);
    return cn_json_skip(p->json, member->kind, err);
}

static bool read_tick(void *arg, uint64_t off, struct cn_error *err)
{
    struct cn_js_profile *p = arg;

    (void)off;
    CN_GROW(p->ticks, p->tick_count, p->tick_capacity);
    p->ticks[p->tick_count] = (struct cn_js_tick){.node = p->at};
    if (!cn_json_read_object(p->json, take_tick, p, err))
        return false;
    p->tick_count++;
    return true;
}

/* The ids in a list of children. */
static bool read_children(struct cn_js_profile *p, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;
    uint64_t id;

    while ((kind = cn_json_next(p->json, &token, err)) == CN_JSON_NUMBER) {
        if (!cn_json_as_u64(token.text, &id))
            return cn_json_fail(&token, "the id of a node", err);
        *cn_map_at(&p->parent_of, id, p->at) = p->at;
    }
    return kind == CN_JSON_ARRAY_END ||
           (kind != CN_JSON_FAIL &&
            cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": expected the id of a node",
                    token.off));
}

static bool take_node(void *arg, const struct cn_json_member *member,
                      struct cn_error *err)
{
    struct cn_js_profile *p = arg;
    struct cn_js_node *node = &p->nodes[p->at];
    struct cn_bytes text = member->token.text;

    if (cn_json_key_is(member, "callFrame") && member->kind == CN_JSON_OBJECT)
        return cn_json_read_object(p->json, take_call_frame, p, err);
    if (cn_json_key_is(member, "children") && member->kind == CN_JSON_ARRAY)
        return read_children(p, err);
    if (cn_json_key_is(member, "positionTicks") && member->kind == CN_JSON_ARRAY)
        return cn_json_read_objects(p->json, read_tick, p, err);
    if (cn_json_key_is(member, "id") && member->kind == CN_JSON_NUMBER)
        return cn_json_as_u64(text, &node->id) ||
               cn_json_fail(&member->token, "the id of a node", err);
    if (cn_json_key_is(member, "parent") && member->kind == CN_JSON_NUMBER)
        node->has_parent_id = cn_json_as_u64(text, &node->parent_id);
    else if (cn_json_key_is(member, "hitCount") || cn_json_key_is(member, "selfSize"))
        (void)cn_json_as_f64(text, &node->size);
    /* Profiles before 2016 have no callFrame. */
    return take_call_frame(p, member, err);
}

static bool read_node(void *arg, uint64_t off, struct cn_error *err)
{
    struct cn_js_profile *p = arg;
    uint32_t at = add_node(p);

    if (!cn_json_read_object(p->json, take_node, p, err))
        return cn_fail_in(err, "node at %" PRIu64, off);
    *cn_map_at(&p->node_of, p->nodes[at].id, at) = at;
    return true;
}

/* A node in a list of children, or the first one. */
static void open_child(struct cn_js_profile *p)
{
    uint32_t parent = p->at, at = add_node(p);

    p->nodes[at].parent = parent;
}

static void close_child(struct cn_js_profile *p)
{
    struct cn_js_node *node = &p->nodes[p->at];

    *cn_map_at(&p->node_of, node->id, p->at) = p->at;
    p->at = node->parent;
}

/* The rest of a node whose children are nodes, and of those: no recursion, the nodes are the
 * stack. */
static bool read_tree(struct cn_js_profile *p, struct cn_error *err)
{
    struct cn_json_member member;

    p->at = CN_NONE;
    open_child(p);
    while (p->at != CN_NONE) {
        member.kind = cn_json_next(p->json, &member.token, err);
        if (member.kind == CN_JSON_OBJECT)
            open_child(p);
        else if (member.kind == CN_JSON_OBJECT_END)
            close_child(p);
        if (member.kind == CN_JSON_OBJECT || member.kind == CN_JSON_OBJECT_END ||
            member.kind == CN_JSON_ARRAY_END)
            continue;
        if (member.kind != CN_JSON_KEY)
            return member.kind != CN_JSON_FAIL &&
                   cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": expected a node",
                           member.token.off);
        size_t len = member.token.text.len < CN_JSON_KEY_MAX ? member.token.text.len
                                                             : CN_JSON_KEY_MAX;
        memcpy(member.key, member.token.text.ptr, len);
        member.key[len] = '\0';
        member.kind = cn_json_next(p->json, &member.token, err);
        if (member.kind == CN_JSON_FAIL)
            return false;
        if (member.kind != CN_JSON_STRING && member.kind != CN_JSON_NUMBER)
            member.token.text = (struct cn_bytes){(const uint8_t *)"", 0};
        if (cn_json_key_is(&member, "children") && member.kind == CN_JSON_ARRAY)
            continue;
        if (!take_node(p, &member, err))
            return false;
    }
    return true;
}

enum js_list { IDS, TIMES, LINES };

/* The rest of an array of numbers. A heap profile has objects in place of ids: each is the size of
 * allocations, which their nodes have added up. */
static bool read_list(struct cn_js_profile *p, enum js_list list, struct cn_error *err)
{
    struct cn_json_token token;
    enum cn_json_kind kind;

    while ((kind = cn_json_next(p->json, &token, err)) != CN_JSON_ARRAY_END) {
        uint64_t id = 0;
        int64_t time_us = 0;

        if (kind == CN_JSON_OBJECT && list == IDS) {
            if (!cn_json_skip(p->json, kind, err))
                return false;
            continue;
        }
        if (kind == CN_JSON_FAIL)
            return false;
        if (kind != CN_JSON_NUMBER)
            return cn_fail(err, CN_ERR_FORMAT, "JSON at %" PRIu64 ": expected a number",
                           token.off);
        if (list == IDS && !cn_json_as_u64(token.text, &id))
            return cn_json_fail(&token, "the id of a node", err);
        if (list == TIMES &&
            (!cn_json_as_i64(token.text, &time_us) || llabs(time_us) >> TIME_US_LOG))
            return cn_json_fail(&token, "a time", err);
        if (list == IDS) {
            CN_PUSH(p->ids, p->id_count, p->id_capacity, id);
        } else if (list == TIMES) {
            CN_PUSH(p->times_us, p->time_count, p->time_capacity, time_us);
        } else {
            CN_PUSH(p->lines, p->line_count, p->line_capacity, line_of(token.text, 1));
        }
    }
    return true;
}

static bool take_inner(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct cn_js_profile *p = arg;

    return cn_js_profile_take(p, p->json, member, err);
}

static void read_time(const struct cn_json_member *member, int64_t *out)
{
    int64_t time_us;

    if (cn_json_as_i64(member->token.text, &time_us) && time_us >= 0 &&
        !(time_us >> TIME_US_LOG))
        *out = time_us;
}

bool cn_js_profile_take(struct cn_js_profile *p, struct cn_json_reader *json,
                        const struct cn_json_member *member, struct cn_error *err)
{
    bool is_list = member->kind == CN_JSON_ARRAY;

    p->json = json;
    if (cn_json_key_is(member, "cpuProfile") && member->kind == CN_JSON_OBJECT)
        return cn_json_read_object(json, take_inner, p, err);
    if (cn_json_key_is(member, "head") && member->kind == CN_JSON_OBJECT)
        return read_tree(p, err);
    if (cn_json_key_is(member, "nodes") && is_list)
        return cn_json_read_objects(json, read_node, p, err);
    if (cn_json_key_is(member, "samples") && is_list)
        return read_list(p, IDS, err);
    if (cn_json_key_is(member, "lines") && is_list)
        return read_list(p, LINES, err);
    if (cn_json_key_is(member, "timestamps") && is_list)
        p->has_stamps = true;
    if ((cn_json_key_is(member, "timeDeltas") || cn_json_key_is(member, "timestamps")) &&
        is_list)
        return read_list(p, TIMES, err);
    if (cn_json_key_is(member, "startTime")) {
        read_time(member, &p->start_us);
        p->has_start = true;
    } else if (cn_json_key_is(member, "endTime")) {
        read_time(member, &p->end_us);
    }
    return cn_json_skip(json, member->kind, err);
}

/* "name(url:12:3)" is a function of a file, at a line. */
static void split_name(struct cn_js_profile *p, struct cn_bytes text)
{
    struct cn_js_node *node = &p->nodes[p->at];
    const uint8_t *open = text.len > 0 ? memchr(text.ptr, '(', text.len) : NULL;
    struct cn_bytes url, line;
    const uint8_t *colon;

    if (!open || open == text.ptr || text.ptr[text.len - 1] != ')')
        return;
    size_t name_len = (size_t)(open - text.ptr);
    if (!cn_bytes_slice(text, name_len + 1, text.len - name_len - 2, &url))
        return;
    colon = url.len > 0 ? memrchr(url.ptr, ':', url.len) : NULL;
    if (!colon)
        return;
    url.len = (size_t)(colon - url.ptr);
    colon = url.len > 0 ? memrchr(url.ptr, ':', url.len) : NULL;
    if (!colon || !cn_bytes_from(url, (size_t)(colon - url.ptr) + 1, &line))
        return;
    node->line = line_of(line, 1);
    url.len = (size_t)(colon - url.ptr);
    node->file = text_number(p, path_of(url));
    node->name = text_number(p, (struct cn_bytes){text.ptr, name_len});
}

static bool take_frame(void *arg, const struct cn_json_member *member,
                       struct cn_error *err)
{
    struct cn_js_profile *p = arg;
    struct cn_js_node *node = &p->nodes[p->at];

    if (cn_json_key_is(member, "name") && member->kind == CN_JSON_STRING) {
        name_node(p, &member->token);
        split_name(p, member->token.text);
    } else if (cn_json_key_is(member, "parent")) {
        node->has_parent_id = cn_json_as_u64(member->token.text, &node->parent_id);
    }
    return cn_json_skip(p->json, member->kind, err);
}

bool cn_js_profile_take_frame(struct cn_js_profile *p, struct cn_json_reader *json,
                              uint64_t id, struct cn_error *err)
{
    uint32_t at = add_node(p);

    p->json = json;
    p->nodes[at].id = id;
    *cn_map_at(&p->node_of, id, at) = at;
    return cn_json_read_object(json, take_frame, p, err);
}

void cn_js_profile_end_part(struct cn_js_profile *p)
{
    if (p->sample_count == 0)
        p->last_us = p->has_stamps ? 0 : p->start_us;
    p->has_times |= p->time_count > 0;
    for (size_t i = 0; i < p->id_count; i++) {
        int64_t time_us = i < p->time_count ? p->times_us[i] : 0;

        /* Samples that come late belong to the time of the one before. */
        if (!p->has_stamps)
            time_us += p->last_us;
        if (time_us > p->last_us && !(time_us >> TIME_US_LOG))
            p->last_us = time_us;
        CN_PUSH(p->samples, p->sample_count, p->sample_capacity,
                (struct cn_js_sample){.time_ns = (uint64_t)p->last_us * NS_PER_US,
                                      .id = p->ids[i],
                                      .line = i < p->line_count ? p->lines[i] : 0});
    }
    p->id_count = p->time_count = p->line_count = 0;
    p->end_ns = (uint64_t)(p->end_us > p->last_us ? p->end_us : p->last_us) * NS_PER_US;
}

void cn_js_profile_append(struct cn_js_profile *to, struct cn_js_profile *part)
{
    uint32_t first = (uint32_t)to->node_count;

    for (size_t i = 0; i < part->node_count; i++) {
        struct cn_js_node node = part->nodes[i];

        node.name = cn_names_add(&to->texts, part->texts.list[node.name]);
        node.file = cn_names_add(&to->texts, part->texts.list[node.file]);
        node.parent += node.parent == CN_NONE ? 0 : first;
        *cn_map_at(&to->node_of, node.id, 0) = (uint32_t)to->node_count;
        CN_PUSH(to->nodes, to->node_count, to->node_capacity, node);
    }
    for (size_t i = 0; i < part->parent_of.capacity; i++) {
        const struct cn_map_slot *slot = &part->parent_of.slots[i];

        if (slot->is_used)
            *cn_map_at(&to->parent_of, slot->key, 0) = slot->value + first;
    }
    for (size_t i = 0; i < part->id_count; i++) {
        CN_PUSH(to->ids, to->id_count, to->id_capacity, part->ids[i]);
        CN_PUSH(to->lines, to->line_count, to->line_capacity,
                i < part->line_count ? part->lines[i] : 0);
    }
    for (size_t i = 0; i < part->time_count; i++) {
        CN_PUSH(to->times_us, to->time_count, to->time_capacity, part->times_us[i]);
    }
    if (part->has_start && !to->has_start) {
        to->start_us = part->start_us;
        to->has_start = true;
    }
    to->end_us = part->end_us > to->end_us ? part->end_us : to->end_us;
    cn_js_profile_end_part(to);
    cn_js_profile_done(part);
}

/* Set the depth of a node and of those above it; false if they form a cycle. Depths of nodes on the
 * way are CN_NONE. */
static bool find_depth(struct cn_js_profile *p, uint32_t from)
{
    uint32_t depth = 0, count = 0, at = from;

    for (; at != CN_NONE && p->nodes[at].depth == 0; at = p->nodes[at].parent) {
        p->nodes[at].depth = CN_NONE;
        count++;
    }
    if (at != CN_NONE && p->nodes[at].depth == CN_NONE)
        return false;
    depth = at == CN_NONE ? 0 : p->nodes[at].depth;
    for (at = from; count > 0; at = p->nodes[at].parent)
        p->nodes[at].depth = depth + count--;
    return true;
}

/* Make the last node that is not too deep the parent of the deeper ones, so that no walk is long. */
static void cut_depth(struct cn_js_profile *p, uint32_t from)
{
    uint32_t at = from, last;

    while (p->nodes[at].depth > CN_JS_DEPTH_MAX)
        at = p->nodes[at].parent;
    last = at;
    for (at = from; p->nodes[at].depth > CN_JS_DEPTH_MAX;) {
        uint32_t parent = p->nodes[at].parent;

        p->nodes[at].parent = last;
        at = parent;
    }
}

bool cn_js_profile_finish(struct cn_js_profile *p, struct cn_error *err)
{
    for (uint32_t i = 0; i < p->node_count; i++) {
        struct cn_js_node *node = &p->nodes[i];
        uint32_t parent = node->has_parent_id
                              ? cn_map_find(&p->node_of, node->parent_id, CN_NONE)
                              : cn_map_find(&p->parent_of, node->id, CN_NONE);

        if (parent != CN_NONE)
            node->parent = parent;
    }
    for (uint32_t i = 0; i < p->node_count; i++) {
        uint64_t id = p->nodes[i].id;

        if (!find_depth(p, i)) {
            p->sample_count = p->node_count = 0;
            return cn_fail(err, CN_ERR_FORMAT, "node %" PRIu64 " is its own caller", id);
        }
    }
    for (uint32_t i = 0; i < p->node_count; i++)
        cut_depth(p, i);
    for (size_t i = 0; i < p->sample_count; i++) {
        p->samples[i].node = cn_map_find(&p->node_of, p->samples[i].id, CN_NONE);
        if (p->samples[i].node == CN_NONE && p->unknown_count++ == 0)
            p->first_unknown = i;
    }
    return true;
}
