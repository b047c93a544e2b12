#include "formats/hpctoolkit/yaml_tree.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <yaml.h>

#include "base/alloc.h"
#include "base/map.h"

struct open_node {
    struct cn_yaml_node *node;
    struct cn_yaml_item *last;
};

struct yaml_builder {
    struct cn_yaml_tree tree;
    struct cn_arena *arena;
    struct open_node open[CN_YAML_NEST_MAX];
    size_t depth;
    struct cn_names anchors;
    struct cn_yaml_node **anchored; /* by the anchor's number; NULL: not defined */
    size_t anchored_capacity;
    bool is_done;
};

struct cn_yaml_node *cn_yaml_find(const struct cn_yaml_node *mapping, const char *key)
{
    const struct cn_yaml_item *item;

    if (mapping->type != CN_YAML_MAPPING)
        return NULL;
    for (item = mapping->items; item && item->next; item = item->next->next)
        if (item->node->type == CN_YAML_SCALAR && strcmp(item->node->text, key) == 0)
            return item->next->node;
    return NULL;
}

bool cn_yaml_is_null(const struct cn_yaml_node *node)
{
    return node->type == CN_YAML_SCALAR && node->is_plain &&
           (node->text[0] == '\0' || strcmp(node->text, "~") == 0 ||
            strcasecmp(node->text, "null") == 0);
}

bool cn_yaml_fail(const struct cn_yaml_node *node, struct cn_error *err,
                  enum cn_error_kind kind, const char *fmt, ...)
{
    char text[256];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return cn_fail(err, kind, "line %zu, column %zu: %s", node->line, node->column, text);
}

static void add_to_parent(struct yaml_builder *b, struct cn_yaml_node *node)
{
    b->tree.node_count++;
    if (b->depth == 0) {
        b->tree.root = node;
        return;
    }
    struct open_node *parent = &b->open[b->depth - 1];
    struct cn_yaml_item *item = cn_arena_alloc(b->arena, 1, sizeof(*item));
    item->node = node;
    if (parent->last)
        parent->last->next = item;
    else
        parent->node->items = item;
    parent->last = item;
    parent->node->item_count++;
}

/* The slot of the node that an anchor names. */
static struct cn_yaml_node **anchor_at(struct yaml_builder *b, const yaml_char_t *anchor)
{
    size_t known = b->anchors.count;
    uint32_t number = cn_names_add(&b->anchors, (const char *)anchor);

    if (b->anchors.count > known) {
        CN_GROW(b->anchored, number, b->anchored_capacity);
        b->anchored[number] = NULL;
    }
    return &b->anchored[number];
}

static bool has_yaml_tag(const yaml_char_t *tag)
{
    static const char prefix[] = "tag:yaml.org,2002:";

    return strncmp((const char *)tag, prefix, sizeof(prefix) - 1) == 0;
}

static struct cn_yaml_node *new_node(struct yaml_builder *b, const yaml_event_t *event,
                                     enum cn_yaml_type type, const yaml_char_t *anchor,
                                     const yaml_char_t *tag)
{
    struct cn_yaml_node *node = cn_arena_alloc(b->arena, 1, sizeof(*node));

    node->type = type;
    node->line = event->start_mark.line + 1;
    node->column = event->start_mark.column + 1;
    if (anchor)
        *anchor_at(b, anchor) = node;
    if (tag && tag[0] != '\0' && strcmp((const char *)tag, "!") != 0 &&
        !has_yaml_tag(tag) && !b->tree.tagged)
        b->tree.tagged = node;
    add_to_parent(b, node);
    return node;
}

static bool add_scalar(struct yaml_builder *b, const yaml_event_t *event,
                       struct cn_error *err)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t len = event->data.scalar.length;
    const yaml_char_t *tag = event->data.scalar.tag;
    struct cn_yaml_node *node =
        new_node(b, event, CN_YAML_SCALAR, event->data.scalar.anchor, tag);

    if (memchr(text, '\0', len))
        return cn_yaml_fail(node, err, CN_ERR_FORMAT, "a NUL character in a text");
    node->text = cn_arena_copy(b->arena, text, len);
    node->is_plain =
        event->data.scalar.plain_implicit ||
        (tag && has_yaml_tag(tag) && strcmp((const char *)tag, YAML_STR_TAG) != 0);
    return true;
}

static bool add_alias(struct yaml_builder *b, const yaml_event_t *event,
                      struct cn_error *err)
{
    struct cn_yaml_node *node = *anchor_at(b, event->data.alias.anchor);

    if (!node)
        return cn_fail(err, CN_ERR_FORMAT, "line %zu, column %zu: no anchor '%.80s'",
                       event->start_mark.line + 1, event->start_mark.column + 1,
                       (const char *)event->data.alias.anchor);
    add_to_parent(b, node);
    return true;
}

static bool open_container(struct yaml_builder *b, const yaml_event_t *event,
                           enum cn_yaml_type type, const yaml_char_t *anchor,
                           const yaml_char_t *tag, struct cn_error *err)
{
    struct cn_yaml_node *node = new_node(b, event, type, anchor, tag);

    if (b->depth == CN_YAML_NEST_MAX)
        return cn_yaml_fail(node, err, CN_ERR_LIMIT, "nested deeper than %d",
                            CN_YAML_NEST_MAX);
    b->open[b->depth++] = (struct open_node){.node = node};
    return true;
}

static bool add_event(struct yaml_builder *b, const yaml_event_t *event,
                      struct cn_error *err)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return add_scalar(b, event, err);
    case YAML_ALIAS_EVENT:
        return add_alias(b, event, err);
    case YAML_SEQUENCE_START_EVENT:
        return open_container(b, event, CN_YAML_SEQUENCE,
                              event->data.sequence_start.anchor,
                              event->data.sequence_start.tag, err);
    case YAML_MAPPING_START_EVENT:
        return open_container(b, event, CN_YAML_MAPPING, event->data.mapping_start.anchor,
                              event->data.mapping_start.tag, err);
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT:
        b->depth--;
        return true;
    case YAML_DOCUMENT_END_EVENT:
    case YAML_STREAM_END_EVENT:
        b->is_done = true;
        return true;
    case YAML_NO_EVENT:
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_START_EVENT:
        return true;
    }
    return true;
}

static bool add_events(struct yaml_builder *b, yaml_parser_t *parser,
                       struct cn_error *err)
{
    while (!b->is_done) {
        yaml_event_t event;

        if (!yaml_parser_parse(parser, &event))
            return cn_fail(err, CN_ERR_FORMAT, "line %zu, column %zu: %s",
                           parser->problem_mark.line + 1, parser->problem_mark.column + 1,
                           parser->problem ? parser->problem : "not YAML");
        bool ok = add_event(b, &event, err);
        yaml_event_delete(&event);
        if (!ok)
            return false;
    }
    return true;
}

/* What follows the first document, damaged or not, is not read. */
static bool has_more(yaml_parser_t *parser)
{
    yaml_event_t event;

    if (!yaml_parser_parse(parser, &event))
        return true;
    bool is_end = event.type == YAML_STREAM_END_EVENT || event.type == YAML_NO_EVENT;
    yaml_event_delete(&event);
    return !is_end;
}

static bool check_text(struct cn_bytes text, struct cn_error *err)
{
    size_t directives = 0;

    if (text.len > CN_YAML_LEN_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%zu bytes of YAML, limit %d", text.len,
                       CN_YAML_LEN_MAX);
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '%' && (i == 0 || text.ptr[i - 1] == '\n'))
            directives++;
    if (directives > CN_YAML_DIRECTIVE_MAX)
        return cn_fail(err, CN_ERR_LIMIT, "%zu YAML directives, limit %d", directives,
                       CN_YAML_DIRECTIVE_MAX);
    return true;
}

bool cn_yaml_tree_read(struct cn_yaml_tree *out, struct cn_bytes text,
                       struct cn_arena *arena, struct cn_error *err)
{
    yaml_parser_t parser;

    if (!check_text(text, err))
        return false;
    if (!yaml_parser_initialize(&parser))
        return cn_fail(err, CN_ERR_NO_MEMORY, "no memory for the YAML parser");
    struct yaml_builder *b = cn_alloc(1, sizeof(*b));
    b->arena = arena;
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    if (text.len >= 3 && memcmp(text.ptr, "\xef\xbb\xbf", 3) == 0) /* byte order mark */
        text = (struct cn_bytes){text.ptr + 3, text.len - 3};
    yaml_parser_set_input_string(&parser, text.ptr, text.len);
    bool ok = add_events(b, &parser, err);
    if (ok) {
        b->tree.has_more = has_more(&parser);
        *out = b->tree;
    }
    yaml_parser_delete(&parser);
    cn_names_done(&b->anchors);
    free(b->anchored);
    free(b);
    return ok;
}
