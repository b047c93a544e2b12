/* The program of a pattern can be at several instructions at once. Each set of instructions
 * that occurs becomes a state with a table of where each byte leads, worked out when it is
 * needed first; when there are too many states, all are forgotten. */

#include "store/search/query_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "store/search/query_program.h"

enum { STATES_MAX = 128, WORDS = CN_QUERY_PATTERN_SIZE_MAX / 64, UNKNOWN = -1 };

struct state {
    uint64_t
        at[WORDS]; /* instructions that wait for a byte, for the end, or have matched */
    bool is_match, is_match_at_end;
    bool is_over; /* it has matched, or nothing that follows can make it match */
    int16_t next[256];
};

struct cn_query_pattern {
    struct cn_query_program program;
    struct state *states;
    size_t count;
    int first; /* state before the first byte of a text that has some; or UNKNOWN */
    unsigned *stack;
};

bool cn_query_pattern_new(struct cn_query_pattern **out, const char *text,
                          struct cn_error *err)
{
    struct cn_query_program program;
    struct cn_query_pattern *pattern;

    if (!cn_query_pattern_compile(&program, text, err))
        return false;
    pattern = cn_alloc(1, sizeof(*pattern));
    pattern->program = program;
    pattern->first = UNKNOWN;
    pattern->states = cn_alloc(STATES_MAX, sizeof(*pattern->states));
    pattern->stack = cn_alloc(2 * CN_QUERY_PATTERN_SIZE_MAX + 2, sizeof(*pattern->stack));
    *out = pattern;
    return true;
}

void cn_query_pattern_free(struct cn_query_pattern *pattern)
{
    if (!pattern)
        return;
    free(pattern->program.code);
    free(pattern->states);
    free(pattern->stack);
    free(pattern);
}

static bool has(const uint64_t *set, unsigned at)
{
    return set[at / 64] >> at % 64 & 1;
}

/* Add instruction `at` and what it leads to without a byte. */
static void add(struct cn_query_pattern *pattern, uint64_t *set, unsigned at,
                bool is_begin, bool is_end)
{
    size_t depth = 0;

    pattern->stack[depth++] = at;
    while (depth > 0) {
        const struct cn_query_pattern_code *code;

        at = pattern->stack[--depth];
        if (has(set, at))
            continue;
        set[at / 64] |= UINT64_C(1) << at % 64;
        code = &pattern->program.code[at];
        if (code->op == CN_QUERY_PATTERN_SPLIT ||
            (code->op == CN_QUERY_PATTERN_BEGIN && is_begin) ||
            (code->op == CN_QUERY_PATTERN_END && is_end))
            pattern->stack[depth++] = at + 1;
        if (code->op == CN_QUERY_PATTERN_SPLIT || code->op == CN_QUERY_PATTERN_JUMP)
            pattern->stack[depth++] = (unsigned)((int)at + code->to);
    }
}

static bool reaches_match_at_end(struct cn_query_pattern *pattern, const uint64_t *set)
{
    uint64_t reached[WORDS] = {0};

    for (unsigned at = 0; at < pattern->program.count; at++) {
        if (has(set, at) && pattern->program.code[at].op == CN_QUERY_PATTERN_END)
            add(pattern, reached, at, false, true);
    }
    return has(reached, (unsigned)pattern->program.count - 1);
}

/* Whether an instruction of the set waits for a byte or for the end. */
static bool waits(const struct cn_query_pattern *pattern, const uint64_t *set)
{
    for (unsigned at = 0; at < pattern->program.count; at++) {
        enum cn_query_pattern_op op = pattern->program.code[at].op;

        if (has(set, at) && (op == CN_QUERY_PATTERN_SET || op == CN_QUERY_PATTERN_END))
            return true;
    }
    return false;
}

/* The state of a set, new or not; all others are forgotten when there is no room. */
static size_t state_of(struct cn_query_pattern *pattern, const uint64_t *set)
{
    struct state *state;

    for (size_t i = 0; i < pattern->count; i++) {
        if (memcmp(pattern->states[i].at, set, sizeof(state->at)) == 0)
            return i;
    }
    if (pattern->count == STATES_MAX) {
        pattern->count = 0;
        pattern->first = UNKNOWN;
    }
    state = &pattern->states[pattern->count];
    memcpy(state->at, set, sizeof(state->at));
    state->is_match = has(set, (unsigned)pattern->program.count - 1);
    state->is_match_at_end = state->is_match || reaches_match_at_end(pattern, set);
    state->is_over = state->is_match || !waits(pattern, set);
    for (unsigned byte = 0; byte < 256; byte++)
        state->next[byte] = UNKNOWN;
    return pattern->count++;
}

static size_t step(struct cn_query_pattern *pattern, size_t from, uint8_t byte)
{
    uint64_t set[WORDS] = {0};
    size_t count = pattern->count, to;

    for (unsigned at = 0; at < pattern->program.count; at++) {
        const struct cn_query_pattern_code *code = &pattern->program.code[at];

        if (has(pattern->states[from].at, at) && code->op == CN_QUERY_PATTERN_SET &&
            has(code->set.bits, byte))
            add(pattern, set, at + 1, false, false);
    }
    add(pattern, set, 0, false, false); /* a match may begin anywhere */
    to = state_of(pattern, set);
    /* When all states were forgotten, `from` is another one. */
    if (pattern->count >= count)
        pattern->states[from].next[byte] = (int16_t)to;
    return to;
}

static size_t first_state(struct cn_query_pattern *pattern, bool is_end)
{
    uint64_t first[WORDS] = {0};
    size_t state;

    if (!is_end && pattern->first != UNKNOWN)
        return (size_t)pattern->first;
    add(pattern, first, 0, true, is_end);
    state = state_of(pattern, first);
    if (!is_end)
        pattern->first = (int)state;
    return state;
}

bool cn_query_pattern_matches(struct cn_query_pattern *pattern, struct cn_bytes text)
{
    size_t state = first_state(pattern, text.len == 0);

    for (size_t i = 0; i < text.len && !pattern->states[state].is_over; i++) {
        int next = pattern->states[state].next[text.ptr[i]];

        state = next != UNKNOWN ? (size_t)next : step(pattern, state, text.ptr[i]);
    }
    return pattern->states[state].is_match_at_end;
}
