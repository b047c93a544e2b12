#include "base/regex.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What a part of an expression is when all repetitions are written out. */
struct part {
    uint64_t size, repeats, anchors;
    bool is_empty; /* it matches nothing at all, too */
};

struct group {
    struct part all; /* is_empty: one of the branches before this one is */
    uint64_t
        max_anchors; /* of the branches before this one, which are not gone through with it */
    bool is_before_empty; /* what comes before the last part of this branch */
};

struct measure {
    const char *at;
    struct group groups[CN_REGEX_DEPTH_MAX + 1]; /* those around us, outermost first */
    size_t depth;
    struct part last; /* of the branch at hand: what a repetition would repeat */
    bool has_last;
};

static void end_part(struct measure *m)
{
    if (m->has_last && !m->last.is_empty)
        m->groups[m->depth].is_before_empty = false;
    m->has_last = false;
}

static void end_branch(struct measure *m)
{
    struct group *group = &m->groups[m->depth];

    end_part(m);
    group->all.is_empty = group->all.is_empty || group->is_before_empty;
    group->is_before_empty = true;
    if (group->all.anchors > group->max_anchors)
        group->max_anchors = group->all.anchors;
    group->all.anchors = 0;
}

static void weigh(struct part *to, const struct part *more)
{
    to->size += more->size;
    to->repeats += more->repeats;
    to->anchors += more->anchors;
}

static void add_part(struct measure *m, struct part part)
{
    end_part(m);
    weigh(&m->groups[m->depth].all, &part);
    m->last = part;
    m->has_last = true;
}

/* "[]a-z[:digit:]]", up to its last bracket. */
static void skip_set(struct measure *m)
{
    m->at += m->at[1] == '^' ? 2 : 1;
    if (*m->at == ']')
        m->at++;
    while (*m->at && *m->at != ']') {
        char end[] = {m->at[1], ']', '\0'};
        const char *found = NULL;

        if (*m->at == '[' && end[0] && strchr(":=.", end[0]))
            found = strstr(m->at + 2, end);
        m->at = found ? found + 2 : m->at + 1;
    }
    if (*m->at)
        m->at++;
}

/* How often a part occurs, written out. */
struct repeat {
    uint64_t copies;
    bool is_optional; /* at most once: "?" */
    bool allows_none;
};

static bool take_number(const char **at, uint64_t *out)
{
    char *end;

    if (**at < '0' || **at > '9')
        return false;
    *out = strtoull(*at, &end, 10);
    *at = end;
    return true;
}

/* "{2}", "{2,}", "{,5}" or "{2,5}". */
static bool take_interval(struct measure *m, struct repeat *out)
{
    const char *at = m->at + 1;
    uint64_t first = 0, last;
    bool has_first = take_number(&at, &first);

    last = first;
    if (*at == ',') {
        at++;
        if (!take_number(&at, &last))
            last = first < UINT64_MAX ? first + 1 : first;
    } else if (!has_first) {
        return false;
    }
    if (*at != '}')
        return false;
    m->at = at + 1;
    *out =
        (struct repeat){.copies = last > first ? last : first, .allows_none = first == 0};
    out->copies += out->copies == 0;
    return true;
}

static bool take_repeat(struct measure *m, struct repeat *out)
{
    char c = *m->at;

    if (c == '{')
        return take_interval(m, out);
    if (c != '*' && c != '+' && c != '?')
        return false;
    m->at++;
    /* The library makes one copy more of what stands before a plus. */
    *out = (struct repeat){
        .copies = c == '+' ? 2 : 1, .is_optional = c == '?', .allows_none = c != '+'};
    return true;
}

static bool repeat_last(struct measure *m, struct repeat repeat, struct cn_error *err)
{
    struct part more = m->last;

    if (!m->has_last) {
        add_part(m, (struct part){.size = 1});
        return true;
    }
    if (more.is_empty && !repeat.is_optional)
        return cn_fail(err, CN_ERR_USAGE, "repeats what may be empty");
    if (repeat.copies > CN_REGEX_SIZE_MAX)
        return cn_fail(err, CN_ERR_USAGE, "repeats more than %d times",
                       CN_REGEX_SIZE_MAX);
    more.size *= repeat.copies - 1;
    more.anchors *= repeat.copies - 1;
    more.repeats = more.repeats * (repeat.copies - 1) + repeat.copies;
    weigh(&m->groups[m->depth].all, &more);
    weigh(&m->last, &more);
    m->last.is_empty = m->last.is_empty || repeat.allows_none;
    return true;
}

static bool open_group(struct measure *m, struct cn_error *err)
{
    end_part(m);
    if (m->depth == CN_REGEX_DEPTH_MAX)
        return cn_fail(err, CN_ERR_USAGE, "more than %d parentheses nested",
                       CN_REGEX_DEPTH_MAX);
    m->groups[++m->depth] = (struct group){.is_before_empty = true};
    return true;
}

static void close_group(struct measure *m)
{
    struct group *group = &m->groups[m->depth];

    end_branch(m);
    group->all.anchors = group->max_anchors;
    m->depth--;
    add_part(m, group->all);
}

/* A backslash and what follows it. */
static bool take_escaped(struct measure *m, struct cn_error *err)
{
    char c = m->at[1];

    if (c >= '1' && c <= '9')
        return cn_fail(err, CN_ERR_USAGE, "back-references such as \\%c are not possible",
                       c);
    m->at += c ? 2 : 1;
    if (c && strchr("bB<>`'", c))
        add_part(m, (struct part){.anchors = 1, .is_empty = true});
    else
        add_part(m, (struct part){.size = 1});
    return true;
}

static bool take_part(struct measure *m, struct cn_error *err)
{
    char c = *m->at;

    if (c == '\\')
        return take_escaped(m, err);
    if (c == '[') {
        skip_set(m);
        add_part(m, (struct part){.size = 1});
        return true;
    }
    m->at++;
    if (c == '(')
        return open_group(m, err);
    if (c == ')' && m->depth > 0)
        close_group(m);
    else if (c == '|')
        end_branch(m);
    else if (c == '^' || c == '$')
        add_part(m, (struct part){.anchors = 1, .is_empty = true});
    else
        add_part(m, (struct part){.size = 1});
    return true;
}

static bool check_limits(const struct part *part, uint64_t repeats_max,
                         struct cn_error *err)
{
    if (part->repeats > repeats_max)
        return cn_fail(err, CN_ERR_USAGE, "more than %" PRIu64 " repetitions",
                       repeats_max);
    if (part->size > CN_REGEX_SIZE_MAX)
        return cn_fail(err, CN_ERR_USAGE, "more than %d characters to match",
                       CN_REGEX_SIZE_MAX);
    if (part->anchors > CN_REGEX_ANCHORS_MAX)
        return cn_fail(err, CN_ERR_USAGE, "more than %d anchors such as ^",
                       CN_REGEX_ANCHORS_MAX);
    return true;
}

static bool check(const char *pattern, uint64_t repeats_max, uint64_t *repeats,
                  struct cn_error *err)
{
    struct measure m = {.at = pattern, .groups[0].is_before_empty = true};

    while (*m.at) {
        struct repeat repeat;

        if (!(take_repeat(&m, &repeat) ? repeat_last(&m, repeat, err)
                                       : take_part(&m, err)) ||
            !check_limits(&m.groups[m.depth].all, repeats_max, err))
            return false;
    }
    *repeats = m.groups[0].all.repeats;
    return true;
}

bool cn_regex_compile(regex_t *out, const char *pattern, uint64_t *repeats_left,
                      struct cn_error *err)
{
    uint64_t most = CN_REGEX_REPEATS_MAX, repeats;
    char reason[128];
    int code;

    if (repeats_left && *repeats_left < most)
        most = *repeats_left;
    if (!check(pattern, most, &repeats, err))
        return false;
    code = regcomp(out, pattern, REG_EXTENDED | REG_NOSUB);
    if (code != 0) {
        (void)regerror(code, out, reason, sizeof(reason));
        return cn_fail(err, CN_ERR_USAGE, "%s", reason);
    }
    if (repeats_left)
        *repeats_left -= repeats;
    return true;
}
