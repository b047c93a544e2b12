/* Print the longest call of each function of a recording, from its records: slow_calls PATH */
#include <cairn.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH_MAX = 1024 };

/* The longest call of each function of one task. */
static bool read_task(struct cairn_data *data, uint32_t task, uint64_t *longest,
                      struct cairn_error *err)
{
    struct cairn_calls *calls = cairn_calls_new(data, task, 0, 0, err);
    uint64_t begin_ns[DEPTH_MAX] = {0};
    const struct cairn_call *list;
    enum cairn_step step = CAIRN_FAIL;
    size_t count;

    while (calls && (step = cairn_calls_next(calls, &list, &count, err)) == CAIRN_ITEM)
        for (size_t i = 0; i < count; i++) {
            const struct cairn_call *call = &list[i];

            if (call->depth >= DEPTH_MAX || call->function == CAIRN_NONE)
                continue;
            if (call->kind == CAIRN_ENTER)
                begin_ns[call->depth] = call->time_ns;
            else if (call->kind == CAIRN_EXIT &&
                     call->time_ns - begin_ns[call->depth] > longest[call->function])
                longest[call->function] = call->time_ns - begin_ns[call->depth];
        }
    cairn_calls_free(calls);
    return step == CAIRN_END;
}

static bool print_longest(struct cairn_data *data, struct cairn_error *err)
{
    uint32_t function_count = cairn_recording_function_count(data);
    uint64_t *longest = calloc(function_count + 1, sizeof(*longest));
    bool ok = longest != NULL;

    for (uint32_t i = 0; ok && i < cairn_recording_task_count(data); i++)
        ok = read_task(data, i, longest, err);
    for (uint32_t i = 0; ok && i < function_count; i++) {
        struct cairn_function function;

        ok = cairn_recording_function(data, i, &function, err);
        if (ok && longest[i] > 0)
            printf("%10llu ns  %s\n", (unsigned long long)longest[i], function.name);
    }
    free(longest);
    return ok;
}

int main(int argc, char **argv)
{
    struct cairn_error *err = cairn_error_new();
    struct cairn_data *data = argc == 2 ? cairn_open(argv[1], err) : NULL;
    bool ok = data && print_longest(data, err);

    if (!ok)
        fprintf(stderr, "slow_calls: %s\n",
                argc == 2 ? cairn_error_text(err) : "usage: slow_calls PATH");
    cairn_close(data);
    cairn_error_free(err);
    return ok ? 0 : 1;
}
