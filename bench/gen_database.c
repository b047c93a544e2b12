/* How fast is an HPCToolkit database written? Writes a synthetic one of the given size and
 * prints, a line each: name, value, unit. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/run/progress.h"
#include "formats/hpctoolkit/v4/write/writer.h"
#include "open/formats.h"
#include "support/synthetic.h"

struct arguments {
    struct cn_synthetic_size size;
    struct cn_write_options options;
    const char *path;
};

/* Seconds spent in each step, told apart by what the writer reports. */
struct stopwatch {
    double begin, last;
    char what[64];
};

static double now(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void end_step(struct stopwatch *watch, const char *next)
{
    double time = now();

    if (watch->what[0])
        printf("%-24s %8.3f s\n", watch->what, time - watch->last);
    (void)snprintf(watch->what, sizeof(watch->what), "%s", next);
    watch->last = time;
}

static bool report(void *arg, const char *what, uint64_t done, uint64_t total,
                   const char *unit)
{
    struct stopwatch *watch = arg;

    (void)done;
    (void)total;
    (void)unit;
    if (strcmp(watch->what, what) != 0)
        end_step(watch, what);
    return true;
}

static double file_len(const char *dir, const char *name)
{
    char path[4096];
    struct stat st;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    return stat(path, &st) == 0 ? (double)st.st_size : 0;
}

static void print_figures(const struct arguments *args, double seconds)
{
    static const char *const files[] = {"meta.db", "profile.db", "cct.db", "trace.db"};
    struct rusage usage;
    double len = 0;

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        len += file_len(args->path, files[i]);
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("%-24s %8.3f s\n", "all", seconds);
    printf("%-24s %8.1f million/s\n", "values",
           (double)args->size.values / seconds / 1e6);
    printf("%-24s %8.0f MB\n", "written", len / 1e6);
    printf("%-24s %8.0f MB/s\n", "speed", len / seconds / 1e6);
    printf("%-24s %8.1f MB\n", "memory", (double)usage.ru_maxrss / 1e3);
}

static bool parse(int argc, char **argv, struct arguments *out)
{
    static const struct option options[] = {
        {"threads", required_argument, NULL, 't'},
        {"contexts", required_argument, NULL, 'c'},
        {"values", required_argument, NULL, 'v'},
        {"samples", required_argument, NULL, 's'},
        {"workers", required_argument, NULL, 'w'},
        {"memory", required_argument, NULL, 'm'},
        {"output", required_argument, NULL, 'o'},
        {0},
    };
    int option;

    while ((option = getopt_long(argc, argv, "o:", options, NULL)) != -1) {
        uint64_t number = optarg ? strtoull(optarg, NULL, 10) : 0;

        if (option == 't')
            out->size.threads = (uint32_t)number;
        else if (option == 'c')
            out->size.contexts = (uint32_t)number;
        else if (option == 'v')
            out->size.values = number;
        else if (option == 's')
            out->size.samples = number;
        else if (option == 'w')
            out->options.workers = (unsigned)number;
        else if (option == 'm')
            out->options.memory_len = (size_t)number;
        else if (option == 'o')
            out->path = optarg;
        else
            return false;
    }
    return out->path && optind == argc && out->size.threads > 0 &&
           out->size.values / out->size.threads / 3 > 0 &&
           out->size.values / out->size.threads / 3 <= out->size.contexts;
}

int main(int argc, char **argv)
{
    struct arguments args = {
        .size = {.threads = 2000,
                 .contexts = 1000000,
                 .values = 100000000,
                 .samples = 20000000},
    };
    struct cn_synthetic synthetic;
    struct stopwatch watch = {.begin = now()};
    struct cn_progress progress = {.report = report, .arg = &watch};
    struct cn_error err = {0};

    if (!parse(argc, argv, &args)) {
        (void)fprintf(stderr, "usage: gen_database [--threads N] [--contexts N] "
                              "[--values N] [--samples N] [--workers N] [--memory BYTES] "
                              "-o DIR\n");
        return 2;
    }
    cn_synthetic_init(&synthetic, &args.size);
    args.options.progress = &progress;
    if (!cn_hpc_v4_write(&synthetic.db, args.path, &args.options, &err)) {
        (void)fprintf(stderr, "gen_database: %s\n", err.text);
        return 1;
    }
    end_step(&watch, "");
    print_figures(&args, now() - watch.begin);
    cn_arena_done(&synthetic.db.arena);
    return 0;
}
