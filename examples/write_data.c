/* Write a database and a recording from a program's own data: write_data DATABASE RECORDING TRACE
 */
#include <cairn.h>
#include <stdio.h>

static bool write_database(const char *path, struct cairn_error *err)
{
    struct cairn_builder *b = cairn_builder_new("solver");
    uint32_t seconds = cairn_builder_metric(b, "time (sec)", err);
    uint32_t thread = cairn_builder_thread(b, 0, 0, "worker", err);
    uint32_t main_fn = cairn_builder_function(b, "main", "solver", "main.c", 10, err);
    uint32_t solve = cairn_builder_function(b, "solve", "solver", "solve.c", 40, err);
    uint32_t in_main = cairn_builder_call(b, 0, main_fn, err);
    uint32_t in_solve = cairn_builder_call(b, in_main, solve, err);
    bool ok = cairn_builder_value(b, thread, in_main, seconds, 0.25, err) &&
              cairn_builder_value(b, thread, in_solve, seconds, 1.75, err) &&
              cairn_builder_sample(b, thread, 1000, in_main, err) &&
              cairn_builder_sample(b, thread, 2000, in_solve, err);
    struct cairn_data *data = ok ? cairn_builder_finish(b, err) : NULL;

    if (!ok)
        cairn_builder_free(b);
    ok = data && cairn_write(data, path, "hpctoolkit-v4", false, NULL, NULL, err);
    cairn_close(data);
    return ok;
}

static bool write_recording(const char *path, const char *trace, struct cairn_error *err)
{
    struct cairn_recorder *r = cairn_recorder_new("solver");
    uint32_t task = cairn_recorder_task(r, 1, 1, "worker", err);
    bool ok = task != CAIRN_NONE && cairn_recorder_enter(r, task, "main", 1000000, err) &&
              cairn_recorder_call(r, task, "solve", 2000000, 5000000, err) &&
              cairn_recorder_exit(r, task, 9000000, err);
    struct cairn_data *data = ok ? cairn_recorder_finish(r, err) : NULL;

    if (!ok)
        cairn_recorder_free(r);
    ok = data && cairn_write(data, path, "uftrace", false, NULL, NULL, err) &&
         cairn_write(data, trace, "chrome", false, NULL, NULL, err);
    cairn_close(data);
    return ok;
}

int main(int argc, char **argv)
{
    struct cairn_error *err = cairn_error_new();
    bool ok = argc == 4 && write_database(argv[1], err) &&
              write_recording(argv[2], argv[3], err);

    if (!ok)
        fprintf(stderr, "write_data: %s\n",
                argc == 4 ? cairn_error_text(err)
                          : "usage: write_data DATABASE RECORDING TRACE");
    cairn_error_free(err);
    return ok ? 0 : 1;
}
