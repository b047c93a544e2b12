"""What a program allocates and frees, recorded exactly, against what its source says: see one_truth."""
from service import serving
from truth.doors import NS, Costs, run
from truth.metric import check_metric

SOURCE = """
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
static void *kept[100];
__attribute__((noinline)) void keep(int i) { kept[i] = malloc(1000); }
__attribute__((noinline)) void pass(void) { void *volatile p = malloc(300); free(p); }
__attribute__((noinline)) void drop(int n) { for (int i = 0; i < n; i++) free(kept[i]); }
__attribute__((noinline)) void *other(void *arg) { for (int i = 0; i < 25; i++) pass(); return arg; }
int main(void)
{
    pthread_t thread;
    for (int i = 0; i < 100; i++) keep(i);
    for (int i = 0; i < 50; i++) pass();
    usleep(5000); /* what lives shorter is temporary */
    drop(60);
    if (pthread_create(&thread, 0, other, 0) == 0) pthread_join(thread, 0);
    return 0;
}
"""
# By metric, the value of each function itself.
VALUES = {"allocated (B)": {"keep": 100 * 1000, "pass": 75 * 300}, "allocations": {"keep": 100, "pass": 75},
          "live at end (B)": {"keep": 40 * 1000}, "live at end": {"keep": 40}, "temporary allocations": {"pass": 75}}


def check_heap(check, cairn, folder, python):
    (folder / "heap.c").write_text(SOURCE)
    run("gcc", "-O1", "-g", "-pg", "-fno-optimize-sibling-calls", "heap.c", "-o", "heap", "-lpthread", cwd=folder)
    data, db = folder / "heap.data", folder / "heap.db"
    run(cairn, "record", "-q", "--memory", "--no-libcall", "-d", data, "--", "./heap", cwd=folder)
    run(cairn, "analyze", "-q", data, "-o", db)
    for label, source in ("memory of a recording", data), ("memory of a database", db):
        with serving(cairn, str(source), through_page=True) as service:
            for metric, values in VALUES.items():
                expected = Costs()
                for name, value in values.items():
                    share = 1 / 3 if name == "pass" else 0  # of the thread
                    expected.add_stack(["main", name], (1 - share) * value * NS)
                    expected.totals[name] += share * value * NS
                    expected.selfs[name] += share * value * NS
                    expected.totals["other"] += share * value * NS
                # The C library allocates for a new thread: in main, not in these.
                check_metric(check, cairn, label, source, service, metric, expected, ["keep", "pass", "other", "drop"], python, source == data)
