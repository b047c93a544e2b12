/* A deterministic automaton that is built while matching. A state is the set of instructions
 * that the program can be at; its transitions are computed when they are first taken. When
 * there are too many states, all of them are dropped.
 *
 * An assertion such as "\b" depends on the characters before and after it. A state contains
 * assertions whose next character is not known yet, and the kind of the character before. */

#include "base/regex.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex_program.h"

/* A transition is a state, perhaps with FINAL added, or UNKNOWN. */
enum { STATES_MAX = 128, FINAL = STATES_MAX, UNKNOWN = -1 };

/* What comes before or after a position. */
enum context { CONTEXT_UNKNOWN, CONTEXT_TEXT_EDGE, CONTEXT_WORD, CONTEXT_OTHER };

struct regex_state {
    enum context before; /* CONTEXT_UNKNOWN without assertions */
    bool is_match, is_match_at_end;
    bool is_final; /* the remaining text does not matter */
    bool has_assertions;
};

struct cn_regex {
    struct cn_regex_program program;
    char *literal; /* what each match contains, or NULL: faster to find than to match */
    size_t literal_len;
    bool is_literal; /* that is the whole expression */
    size_t words;    /* of a set of instructions */
    struct regex_state *states;
    uint64_t *sets; /* by state */
    int16_t *next;  /* by state and symbol */
    size_t count, state_capacity, set_capacity, next_capacity;
    int first;                    /* state before a text, or UNKNOWN */
    uint64_t *reached, *resolved; /* sets that are being computed */
    unsigned *stack;
};

/* The longest plain part of an expression in which only dots mean something. */
static void find_literal(struct cn_regex *regex, const char *text)
{
    const char *longest = text;
    size_t longest_len = 0, len;

    for (const char *at = text; *at; at += len + (at[len] == '.')) {
        len = strcspn(at, ".");
        if (len > longest_len) {
            longest = at;
            longest_len = len;
        }
    }
    if (longest_len == 0)
        return;
    regex->literal = cn_alloc(longest_len + 1, 1);
    memcpy(regex->literal, longest, longest_len);
    regex->literal_len = longest_len;
    regex->is_literal = text[longest_len] == '\0' && longest == text;
}

bool cn_regex_new(struct cn_regex **out, const char *text, unsigned flags,
                  struct cn_error *err)
{
    struct cn_regex *regex = cn_alloc(1, sizeof(*regex));

    if (!cn_regex_compile(&regex->program, text, flags, err)) {
        cn_regex_free(regex);
        return false;
    }
    if (flags == 0 && !strpbrk(text, "\\^$[]|()*+?{}"))
        find_literal(regex, text);
    regex->words = (regex->program.count + 63) / 64;
    regex->reached = cn_alloc(regex->words, sizeof(*regex->reached));
    regex->resolved = cn_alloc(regex->words, sizeof(*regex->resolved));
    regex->stack = cn_alloc(2 * regex->program.count + 2, sizeof(*regex->stack));
    regex->first = UNKNOWN;
    *out = regex;
    return true;
}

void cn_regex_free(struct cn_regex *regex)
{
    if (!regex)
        return;
    free(regex->program.code);
    free(regex->literal);
    free(regex->states);
    free(regex->sets);
    free(regex->next);
    free(regex->reached);
    free(regex->resolved);
    free(regex->stack);
    free(regex);
}

size_t cn_regex_size(const struct cn_regex *regex)
{
    return regex->program.count;
}

static bool has(const uint64_t *set, unsigned at)
{
    return set[at / 64] >> at % 64 & 1;
}

static bool is_assertion(enum cn_regex_op op)
{
    return op >= CN_REGEX_BEGIN && op <= CN_REGEX_NO_EDGE;
}

static bool holds(enum cn_regex_op op, enum context before, enum context after)
{
    bool was_word = before == CONTEXT_WORD, is_word = after == CONTEXT_WORD;

    return op == CN_REGEX_BEGIN        ? before == CONTEXT_TEXT_EDGE
           : op == CN_REGEX_END        ? after == CONTEXT_TEXT_EDGE
           : op == CN_REGEX_WORD_BEGIN ? !was_word && is_word
           : op == CN_REGEX_WORD_END   ? was_word && !is_word
           : op == CN_REGEX_EDGE       ? was_word != is_word
                                       : was_word == is_word;
}

/* Add instruction `at` and those it leads to without a character. An assertion about
 * characters to come is added and left open while `after` is unknown. */
static void add(struct cn_regex *regex, uint64_t *set, unsigned at, enum context before,
                enum context after)
{
    size_t depth = 0;

    regex->stack[depth++] = at;
    while (depth > 0) {
        bool continues;

        at = regex->stack[--depth];
        if (has(set, at))
            continue;
        const struct cn_regex_code *code = &regex->program.code[at];
        continues = code->op == CN_REGEX_SPLIT;
        if (code->op == CN_REGEX_BEGIN ||
            (is_assertion(code->op) && after != CONTEXT_UNKNOWN))
            continues = holds(code->op, before, after);
        set[at / 64] |= UINT64_C(1) << at % 64;
        if (continues)
            regex->stack[depth++] = at + 1;
        if (code->op == CN_REGEX_SPLIT || code->op == CN_REGEX_JUMP)
            regex->stack[depth++] = (unsigned)((int)at + code->to);
    }
}

/* Set regex->resolved to the instructions of a state after its assertions were decided. */
static void resolve(struct cn_regex *regex, const uint64_t *set, enum context before,
                    enum context after)
{
    memset(regex->resolved, 0, regex->words * sizeof(*regex->resolved));
    for (unsigned at = 0; at < regex->program.count; at++)
        if (has(set, at))
            add(regex, regex->resolved, at, before, after);
}

/* The state of the set regex->reached, a new one if needed. */
static size_t state_of(struct cn_regex *regex, enum context before)
{
    unsigned match = (unsigned)regex->program.count - 1;
    struct regex_state state = {.is_match = has(regex->reached, match)};
    bool has_sets = false;

    for (unsigned at = 0; at < regex->program.count; at++) {
        enum cn_regex_op op = regex->program.code[at].op;

        if (!has(regex->reached, at))
            continue;
        has_sets = has_sets || op == CN_REGEX_SET;
        state.has_assertions =
            state.has_assertions || (is_assertion(op) && op != CN_REGEX_BEGIN);
    }
    state.before = state.has_assertions ? before : CONTEXT_UNKNOWN;
    for (size_t i = 0; i < regex->count; i++) {
        if (regex->states[i].before == state.before &&
            memcmp(regex->sets + i * regex->words, regex->reached,
                   regex->words * sizeof(*regex->sets)) == 0)
            return i;
    }
    if (regex->count == STATES_MAX) {
        regex->count = 0;
        regex->first = UNKNOWN;
    }
    resolve(regex, regex->reached, before, CONTEXT_TEXT_EDGE);
    state.is_match_at_end = has(regex->resolved, match);
    state.is_final = state.is_match || (!has_sets && !state.has_assertions);
    CN_GROW(regex->states, regex->count, regex->state_capacity);
    CN_GROW_TO(regex->sets, (regex->count + 1) * regex->words, regex->set_capacity);
    memcpy(regex->sets + regex->count * regex->words, regex->reached,
           regex->words * sizeof(*regex->sets));
    CN_GROW_TO(regex->next, (regex->count + 1) * CN_REGEX_SYMBOLS, regex->next_capacity);
    for (size_t i = 0; i < CN_REGEX_SYMBOLS; i++)
        regex->next[regex->count * CN_REGEX_SYMBOLS + i] = UNKNOWN;
    regex->states[regex->count] = state;
    return regex->count++;
}

static size_t first_state(struct cn_regex *regex)
{
    if (regex->first == UNKNOWN) {
        memset(regex->reached, 0, regex->words * sizeof(*regex->reached));
        add(regex, regex->reached, 0, CONTEXT_TEXT_EDGE, CONTEXT_UNKNOWN);
        regex->first = (int)state_of(regex, CONTEXT_TEXT_EDGE);
    }
    return (size_t)regex->first;
}

/* The transition from a state. */
static int step(struct cn_regex *regex, size_t from, unsigned symbol)
{
    const struct cn_regex_program *program = &regex->program;
    const uint64_t *set = regex->sets + from * regex->words;
    enum context context = cn_regex_is_word(symbol) ? CONTEXT_WORD : CONTEXT_OTHER;
    size_t count = regex->count, to;

    if (regex->states[from].has_assertions) {
        resolve(regex, set, regex->states[from].before, context);
        set = regex->resolved;
    }
    memset(regex->reached, 0, regex->words * sizeof(*regex->reached));
    if (has(set, (unsigned)program->count - 1)) {
        add(regex, regex->reached, (unsigned)program->count - 1, context, context);
    } else {
        for (unsigned at = 0; at < program->count; at++) {
            if (has(set, at) && program->code[at].op == CN_REGEX_SET &&
                has(program->code[at].set, symbol))
                add(regex, regex->reached, at + 1, context, CONTEXT_UNKNOWN);
        }
        /* A match may begin anywhere. */
        add(regex, regex->reached, 0, context, CONTEXT_UNKNOWN);
    }
    to = state_of(regex, context);
    int next = (int)to + (regex->states[to].is_final ? FINAL : 0);
    /* If all states were dropped, `from` is another one now. */
    if (regex->count >= count)
        regex->next[from * CN_REGEX_SYMBOLS + symbol] = (int16_t)next;
    return next;
}

bool cn_regex_matches(struct cn_regex *regex, const char *text, size_t len)
{
    size_t state, symbol_len;

    if (regex->literal) {
        bool has_literal = memmem(text, len, regex->literal, regex->literal_len) != NULL;

        if (regex->is_literal || !has_literal)
            return has_literal;
    }
    state = first_state(regex);
    if (regex->states[state].is_final)
        len = 0;
    for (size_t i = 0; i < len; i += symbol_len) {
        unsigned symbol = (unsigned char)text[i];
        int next;

        symbol_len = 1;
        if (symbol >= 0x80)
            symbol = cn_regex_symbol(&regex->program, text + i, len - i, &symbol_len);
        next = regex->next[state * CN_REGEX_SYMBOLS + symbol];
        if (next == UNKNOWN)
            next = step(regex, state, symbol);
        state = (size_t)next % FINAL;
        if (next >= FINAL)
            break;
    }
    return regex->states[state].is_match_at_end;
}
