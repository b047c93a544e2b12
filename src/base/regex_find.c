/* Where an expression matches: the program is run for all begins at once. Each instruction that is
 * reached has the earliest begin of a match that leads to it, so that the time is linear. */

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/regex_program.h"

#define NO_BEGIN SIZE_MAX

enum regex_neighbour { CONTEXT_TEXT_EDGE, CONTEXT_WORD, CONTEXT_OTHER };

struct cn_regex_finder {
    struct cn_regex_program program;
    size_t *now, *next; /* by instruction: the earliest begin; NO_BEGIN: not reached */
    unsigned *stack;
};

bool cn_regex_finder_new(struct cn_regex_finder **out, const char *text, unsigned flags,
                         struct cn_error *err)
{
    struct cn_regex_finder *finder = cn_alloc(1, sizeof(*finder));

    if (!cn_regex_compile(&finder->program, text, flags, err)) {
        cn_regex_finder_free(finder);
        return false;
    }
    finder->now = cn_alloc(finder->program.count, sizeof(*finder->now));
    finder->next = cn_alloc(finder->program.count, sizeof(*finder->next));
    finder->stack = cn_alloc(2 * finder->program.count + 2, sizeof(*finder->stack));
    *out = finder;
    return true;
}

void cn_regex_finder_free(struct cn_regex_finder *finder)
{
    if (!finder)
        return;
    free(finder->program.code);
    free(finder->now);
    free(finder->next);
    free(finder->stack);
    free(finder);
}

static bool holds(enum cn_regex_op op, enum regex_neighbour before,
                  enum regex_neighbour after)
{
    bool was_word = before == CONTEXT_WORD, is_word = after == CONTEXT_WORD;

    return op == CN_REGEX_BEGIN        ? before == CONTEXT_TEXT_EDGE
           : op == CN_REGEX_END        ? after == CONTEXT_TEXT_EDGE
           : op == CN_REGEX_WORD_BEGIN ? !was_word && is_word
           : op == CN_REGEX_WORD_END   ? was_word && !is_word
           : op == CN_REGEX_EDGE       ? was_word != is_word
                                       : was_word == is_word;
}

/* Follow all instructions without a character from those that are reached. Those with earlier begins
 * are followed first, so that each is followed once. */
static void follow(struct cn_regex_finder *finder, unsigned from,
                   enum regex_neighbour before, enum regex_neighbour after)
{
    const struct cn_regex_code *code = finder->program.code;
    size_t begin = finder->now[from], depth = 0;

    finder->stack[depth++] = from;
    while (depth > 0) {
        unsigned at = finder->stack[--depth], to[2], count = 0;
        enum cn_regex_op op = code[at].op;

        if (op == CN_REGEX_SPLIT || op == CN_REGEX_JUMP)
            to[count++] = (unsigned)((int)at + code[at].to);
        if (op == CN_REGEX_SPLIT ||
            (op >= CN_REGEX_BEGIN && op <= CN_REGEX_NO_EDGE && holds(op, before, after)))
            to[count++] = at + 1;
        for (unsigned i = 0; i < count; i++) {
            if (finder->now[to[i]] <= begin)
                continue;
            finder->now[to[i]] = begin;
            finder->stack[depth++] = to[i];
        }
    }
}

static void clear(size_t *begins, size_t count)
{
    for (size_t i = 0; i < count; i++)
        begins[i] = NO_BEGIN;
}

bool cn_regex_find(struct cn_regex_finder *finder, const char *text, size_t len,
                   size_t from, size_t *begin, size_t *end)
{
    const struct cn_regex_program *program = &finder->program;
    size_t count = program->count, symbol_len = 0, found_begin = NO_BEGIN, found_end = 0;
    enum regex_neighbour before = CONTEXT_TEXT_EDGE;

    clear(finder->now, count);
    for (size_t at = 0; at <= len; at += symbol_len) {
        unsigned symbol = 0;
        enum regex_neighbour after = CONTEXT_TEXT_EDGE;

        symbol_len = 1;
        if (at < len) {
            symbol = cn_regex_symbol(program, text + at, len - at, &symbol_len);
            after = cn_regex_is_word(symbol) ? CONTEXT_WORD : CONTEXT_OTHER;
        }
        /* The earliest begin wins: later ones do not matter once there is a match. */
        if (at >= from && found_begin == NO_BEGIN && finder->now[0] == NO_BEGIN)
            finder->now[0] = at;
        for (unsigned i = 0; i < count; i++)
            if (finder->now[i] != NO_BEGIN)
                follow(finder, i, before, after);
        if (finder->now[count - 1] != NO_BEGIN && finder->now[count - 1] <= found_begin) {
            found_begin = finder->now[count - 1];
            found_end = at;
        }
        clear(finder->next, count);
        bool goes_on = found_begin == NO_BEGIN;
        for (unsigned i = 0; at < len && i < count; i++) {
            if (finder->now[i] == NO_BEGIN || finder->now[i] > found_begin ||
                program->code[i].op != CN_REGEX_SET ||
                !(program->code[i].set[symbol / 64] >> symbol % 64 & 1))
                continue;
            if (finder->now[i] < finder->next[i + 1])
                finder->next[i + 1] = finder->now[i];
            goes_on = true;
        }
        size_t *done = finder->now;
        finder->now = finder->next;
        finder->next = done;
        before = after;
        if (!goes_on)
            break;
    }
    if (found_begin == NO_BEGIN)
        return false;
    *begin = found_begin;
    *end = found_end;
    return true;
}
