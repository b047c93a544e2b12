/* Filters and triggers of uftrace: which calls a view shows. They are resolved once for
 * every function of a recording; each call is a table lookup.
 *
 *     cn_call_filter_init(&filter, rec);
 *     cn_call_filter_add(&filter, CN_FILTER_ONLY, "^net_", CN_MATCH_REGEX, err)  ...
 *     cn_call_filter_ready(&filter);
 *
 * The state of a task (in which chosen functions it is, how deep) is a struct
 * cn_filter_scope, part of its stack.
 * Threads: immutable after cn_call_filter_ready().
 */
#ifndef CN_ANALYZE_CALLS_FILTER_H
#define CN_ANALYZE_CALLS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/name_filter.h"
#include "model/calls/trigger.h"

struct cn_call;
struct cn_call_batch;
struct cn_recording;

enum cn_filter_kind {
    CN_FILTER_ONLY,    /* -F: these functions and those they call */
    CN_FILTER_NOT,     /* -N: neither these functions nor those they call */
    CN_FILTER_CALLER,  /* -C: calls that lead to these functions */
    CN_FILTER_HIDE,    /* -H: not these functions, but those they call */
    CN_FILTER_TRIGGER, /* -T: the actions of the pattern */
};

/* Bits of cn_call_rule.flags. */
enum {
    CN_RULE_ONLY = CN_ACT_ONLY,
    CN_RULE_NOT = CN_ACT_NOT,
    CN_RULE_CALLER = CN_ACT_CALLER,
    CN_RULE_HIDE = CN_ACT_HIDE,
    CN_RULE_DEPTH = CN_ACT_DEPTH,
    CN_RULE_TIME = CN_ACT_TIME,
    CN_RULE_TRACE = CN_ACT_TRACE,
    CN_RULE_ON = CN_ACT_ON,
    CN_RULE_OFF = CN_ACT_OFF,
    CN_RULE_BACKTRACE = CN_ACT_BACKTRACE,
    CN_RULE_COLOR = CN_ACT_COLOR,
    CN_RULE_SIZE = CN_ACT_SIZE,
    CN_RULES_OF_VIEWS = (CN_ACT_SIZE << 1) - 1,
    CN_RULE_FILE = 1 << 15, /* in a chosen source file */
};

/* What to do when a function is entered. */
struct cn_call_rule {
    uint16_t flags;
    uint16_t depth;
    uint32_t size_min;
    uint64_t time_ns;
    const char *color; /* "red", as typed */
    struct cn_call_condition condition;
    uint32_t next; /* of the same function; 0 when none */
};

struct cn_call_filter {
    const struct cn_recording *rec;
    uint32_t *rule_of;          /* by function; 0: none */
    struct cn_call_rule *rules; /* from 1 on */
    size_t rule_count, rule_capacity;
    size_t match_count; /* functions that the last pattern matches */
    const char *idle; /* its action that only recording has, which is skipped; or NULL */
    struct cn_arena arena;

    /* Set by the caller before cn_call_filter_ready(). */
    uint32_t depth;    /* calls nested deeper are not shown */
    uint64_t time_ns;  /* calls that are shorter are not shown */
    uint64_t size_min; /* functions of fewer bytes are not shown */
    bool is_off;       /* nothing is shown before trace_on */
    bool without_libcalls, without_events, without_schedule, without_preemption;
    bool is_kernel_only;   /* only functions of the kernel */
    bool has_outer_events; /* also events outside of functions, except of the kernel */
    bool has_outer_kernel; /* also functions and events of the kernel outside of them */

    /* Which kinds of rules there are. */
    bool has_only, has_caller, has_files, has_time, has_switches, has_sizes;
    bool has_rules;
    bool needs_future;       /* whether a call is shown depends on later records */
    bool is_plain;           /* everything is shown */
    bool skips_outer_kernel; /* the recording has functions of the kernel */
    bool *is_exec;           /* by function: starts another program */
};

void cn_call_filter_init(struct cn_call_filter *filter, const struct cn_recording *rec);
void cn_call_filter_done(struct cn_call_filter *filter);

/* "FUNC", "FUNC@module", "FUNC@depth=2,backtrace", "FUNC@if:arg1>3". A pattern that
 * matches no function changes nothing. */
CN_CHECK bool cn_call_filter_add(struct cn_call_filter *filter, enum cn_filter_kind kind,
                                 const char *spec, enum cn_match match,
                                 struct cn_error *err);

/* -L: "file.c", "src/.*" or "file.c@hide": functions by their source file. */
CN_CHECK bool cn_call_filter_add_file(struct cn_call_filter *filter, const char *spec,
                                      enum cn_match match, struct cn_error *err);

void cn_call_filter_ready(struct cn_call_filter *filter);

/* The state of the filter in a task. */
struct cn_filter_scope {
    uint16_t only_count, not_count; /* open calls of such functions */
    uint32_t depth_left;
    uint32_t size_min; /* functions of fewer bytes are not shown */
};

void cn_call_filter_begin(const struct cn_call_filter *filter,
                          struct cn_filter_scope *scope);

/* The rules of a call whose condition is true, combined: the flags of all, of -F and -N the
 * last one; depth, time, size and colour of the last one that has them. */
void cn_call_filter_rule(const struct cn_call_filter *filter, const struct cn_call *call,
                         const struct cn_call_batch *batch, struct cn_call_rule *out);

/* Enter a function: changes the scope, and returns true if the call is shown whenever
 * `is_on`, the switch of trace_on and trace_off, is set. */
bool cn_call_filter_enter(const struct cn_call_filter *filter, const struct cn_call *call,
                          const struct cn_call_rule *rule, struct cn_filter_scope *scope,
                          bool *is_on);

/* True if events are shown in this scope. */
bool cn_call_filter_shows(const struct cn_call_filter *filter,
                          const struct cn_filter_scope *scope, bool is_on);

#endif
