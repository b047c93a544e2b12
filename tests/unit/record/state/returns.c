/* The steps of recorded calls (src/record/state/returns.h), in every order that two threads, their
 * signal handlers and a coroutine that moves between them can take. In every state, each
 * return address in memory or in a register that is the address of a stub must have the true
 * return address as its value: that is all an unwinder reads. Each step below is one access
 * of memory by the hooks.
 *
 * The same search with one change of the order, or without one of the rules, must find a state
 * in which an unwinder goes wrong: the search can fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
    THREADS = 2,
    STACKS = 3, /* of the threads, and of a coroutine */
    DEPTH = 2,  /* calls on a stack */
    FRAMES = 5, /* of a thread; frame 0 is the sentinel */
    STUBS = 2 + 2 * (FRAMES - 1) + 1,
    STUB = 64, /* return addresses from here on are stubs */
    NO_OWNER = 255,
    STATES_MAX = 1 << 22,
};

/* What the hooks of a thread are doing; the steps of an entry, then of a return. */
enum step {
    IDLE,
    ENTER_STUB, /* find the stub of the next frame */
    ENTER_TOP,  /* push the frame */
    ENTER_RET,  /* fill it with the return address */
    ENTER_VALUE,
    ENTER_REPLACE, /* replace the return address in memory */
    LEAVE_FIND,    /* the return address is in a register */
    LEAVE_RET,
    LEAVE_POP,
    OTHER_VALUE, /* its frame is not of this thread */
    OTHER_TOP,
    OTHER_FIND,
    OTHER_RET,
    OTHER_GONE,
};

/* One thing that a thread does: the program, or a handler that interrupted it. */
struct activity {
    uint8_t step, base;  /* enum step; calls on the stack when it began */
    uint8_t stub, frame; /* registers */
    uint8_t reg;         /* x30, of a call that returns; 0: none */
    uint8_t truth;       /* its true return address */
    uint8_t seen;
};

struct thread {
    uint8_t top, stack, budget, signals;
    uint8_t depth; /* activities in use */
    struct activity activities[2];
    struct {
        uint8_t stub, ret, stack, at, is_gone;
    } frames[FRAMES];
    uint8_t closed; /* the list of closed stubs, of length 1 */
};

struct state {
    struct thread threads[THREADS];
    struct {
        uint8_t depth, owner;
        uint8_t ra[DEPTH], truth[DEPTH];
    } stacks[STACKS];
    uint8_t values[STUBS];
    uint8_t serial; /* of the next return address */
};

/* What is wrong with the steps on purpose. */
enum mistake {
    NO_MISTAKE,
    VALUE_BEFORE_FRAME, /* a handler uses the same stub in between */
    VALUE_LAST,         /* after the return address was replaced */
    POP_FIRST,          /* before the true return address is read */
    STUB_OF_THREAD,     /* one stub for all calls of a thread, as it was for all calls */
    MISTAKES,
};

struct search {
    enum mistake mistake;
    struct state *states;
    uint32_t *slots; /* hash table of 1 + index */
    uint32_t count, slot_mask;
    bool is_wrong;
};

static uint8_t *value_of(struct state *state, uint8_t address)
{
    return &state->values[address - STUB];
}

/* What an unwinder makes of a return address. */
static uint8_t unwound(const struct state *state, uint8_t address)
{
    return address >= STUB ? state->values[address - STUB] : address;
}

static bool is_right(const struct state *state)
{
    for (int i = 0; i < STACKS; i++)
        for (int at = 0; at < state->stacks[i].depth; at++)
            if (unwound(state, state->stacks[i].ra[at]) != state->stacks[i].truth[at])
                return false;
    for (int i = 0; i < THREADS; i++) {
        const struct thread *thread = &state->threads[i];

        for (int at = 0; at < thread->depth; at++)
            if (thread->activities[at].reg &&
                unwound(state, thread->activities[at].reg) !=
                    thread->activities[at].truth)
                return false;
    }
    return true;
}

/* Add a state unless it is known. */
static void visit(struct search *search, const struct state *state)
{
    uint64_t hash = 14695981039346656037u;
    uint32_t slot;

    if (search->is_wrong)
        return;
    for (size_t i = 0; i < sizeof(*state); i++)
        hash = (hash ^ ((const uint8_t *)state)[i]) * 1099511628211u;
    for (slot = (uint32_t)(hash >> 20) & search->slot_mask; search->slots[slot];
         slot = (slot + 1) & search->slot_mask)
        if (memcmp(&search->states[search->slots[slot] - 1], state, sizeof(*state)) == 0)
            return;
    assert_true(search->count < STATES_MAX);
    search->states[search->count++] = *state;
    search->slots[slot] = search->count;
    search->is_wrong = !is_right(state);
}

/* Calls on the stack of the thread that are no more: an exception or a jump left them. Those on
 * other stacks may be open. Their frames get the stub that was closed before. */
static void close_dead(struct state *state, struct thread *thread)
{
    while (thread->top > 0) {
        uint8_t own = (uint8_t)(thread - state->threads), stub;
        bool is_dead = thread->frames[thread->top].stack == own && thread->stack == own &&
                       thread->frames[thread->top].at >= state->stacks[own].depth;

        if (!thread->frames[thread->top].is_gone && !is_dead)
            return;
        if (!thread->frames[thread->top].is_gone) {
            stub = thread->frames[thread->top].stub;
            thread->frames[thread->top].stub = thread->closed;
            thread->closed = stub;
        }
        thread->top--;
    }
}

/* The program makes a call, or a call of its own ends in one. */
static void begin_call(struct search *search, struct state state, int number,
                       bool is_tail)
{
    struct thread *thread = &state.threads[number];
    struct activity *activity = &thread->activities[thread->depth - 1];
    uint8_t stack = thread->stack;

    if (is_tail ? state.stacks[stack].depth == activity->base
                : state.stacks[stack].depth == DEPTH)
        return;
    if (!is_tail) {
        state.stacks[stack].ra[state.stacks[stack].depth] = state.serial;
        state.stacks[stack].truth[state.stacks[stack].depth++] = state.serial++;
    }
    /* Calls above the one that is made now are closed first: it counts as not made yet. */
    state.stacks[stack].depth--;
    close_dead(&state, thread);
    state.stacks[stack].depth++;
    if (thread->top == FRAMES - 1 || !thread->frames[thread->top + 1].stub)
        return;
    thread->budget--;
    activity->step = ENTER_STUB;
    visit(search, &state);
}

/* The innermost call returns: its return address goes to a register. */
static void begin_return(struct search *search, struct state state, int number)
{
    struct thread *thread = &state.threads[number];
    struct activity *activity = &thread->activities[thread->depth - 1];
    uint8_t stack = thread->stack, at;

    if (state.stacks[stack].depth == activity->base)
        return;
    at = --state.stacks[stack].depth;
    thread->budget--;
    activity->truth = state.stacks[stack].truth[at];
    activity->reg = state.stacks[stack].ra[at];
    state.stacks[stack].ra[at] = state.stacks[stack].truth[at] = 0;
    activity->step = activity->reg >= STUB ? LEAVE_FIND : IDLE;
    if (activity->step == IDLE)
        activity->reg = activity->truth = 0;
    visit(search, &state);
}

/* An exception, or a handler that jumps away: all calls of the activity end, and what it
 * interrupted as well. */
static void throw_away(struct search *search, struct state state, int number)
{
    struct thread *thread = &state.threads[number];
    uint8_t stack = thread->stack;

    if (stack != number || (thread->depth == 1 && state.stacks[stack].depth == 0))
        return;
    thread->budget--;
    memset(state.stacks[stack].ra, 0, DEPTH);
    memset(state.stacks[stack].truth, 0, DEPTH);
    state.stacks[stack].depth = 0;
    thread->depth = 1;
    memset(thread->activities, 0, sizeof(thread->activities));
    visit(search, &state);
}

static void switch_stack(struct search *search, struct state state, int number)
{
    struct thread *thread = &state.threads[number];
    uint8_t to = thread->stack == number ? STACKS - 1 : (uint8_t)number;

    if (thread->depth > 1 || (to == STACKS - 1 && state.stacks[to].owner != NO_OWNER))
        return;
    state.stacks[STACKS - 1].owner = to == STACKS - 1 ? (uint8_t)number : NO_OWNER;
    thread->stack = to;
    thread->budget--;
    thread->activities[0].base = 0;
    visit(search, &state);
}

static void interrupt(struct search *search, struct state state, int number)
{
    struct thread *thread = &state.threads[number];

    if (thread->signals == 0 || thread->depth == 2)
        return;
    thread->signals--;
    thread->activities[thread->depth++] =
        (struct activity){.base = state.stacks[thread->stack].depth};
    visit(search, &state);
}

/* A handler returns when its own calls have. */
static void end_handler(struct search *search, struct state state, int number)
{
    struct thread *thread = &state.threads[number];
    struct activity *activity = &thread->activities[thread->depth - 1];

    if (thread->depth == 1 || state.stacks[thread->stack].depth != activity->base)
        return;
    *activity = (struct activity){0};
    thread->depth--;
    visit(search, &state);
}

/* The order of the steps of an entry. */
static uint8_t after(enum mistake mistake, uint8_t step)
{
    static const uint8_t right[] = {[ENTER_STUB] = ENTER_TOP,
                                    [ENTER_TOP] = ENTER_RET,
                                    [ENTER_RET] = ENTER_VALUE,
                                    [ENTER_VALUE] = ENTER_REPLACE,
                                    [ENTER_REPLACE] = IDLE};
    static const uint8_t early[] = {[ENTER_STUB] = ENTER_VALUE,
                                    [ENTER_VALUE] = ENTER_TOP,
                                    [ENTER_TOP] = ENTER_RET,
                                    [ENTER_RET] = ENTER_REPLACE,
                                    [ENTER_REPLACE] = IDLE};
    static const uint8_t late[] = {[ENTER_STUB] = ENTER_TOP,
                                   [ENTER_TOP] = ENTER_RET,
                                   [ENTER_RET] = ENTER_REPLACE,
                                   [ENTER_REPLACE] = ENTER_VALUE,
                                   [ENTER_VALUE] = IDLE};

    return mistake == VALUE_BEFORE_FRAME ? early[step]
           : mistake == VALUE_LAST       ? late[step]
                                         : right[step];
}

static void go_on_entering(struct search *search, struct state state, int number)
{
    struct thread *thread = &state.threads[number];
    struct activity *activity = &thread->activities[thread->depth - 1];
    uint8_t at = (uint8_t)(state.stacks[thread->stack].depth - 1);
    uint8_t ra = state.stacks[thread->stack].ra[at];

    switch (activity->step) {
    case ENTER_STUB:
        activity->frame = (uint8_t)(thread->top + 1);
        activity->stub = search->mistake == STUB_OF_THREAD
                             ? thread->frames[1].stub
                             : thread->frames[activity->frame].stub;
        activity->seen = unwound(&state, ra);
        break;
    case ENTER_TOP:
        thread->top = activity->frame;
        break;
    case ENTER_RET:
        thread->frames[activity->frame].ret = ra;
        thread->frames[activity->frame].stack = thread->stack;
        thread->frames[activity->frame].at = at;
        thread->frames[activity->frame].is_gone = 0;
        break;
    case ENTER_VALUE:
        *value_of(&state, activity->stub) = activity->seen;
        break;
    case ENTER_REPLACE:
        state.stacks[thread->stack].ra[at] = activity->stub;
        break;
    default:
        break;
    }
    activity->step = after(search->mistake, activity->step);
    if (activity->step == IDLE)
        *activity = (struct activity){.base = activity->base};
    visit(search, &state);
}

/* The call has returned to `reg`: to its caller, or to the stub of a function that ended in
 * it. */
static void end_return(struct activity *activity)
{
    activity->step = activity->reg >= STUB ? LEAVE_FIND : IDLE;
    activity->frame = activity->stub = 0;
    if (activity->step == IDLE)
        activity->reg = activity->truth = 0;
}

static void go_on_leaving(struct search *search, struct state state, int number)
{
    struct thread *thread = &state.threads[number], *other = &state.threads[1 - number];
    struct activity *activity = &thread->activities[thread->depth - 1];

    switch (activity->step) {
    case LEAVE_FIND: /* C closes what is above, and removes a frame from the middle */
        activity->frame = thread->top;
        while (activity->frame > 0 &&
               thread->frames[activity->frame].stub != activity->reg)
            activity->frame--;
        activity->step = activity->frame == 0           ? OTHER_VALUE
                         : search->mistake == POP_FIRST ? LEAVE_POP
                                                        : LEAVE_RET;
        activity->stub = activity->reg;
        break;
    case LEAVE_RET:
        activity->reg = thread->frames[activity->frame].ret;
        if (search->mistake == POP_FIRST)
            end_return(activity);
        else
            activity->step = LEAVE_POP;
        break;
    case LEAVE_POP:
        for (int i = activity->frame; i < thread->top; i++) {
            uint8_t unused = thread->frames[i].stub;

            thread->frames[i] = thread->frames[i + 1];
            thread->frames[i + 1].stub = unused;
        }
        if (search->mistake == POP_FIRST) {
            activity->frame = thread->top--;
            activity->step = LEAVE_RET;
        } else {
            thread->top--;
            end_return(activity);
        }
        break;
    case OTHER_VALUE:
        activity->reg = *value_of(&state, activity->stub);
        activity->step = OTHER_TOP;
        break;
    case OTHER_TOP:
        activity->frame = other->top;
        activity->step = OTHER_FIND;
        break;
    case OTHER_FIND:
        if (activity->frame == 0)
            end_return(activity);
        else if (other->frames[activity->frame].stub == activity->stub)
            activity->step = OTHER_RET;
        else
            activity->frame--;
        break;
    case OTHER_RET:
        activity->reg = other->frames[activity->frame].ret;
        activity->step = OTHER_GONE;
        break;
    case OTHER_GONE:
        other->frames[activity->frame].is_gone = 1;
        end_return(activity);
        break;
    default:
        break;
    }
    visit(search, &state);
}

static bool is_locked(const struct state *state, int number)
{
    const struct thread *other = &state->threads[1 - number];

    for (int i = 0; i < other->depth; i++)
        if (other->activities[i].step >= OTHER_TOP)
            return true;
    return false;
}

/* Every step that the thread can take from this state. */
static void step(struct search *search, const struct state *state, int number)
{
    const struct thread *thread = &state->threads[number];
    const struct activity *activity = &thread->activities[thread->depth - 1];

    if (activity->step == IDLE && thread->budget > 0) {
        begin_call(search, *state, number, false);
        begin_call(search, *state, number, true);
        begin_return(search, *state, number);
        throw_away(search, *state, number);
        switch_stack(search, *state, number);
    }
    if (activity->step == IDLE)
        end_handler(search, *state, number);
    else if (activity->step <= ENTER_REPLACE)
        go_on_entering(search, *state, number);
    /* A frame is moved while no other thread searches. */
    else if (activity->step != LEAVE_POP || activity->frame == thread->top ||
             !is_locked(state, number))
        go_on_leaving(search, *state, number);
    /* Signals are blocked while frames of other threads are searched. */
    if (activity->step < OTHER_VALUE)
        interrupt(search, *state, number);
}

static struct state first_state(const uint8_t budgets[THREADS])
{
    struct state state = {.serial = 1};
    uint8_t stub = STUB;

    for (int i = 0; i < THREADS; i++) {
        state.threads[i] = (struct thread){
            .stack = (uint8_t)i, .budget = budgets[i], .signals = 1, .depth = 1};
        for (int k = 1; k < FRAMES; k++)
            state.threads[i].frames[k].stub = stub++;
    }
    for (int i = 0; i < STACKS; i++)
        state.stacks[i].owner = NO_OWNER;
    return state;
}

/* Search all states that are reachable when the threads call, return, throw or switch stacks so
 * many times; returns their number, or 0 when one is wrong. */
static uint32_t search_all(enum mistake mistake, uint8_t first, uint8_t second)
{
    struct search search = {.mistake = mistake, .slot_mask = 4 * STATES_MAX - 1};
    struct state state = first_state((const uint8_t[]){first, second});
    uint32_t count;

    search.states = malloc(sizeof(state) * STATES_MAX);
    search.slots = calloc(search.slot_mask + 1, sizeof(*search.slots));
    assert_non_null(search.states);
    assert_non_null(search.slots);
    visit(&search, &state);
    for (uint32_t i = 0; i < search.count && !search.is_wrong; i++) {
        state = search.states[i];
        for (int number = 0; number < THREADS; number++)
            step(&search, &state, number);
    }
    count = search.is_wrong ? 0 : search.count;
    free(search.states);
    free(search.slots);
    return count;
}

static void every_order_unwinds_to_the_caller(void **state)
{
    (void)state;
    assert_in_range(search_all(NO_MISTAKE, 3, 3), 100000, STATES_MAX);
    assert_in_range(search_all(NO_MISTAKE, 5, 2), 100000, STATES_MAX);
}

static void finds_each_mistake(void **state)
{
    (void)state;
    for (enum mistake mistake = NO_MISTAKE + 1; mistake < MISTAKES; mistake++)
        assert_int_equal(search_all(mistake, 3, 3), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_unwinds_to_the_caller),
        cmocka_unit_test(finds_each_mistake),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
