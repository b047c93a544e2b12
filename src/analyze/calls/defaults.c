#include "analyze/calls/defaults.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "model/calls/recording.h"

enum option {
    ONLY = CN_FILTER_ONLY,
    NOT = CN_FILTER_NOT,
    CALLER = CN_FILTER_CALLER,
    HIDE = CN_FILTER_HIDE,
    TRIGGER = CN_FILTER_TRIGGER,
    LOCATION,
    TIME,
    SIZE,
    DEPTH,
    MATCH,
    TRACE,
    LAST_WITH_VALUE = TRACE,
    NO_LIBCALLS,
    NO_EVENTS,
    NO_SCHEDULE,
    NO_PREEMPTION,
    OPTION_COUNT,
};

static const struct {
    const char *name;
    char letter;
} options[OPTION_COUNT] = {
    [ONLY] = {"filter", 'F'},
    [NOT] = {"notrace", 'N'},
    [CALLER] = {"caller-filter", 'C'},
    [HIDE] = {"hide", 'H'},
    [TRIGGER] = {"trigger", 'T'},
    [LOCATION] = {"loc-filter", 'L'},
    [TIME] = {"time-filter", 't'},
    [SIZE] = {"size-filter", 'Z'},
    [DEPTH] = {"depth", 'D'},
    [MATCH] = {"match", 0},
    [TRACE] = {"trace", 0},
    [NO_LIBCALLS] = {"no-libcall", 0},
    [NO_EVENTS] = {"no-event", 0},
    [NO_SCHEDULE] = {"no-sched", 0},
    [NO_PREEMPTION] = {"no-sched-preempt", 0},
};

/* True if a word names the option; its value if that is in the same word, else NULL. */
static bool is_option(char *word, const char *name, char letter, char **value)
{
    size_t len = strcspn(word, "=");

    if (strncmp(word, "--", 2) == 0 && len - 2 == strlen(name) &&
        strncmp(word + 2, name, len - 2) == 0) {
        *value = word[len] ? word + len + 1 : NULL;
        return true;
    }
    *value = word[0] == '-' && word[1] && word[2] ? word + 2 : NULL;
    return letter && word[0] == '-' && word[1] == letter;
}

static enum option find_option(char *word, char **value)
{
    int i = 0;

    while (i < OPTION_COUNT &&
           !is_option(word, options[i].name, options[i].letter, value))
        i++;
    return (enum option)i;
}

static bool set_number(const char *value, uint64_t max, uint64_t *out,
                       struct cn_error *err)
{
    char *end;
    unsigned long long number = strtoull(value, &end, 0);

    if (end == value || *end || value[0] == '-' || number > max)
        return cn_fail(err, CN_ERR_USAGE, "'%s' is not a number", value);
    *out = number;
    return true;
}

static bool apply(struct cn_call_filter *filter, enum option option, const char *value,
                  enum cn_match *match, struct cn_error *err)
{
    uint64_t depth = filter->depth;

    switch (option) {
    case ONLY:
    case NOT:
    case CALLER:
    case HIDE:
    case TRIGGER:
        return cn_call_filter_add(filter, (enum cn_filter_kind)option, value, *match,
                                  err);
    case LOCATION:
        return cn_call_filter_add_file(filter, value, *match, err);
    case TIME:
        return cn_duration_parse(value, CN_BARE_NS, &filter->time_ns, err);
    case SIZE:
        return set_number(value, UINT64_MAX, &filter->size_min, err);
    case DEPTH:
        if (!set_number(value, UINT32_MAX, &depth, err))
            return false;
        filter->depth = (uint32_t)depth;
        return true;
    case MATCH:
        *match = strcmp(value, "glob") == 0 ? CN_MATCH_GLOB : CN_MATCH_REGEX;
        return true;
    case TRACE:
        filter->is_off = strcmp(value, "off") == 0;
        return true;
    case NO_LIBCALLS:
        filter->without_libcalls = true;
        return true;
    case NO_EVENTS:
        filter->without_events = true;
        return true;
    case NO_SCHEDULE:
        filter->without_schedule = true;
        return true;
    case NO_PREEMPTION:
        filter->without_preemption = true;
        return true;
    case OPTION_COUNT:
        break;
    }
    return true;
}

/* --match applies to all patterns: take it first. */
static bool apply_all(struct cn_call_filter *filter, char *text, bool is_match,
                      enum cn_match *match, struct cn_error *err)
{
    char *save = NULL;

    for (char *word = strtok_r(text, " \t\n", &save); word;
         word = strtok_r(NULL, " \t\n", &save)) {
        char *value;
        enum option option = find_option(word, &value);

        if (option <= LAST_WITH_VALUE && !value)
            value = strtok_r(NULL, " \t\n", &save);
        if (option <= LAST_WITH_VALUE && !value)
            return cn_fail(err, CN_ERR_USAGE, "--%s: no value", options[option].name);
        if ((option == MATCH) == is_match && option != OPTION_COUNT &&
            !apply(filter, option, value, match, err))
            return cn_fail_in(err, "--%s", options[option].name);
    }
    return true;
}

bool cn_call_filter_add_defaults(struct cn_call_filter *filter, struct cn_error *err)
{
    enum cn_match match = CN_MATCH_REGEX;
    bool ok = true;

    for (int is_match = 1; filter->rec->options && is_match >= 0 && ok; is_match--) {
        char *text = cn_strdup(filter->rec->options);

        ok = apply_all(filter, text, is_match, &match, err);
        free(text);
    }
    return ok || cn_fail_in(err, "default.opts");
}

const char *cn_call_default_find(const struct cn_recording *rec, const char *name,
                                 char letter, bool is_flag, struct cn_arena *memory)
{
    char *text = rec->options ? cn_arena_strdup(memory, rec->options) : NULL;
    const char *found = NULL;
    char *save = NULL, *value;

    for (char *word = text ? strtok_r(text, " \t\n", &save) : NULL; word;
         word = strtok_r(NULL, " \t\n", &save)) {
        if (is_option(word, name, letter, &value))
            found = is_flag ? "" : value ? value : strtok_r(NULL, " \t\n", &save);
    }
    return found;
}

bool cn_all_calls_init(struct cn_all_calls *all, const struct cn_recording *rec,
                       struct cn_error *err)
{
    all->tasks = cn_alloc(rec->task_count, sizeof(*all->tasks));
    for (uint32_t i = 0; i < rec->task_count; i++)
        all->tasks[i] = i;
    all->query = (struct cn_call_query){
        .rec = rec,
        .filter = &all->filter,
        .range = cn_time_always,
        .tasks = all->tasks,
        .task_count = rec->task_count,
    };
    cn_call_filter_init(&all->filter, rec);
    bool ok = cn_call_filter_add_defaults(&all->filter, err);
    cn_call_filter_ready(&all->filter);
    return ok;
}

void cn_all_calls_done(struct cn_all_calls *all)
{
    cn_call_filter_done(&all->filter);
    free(all->tasks);
}
