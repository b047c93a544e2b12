/* A JavaScript profile as V8 and Hermes write it: a tree of functions, and samples of its nodes.
 *
 *     cn_js_profile_take(member, ...)   for each member of the object that has the profile
 *     cn_js_profile_end_part()          after each part of it
 *     cn_js_profile_finish()            then nodes have parents, and samples nodes
 *
 * A V8 profile in a trace comes in parts with nodes and samples. A zeroed profile is empty.
 * Threads: one thread at a time.
 */
#ifndef CN_FORMATS_EXCHANGE_READ_JS_PROFILE_H
#define CN_FORMATS_EXCHANGE_READ_JS_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes/json_reader.h"
#include "base/map.h"

enum { CN_JS_DEPTH_MAX = 2048 }; /* of nodes; deeper ones count for this one */

enum cn_js_kind {
    CN_JS_FUNCTION,
    CN_JS_ROOT,      /* above all functions; it has no name */
    CN_JS_IDLE,      /* nothing runs */
    CN_JS_COLLECTOR, /* of garbage: it interrupts the sample before */
};

struct cn_js_node {
    uint64_t id, parent_id;
    uint32_t parent;     /* index; CN_NONE at the top */
    uint32_t depth;      /* in functions; 1 at the top */
    uint32_t name, file; /* of `texts` */
    uint32_t line;       /* of the definition; 0 if unknown */
    double size;         /* hits, or bytes */
    bool has_parent_id;
    uint8_t kind; /* enum cn_js_kind */
};

/* Hits of a line of a node. */
struct cn_js_tick {
    uint32_t node, line;
    uint64_t count;
};

struct cn_js_sample {
    uint64_t time_ns;
    uint64_t id;     /* of the node */
    uint32_t node;   /* index; CN_NONE: there is none with this id */
    uint32_t line;   /* that ran; 0 if unknown */
    uint32_t thread; /* of traces of Hermes */
};

struct cn_js_profile {
    struct cn_names texts;
    struct cn_js_node *nodes;
    struct cn_js_tick *ticks;
    struct cn_js_sample *samples;
    size_t node_count, node_capacity, tick_count, tick_capacity;
    size_t sample_count, sample_capacity;
    bool has_times; /* of samples */
    uint64_t end_ns;
    size_t unknown_count, first_unknown; /* samples of nodes that are missing */

    /* While it is read. */
    struct cn_json_reader *json;
    struct cn_map node_of;   /* by id */
    struct cn_map parent_of; /* by id of a child in a list of children: index */
    uint64_t *ids;           /* of samples of this part */
    int64_t *times_us;       /* differences, or since the start of the clock */
    uint32_t *lines;
    size_t id_count, id_capacity, time_count, time_capacity, line_count, line_capacity;
    bool has_stamps; /* times_us are no differences */
    bool has_start;
    int64_t start_us, end_us, last_us;
    uint32_t at; /* the node that is read */
};

void cn_js_profile_done(struct cn_js_profile *profile);

/* Read a member of a profile, of a part of one, or of the object around it; others are skipped. */
CN_CHECK bool cn_js_profile_take(struct cn_js_profile *profile,
                                 struct cn_json_reader *json,
                                 const struct cn_json_member *member,
                                 struct cn_error *err);

/* Add a node of a trace of Hermes: the rest of an object is read. */
CN_CHECK bool cn_js_profile_take_frame(struct cn_js_profile *profile,
                                       struct cn_json_reader *json, uint64_t id,
                                       struct cn_error *err);

/* The samples of this part are complete. */
void cn_js_profile_end_part(struct cn_js_profile *profile);

/* Append a part that was read on its own, which is empty afterwards. */
void cn_js_profile_append(struct cn_js_profile *to, struct cn_js_profile *part);

/* Find parents and nodes of samples. Fails if nodes call themselves: then none are left. */
CN_CHECK bool cn_js_profile_finish(struct cn_js_profile *profile, struct cn_error *err);

#endif
