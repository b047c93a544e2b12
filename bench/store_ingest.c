/* How fast a store takes agent requests, with both indexes, and what they take on disk:
 *     bench_store_ingest STORE FILE...
 *     bench_store_ingest -l LANES STORE FILE...
 *
 * FILE is what bench_gen_store wrote. Prints records a second of processor time, and the bytes
 * of every file of the store a record. With -l, `store add` with so many lanes: records a second
 * of elapsed time, the processor time of a record, the processors in use on average, and the seconds that
 * one thread takes to find the requests.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/run/clock.h"
#include "base/text.h"
#include "store/pipeline/ingest_files.h"
#include "store/segment/segments.h"
#include "store/write/lanes.h"

static double cpu_s(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1e-6;
}

static double elapsed_s(void)
{
    return (double)cn_clock_ns() * 1e-9;
}

static bool add_with_lanes(const char *store, unsigned count, char **paths,
                           int path_count, struct cn_store_added *added,
                           struct cn_error *err)
{
    struct cn_store_lanes *lanes;

    if (!cn_store_init(store, NULL, err) ||
        !cn_store_lanes_open(&lanes, store, count, NULL, err))
        return false;
    if (cn_store_ingest_files(lanes, count, (const char *const *)paths,
                              (size_t)path_count, added, err))
        return cn_store_lanes_close(lanes, err);
    cn_store_lanes_abandon(lanes);
    return false;
}

/* What one thread does, while lanes add: find the requests in the files. */
static double gather_s(char **paths, int path_count)
{
    double begin_s = cpu_s();
    struct cn_ingest_input input;
    struct cn_ingest_item item;
    struct cn_error ignored;

    for (int i = 0; i < path_count; i++) {
        if (!cn_ingest_input_open(&input, paths[i], &ignored))
            continue;
        while (cn_ingest_input_next(&input, &item, &ignored) == CN_ITEM)
            continue;
        cn_ingest_input_close(&input);
    }
    return cpu_s() - begin_s;
}

static int measure_lanes(const char *store, unsigned count, char **paths, int path_count)
{
    double begin_s = elapsed_s(), begin_cpu_s = cpu_s(), used_s, used_cpu_s;
    struct cn_store_added added = {0};
    struct cn_error err = {0};
    struct rusage usage;

    if (!add_with_lanes(store, count, paths, path_count, &added, &err)) {
        (void)fprintf(stderr, "bench_store_ingest: %s\n", err.text);
        return 1;
    }
    used_s = elapsed_s() - begin_s;
    used_cpu_s = cpu_s() - begin_cpu_s;
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("%5u %10.2f %14.2f %10.0f %12.2f %10.3f %8ld\n", count, used_s,
           (double)added.records / used_s / 1e6, used_cpu_s / (double)added.records * 1e9,
           used_cpu_s / used_s, gather_s(paths, path_count), usage.ru_maxrss / 1024);
    return 0;
}

static uint64_t print_sizes(const char *dir, uint64_t records)
{
    DIR *list = opendir(dir);
    const struct dirent *entry;
    uint64_t all = 0;

    while (list && (entry = readdir(list))) {
        struct cn_text path = {0};
        struct stat st;
        uint32_t number;

        cn_text_printf(&path, "%s/%s", dir, entry->d_name);
        if (entry->d_name[0] == '.' || stat(cn_text_str(&path), &st) < 0) {
            cn_text_done(&path);
            continue;
        }
        if (cn_segments_parse(entry->d_name, &number)) {
            all += print_sizes(cn_text_str(&path), records);
        } else if (S_ISREG(st.st_mode)) {
            printf("  %-40s %8.3f B/record\n", cn_text_str(&path),
                   (double)st.st_size / (double)records);
            all += (uint64_t)st.st_size;
        }
        cn_text_done(&path);
    }
    if (list)
        (void)closedir(list);
    return all;
}

int main(int argc, char **argv)
{
    struct cn_store_added added = {0};
    struct cn_error err = {0};
    struct rusage usage;
    double begin_s = cpu_s(), used_s;
    uint64_t len;

    if (argc > 4 && strcmp(argv[1], "-l") == 0)
        return measure_lanes(argv[3], (unsigned)strtoul(argv[2], NULL, 10), argv + 4,
                             argc - 4);
    if (argc < 3) {
        (void)fprintf(stderr, "usage: bench_store_ingest [-l LANES] STORE FILE...\n");
        return 2;
    }
    if (!add_with_lanes(argv[1], 1, argv + 2, argc - 2, &added, &err)) {
        (void)fprintf(stderr, "bench_store_ingest: %s\n", err.text);
        return 1;
    }
    used_s = cpu_s() - begin_s;
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("traces %" PRIu64 ", records %" PRIu64 ", processor %.2f s, %.2f M records/s, "
           "memory %ld MB\n",
           added.traces, added.records, used_s, (double)added.records / used_s / 1e6,
           usage.ru_maxrss / 1024);
    len = print_sizes(argv[1], added.records);
    printf("all files %.2f B/record\n", (double)len / (double)added.records);
    return 0;
}
