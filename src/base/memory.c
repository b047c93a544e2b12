#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>

static _Thread_local struct cn_memory_scope *innermost;

void cn_memory_scope_begin(struct cn_memory_scope *scope)
{
    scope->outer = innermost;
    scope->held = NULL;
    scope->has_failed = false;
    scope->has_broken = false;
    innermost = scope;
}

void cn_memory_scope_end(struct cn_memory_scope *scope)
{
    struct cn_held **end = &scope->held;

    innermost = scope->outer;
    if (!innermost || !scope->held)
        return;
    while (*end)
        end = &(*end)->next;
    *end = innermost->held;
    innermost->held = scope->held;
}

bool cn_memory_is_scoped(void)
{
    return innermost != NULL;
}

/* Releasing may need memory itself: what cannot be released then is lost. */
static void release(struct cn_held *held)
{
    struct cn_memory_scope scope;

    cn_memory_scope_begin(&scope);
    if (setjmp(scope.start) == 0)
        held->release(held);
    cn_memory_scope_end(&scope);
    innermost->has_broken = innermost->has_broken || scope.has_broken;
}

void cn_memory_fail(void)
{
    if (!innermost) {
        (void)fputs("cairn: out of memory\n", stderr);
        exit(EXIT_FAILURE);
    }
    innermost->has_failed = true;
    while (innermost->held) {
        struct cn_held *held = innermost->held;

        innermost->held = held->next;
        release(held);
    }
    longjmp(innermost->start, 1);
    abort(); /* that of the engine returns */
}

void cn_memory_hold(struct cn_held *held, void (*on_failure)(struct cn_held *held))
{
    if (!innermost)
        return;
    held->release = on_failure;
    held->next = innermost->held;
    innermost->held = held;
}

void cn_memory_drop(struct cn_held *held)
{
    for (struct cn_memory_scope *scope = innermost; scope && held->release;
         scope = scope->outer)
        for (struct cn_held **at = &scope->held; *at; at = &(*at)->next)
            if (*at == held) {
                *at = held->next;
                held->release = NULL;
                return;
            }
}

void cn_memory_note_broken(void)
{
    if (innermost)
        innermost->has_broken = true;
}
