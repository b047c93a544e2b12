/* The inputs of bench/scale. Stands alone: `cc -O2 gen_scale.c -o gen_scale` is enough.
 *
 *     gen_scale calls DIR TASKS RECORDS SEED
 *         a recording of RECORDS records: 512 functions in 8 layers, as in gen_mix.py
 *     gen_scale profiles DIR PROFILES SEED
 *         a measurement directory: about 70 nodes, 53 values and 166 samples a profile, taken
 *         from one program of 2,000 call paths; four threads a rank
 */
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    LAYERS = 8,
    WIDTH = 64,
    CALLEES_MAX = 3,
    FUNCTION_LEN = 0x100,
    FIRST_TID = 100,

    PATHS = 2000, /* nodes of the program's tree */
    COMMON = 30,  /* those that all profiles have */
    PROFILE_NODES = 70,
    SAMPLES = 166,
    THREADS = 4, /* of a rank */
    FUNCTIONS = 300,
    SITES = 8, /* of a function */
    SECTION_LEN = 1024,
    FILE_MAX = 1 << 16,
};

static const uint64_t base = 0x400000;

struct random {
    uint64_t state;
};

static uint32_t draw(struct random *random, uint32_t limit)
{
    random->state = random->state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (uint32_t)((random->state >> 33) % limit);
}

static FILE *create(const char *dir, const char *name)
{
    char path[PATH_MAX];
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(1);
    }
    return file;
}

static void finish(FILE *file)
{
    if (fclose(file) != 0) {
        perror("gen_scale");
        exit(1);
    }
}

static void create_dir(const char *dir)
{
    if (mkdir(dir, 0777) != 0) {
        perror(dir);
        exit(1);
    }
}

/* A recording. */

struct callee {
    unsigned function;
    bool is_guarded; /* called every other time */
};

struct program {
    struct callee callees[LAYERS * WIDTH][CALLEES_MAX];
    unsigned counts[LAYERS * WIDTH];
};

struct task {
    FILE *out;
    const struct program *program;
    struct random random;
    uint64_t time_ns, left;
};

static void make_program(struct program *program, uint64_t seed)
{
    struct random random = {seed};

    for (unsigned i = 0; i < LAYERS * WIDTH; i++) {
        unsigned layer = i / WIDTH;

        program->counts[i] = layer + 1 < LAYERS ? 1 + draw(&random, CALLEES_MAX) : 0;
        for (unsigned j = 0; j < program->counts[i]; j++)
            program->callees[i][j] = (struct callee){
                (layer + 1) * WIDTH + draw(&random, WIDTH), draw(&random, 2) == 1};
    }
}

static void write_record(struct task *task, unsigned type, unsigned depth,
                         unsigned function)
{
    uint64_t address = base + (function + 1) * (uint64_t)FUNCTION_LEN;
    uint64_t record[2] = {task->time_ns += 20 + draw(&task->random, 64),
                          type | 5 << 3 | (uint64_t)depth << 6 | address << 16};

    (void)fwrite(record, sizeof(record), 1, task->out);
    task->left -= task->left > 0;
}

/* Not deeper than LAYERS. */
static void call(struct task *task, unsigned depth, unsigned function)
{
    const struct program *program = task->program;

    write_record(task, 0, depth, function);
    for (unsigned i = 0; task->left > 0 && i < program->counts[function]; i++) {
        const struct callee *callee = &program->callees[function][i];

        if (!callee->is_guarded || draw(&task->random, 2) == 0)
            call(task, depth + 1, callee->function);
    }
    write_record(task, 1, depth, function);
}

static void write_tables(const char *dir, unsigned tasks)
{
    static const uint8_t head[40] = {'F',  't', 'r', 'a', 'c',  'e',  '!', 0, 4, 0, 0, 0,
                                     40,   0,   1,   2,   0x62, 0x10, 0,   0, 0, 0, 0, 0,
                                     0x81, 0,   0,   0,   0,    0,    0,   0, 0, 4};
    FILE *file = create(dir, "info");

    (void)fwrite(head, sizeof(head), 1, file);
    (void)fprintf(file,
                  "exename:/opt/mix\ntaskinfo:lines=2\ntaskinfo:nr_tid=%u\n"
                  "taskinfo:tids=",
                  tasks);
    for (unsigned i = 0; i < tasks; i++)
        (void)fprintf(file, "%s%u", i ? "," : "", FIRST_TID + i);
    (void)fprintf(file, "\n");
    finish(file);
    file = create(dir, "default.opts");
    finish(file);
    file = create(dir, "task.txt");
    (void)fprintf(file,
                  "SESS timestamp=1.000000000 pid=%d sid=0123456789abcdef "
                  "exename=\"/opt/mix\"\n",
                  FIRST_TID);
    for (unsigned i = 0; i < tasks; i++)
        (void)fprintf(file, "TASK timestamp=1.%09u tid=%u pid=%d\n", i + 1, FIRST_TID + i,
                      FIRST_TID);
    finish(file);
    file = create(dir, "sid-0123456789abcdef.map");
    (void)fprintf(file, "%012" PRIx64 "-%012" PRIx64 " r-xp 00000000 00:00 0 /opt/mix\n",
                  base, base + (LAYERS * WIDTH + 1) * (uint64_t)FUNCTION_LEN);
    finish(file);
    file = create(dir, "mix.sym");
    (void)fprintf(file, "# symbols: %d\n# path name: /opt/mix\n", LAYERS * WIDTH);
    for (unsigned i = 0; i < LAYERS * WIDTH; i++)
        (void)fprintf(file, "%016x %08x T stage%u_of_subsystem_%02u_handles_its_part\n",
                      (i + 1) * FUNCTION_LEN, FUNCTION_LEN, i / WIDTH, i % WIDTH);
    finish(file);
}

static void write_calls(const char *dir, unsigned tasks, uint64_t records, uint64_t seed)
{
    static struct program program;

    make_program(&program, seed);
    create_dir(dir);
    write_tables(dir, tasks);
    for (unsigned i = 0; i < tasks; i++) {
        struct task task = {.program = &program,
                            .random = {seed + i + 1},
                            .time_ns = 2000000000 + i,
                            .left = records / tasks};
        char name[32];

        (void)snprintf(name, sizeof(name), "%u.dat", FIRST_TID + i);
        task.out = create(dir, name);
        while (task.left > 0)
            call(&task, 0, draw(&task.random, WIDTH));
        finish(task.out);
    }
}

/* A measurement directory. */

struct path {
    unsigned parent; /* index of a path before; of the first one, itself */
    uint64_t address;
};

/* A file in memory; integers are big endian. */
struct bytes {
    uint8_t data[FILE_MAX];
    size_t len;
};

static void put(struct bytes *to, const void *data, size_t len)
{
    if (len > sizeof(to->data) - to->len) {
        (void)fprintf(stderr, "gen_scale: a profile is too long\n");
        exit(1);
    }
    memcpy(to->data + to->len, data, len);
    to->len += len;
}

static void put_number(struct bytes *to, uint64_t value, unsigned len)
{
    uint8_t bytes[8];

    for (unsigned i = 0; i < len; i++)
        bytes[i] = (uint8_t)(value >> 8 * (len - 1 - i));
    put(to, bytes, len);
}

static void put_string(struct bytes *to, const char *text)
{
    put_number(to, strlen(text), 4);
    put(to, text, strlen(text));
}

static uint64_t pad(struct bytes *to)
{
    while (to->len % SECTION_LEN != 0)
        put_number(to, 0, 1);
    return to->len;
}

static void make_paths(struct path *paths, uint64_t seed)
{
    struct random random = {seed};

    for (unsigned i = 0; i < PATHS; i++)
        paths[i] = (struct path){i < 2 ? 0 : draw(&random, i < COMMON ? i : i / 2 + 1),
                                 (draw(&random, FUNCTIONS) + 1) * (uint64_t)FUNCTION_LEN +
                                     draw(&random, SITES) * 16u};
}

/* Paths of a profile, callers first: all common ones and some others. */
static unsigned choose_paths(const struct path *paths, struct random *random,
                             bool *chosen)
{
    unsigned count = COMMON;

    memset(chosen, 0, PATHS * sizeof(*chosen));
    memset(chosen, 1, COMMON * sizeof(*chosen));
    while (count < PROFILE_NODES) {
        unsigned at = draw(random, PATHS);

        for (; !chosen[at]; at = paths[at].parent, count++)
            chosen[at] = true;
    }
    return count;
}

static uint32_t node_id(unsigned path)
{
    return 2 * path + 13;
}

static void put_values(struct bytes *to, const bool *chosen, unsigned count,
                       unsigned profile, struct random *random)
{
    unsigned values = count * 3 / 4, at = 0;

    put_number(to, 3, 2); /* identity: node, rank, thread */
    put_number(to, 1 << 14 | 1, 2);
    put_number(to, 0x11ac0300, 8);
    put_number(to, 0, 8);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t number = i == 0 ? profile / THREADS : profile % THREADS;

        put_number(to, 3 << 14 | (2 + i), 2);
        put_number(to, number, 8);
        put_number(to, number, 8);
    }
    put_number(to, values, 8);
    put_number(to, values, 4);
    for (unsigned i = 0; i < values; i++) {
        double value = (1 + draw(random, 1000)) * 0.001;
        uint64_t bits;

        memcpy(&bits, &value, sizeof(bits));
        put_number(to, bits, 8);
        put_number(to, 0, 2);
    }
    for (unsigned i = 0; i < PATHS && at < values; i++) {
        if (!chosen[i])
            continue;
        put_number(to, node_id(i), 4);
        put_number(to, at++, 8);
    }
    put(to, "end!", 4);
    put_number(to, values, 8);
}

static void put_modules(struct bytes *to)
{
    static const char *const names[] = {
        "/opt/scale/bin/scale", "/usr/lib/x86_64-linux-gnu/libc.so.6",
        "/usr/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/x86_64-linux-gnu/libgomp.so.1"};

    put_number(to, 4, 4);
    for (unsigned i = 0; i < 4; i++) {
        put_number(to, i + 1, 2);
        put_string(to, names[i]);
        put_number(to, i == 0, 8);
    }
}

static void put_nodes(struct bytes *to, const struct path *paths, const bool *chosen,
                      unsigned count)
{
    put_number(to, count + 1, 8);
    put_number(to, 12, 4); /* the root of the main program */
    put_number(to, 0, 4);
    put_number(to, 0, 2);
    put(to, "^Primary", 8);
    put_number(to, 1, 1);
    for (unsigned i = 0; i < PATHS; i++) {
        if (!chosen[i])
            continue;
        put_number(to, node_id(i), 4);
        put_number(to, i == 0 ? 12 : node_id(paths[i].parent), 4);
        put_number(to, 1, 2);
        put_number(to, paths[i].address, 8);
        put_number(to, 1, 1);
    }
}

static void put_metric_and_kinds(struct bytes *to, uint64_t *offsets)
{
    static const char *const kinds[] = {"SUMMARY",   "NODE",       "RANK",      "THREAD",
                                        "GPUDEVICE", "GPUCONTEXT", "GPUSTREAM", "CORE"};
    static const uint8_t metric[] = {1, 0, 2, 0, 0, 0, 1, 1, 0, 0, 0, 0,
                                     0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

    offsets[6] = pad(to);
    put_number(to, 1, 4);
    put_string(to, "CPUTIME (sec)");
    put_string(to, "CPUTIME (sec)");
    put(to, metric, sizeof(metric));
    put_string(to, "");
    put_string(to, "");
    put_number(to, 0, 4);
    put_number(to, 0, 8);
    put_number(to, 0, 8);
    offsets[7] = to->len;
    offsets[8] = pad(to);
    put_number(to, 8, 2);
    for (unsigned i = 0; i < 8; i++) {
        put_number(to, i, 2);
        put_string(to, kinds[i]);
    }
    offsets[9] = to->len;
}

static void make_profile(struct bytes *to, const struct path *paths, const bool *chosen,
                         unsigned count, unsigned profile, struct random *random)
{
    uint64_t offsets[14] = {0};

    to->len = 0;
    put(to, "HPCRUN-profile____04.00b", 24);
    put_number(to, 3, 4);
    put_string(to, "program-name");
    put_string(to, "scale");
    put_string(to, "program-path");
    put_string(to, "/opt/scale/bin/scale");
    put_string(to, "trace-disorder");
    put_string(to, "0");
    offsets[1] = to->len;
    offsets[2] = pad(to);
    put_modules(to);
    offsets[3] = to->len;
    offsets[4] = pad(to);
    put_nodes(to, paths, chosen, count);
    offsets[5] = to->len;
    put_metric_and_kinds(to, offsets);
    offsets[10] = pad(to);
    put_values(to, chosen, count, profile, random);
    offsets[11] = to->len;
    offsets[12] = pad(to);
    for (unsigned i = 0; i < 13; i++)
        put_number(to, offsets[i], 8);
    put(to, "HPCRUNsm", 8);
}

static void make_trace(struct bytes *to, const bool *chosen, struct random *random)
{
    uint64_t time_ns = UINT64_C(1700000000000000000);

    to->len = 0;
    put(to, "HPCRUN-trace______01.01b", 24);
    put_number(to, 0, 8);
    for (unsigned i = 0; i < SAMPLES; i++) {
        unsigned at = draw(random, PATHS);

        while (!chosen[at])
            at = at / 2;
        put_number(to, time_ns += 5000000 + draw(random, 100000), 8);
        put_number(to, node_id(at), 4);
    }
}

/* One loop and SITES statements in each function. */
static void write_structure(const char *dir)
{
    char path[PATH_MAX];
    unsigned id = 4;
    FILE *file;

    (void)snprintf(path, sizeof(path), "%s/structs", dir);
    create_dir(path);
    file = create(path, "scale.hpcstruct");
    (void)fprintf(file,
                  "<?xml version=\"1.0\"?>\n<!DOCTYPE HPCToolkitStructure []>\n"
                  "<HPCToolkitStructure i=\"0\" version=\"4.9\" n=\"\">\n"
                  "<LM i=\"2\" n=\"/opt/scale/bin/scale\" has-calls=\"0\" v=\"{}\">\n"
                  "<F i=\"3\" n=\"/opt/scale/src/scale.c\">\n");
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        unsigned begin = (i + 1) * FUNCTION_LEN, line = 10 + 20 * i;

        (void)fprintf(file, "<P i=\"%u\" n=\"work_%u\" l=\"%u\" v=\"{[0x%x-0x%x)}\">\n",
                      id++, i, line, begin, begin + 1);
        for (unsigned j = 0; j < SITES; j++) {
            if (j == SITES / 2)
                (void)fprintf(file,
                              "<L i=\"%u\" l=\"%u\" f=\"/opt/scale/src/scale.c\" "
                              "v=\"{[0x%x-0x%x)}\">\n",
                              id++, line + j, begin + j * 16, begin + j * 16 + 1);
            (void)fprintf(file, "<S i=\"%u\" l=\"%u\" v=\"{[0x%x-0x%x)}\"/>\n", id++,
                          line + j, begin + j * 16, begin + j * 16 + 16);
        }
        (void)fprintf(file, "</L>\n</P>\n");
    }
    (void)fprintf(file, "</F>\n</LM>\n</HPCToolkitStructure>\n");
    finish(file);
}

static void write_profiles(const char *dir, unsigned profiles, uint64_t seed)
{
    static const char *const endings[] = {"hpcrun", "hpctrace"};
    static struct path paths[PATHS];
    static struct bytes files[2];
    static bool chosen[PATHS];

    make_paths(paths, seed);
    create_dir(dir);
    write_structure(dir);
    for (unsigned i = 0; i < profiles; i++) {
        struct random random = {seed + i + 1};
        unsigned count = choose_paths(paths, &random, chosen);

        make_profile(&files[0], paths, chosen, count, i, &random);
        make_trace(&files[1], chosen, &random);
        for (unsigned j = 0; j < 2; j++) {
            char name[64];
            FILE *file;

            (void)snprintf(name, sizeof(name), "scale-%06u-%03u-11ac0300-4974-0.%s",
                           i / THREADS, i % THREADS, endings[j]);
            file = create(dir, name);
            (void)fwrite(files[j].data, files[j].len, 1, file);
            finish(file);
        }
    }
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "calls") == 0) {
        unsigned tasks = (unsigned)strtoul(argv[3], NULL, 10);

        write_calls(argv[2], tasks > 0 ? tasks : 1, strtoull(argv[4], NULL, 10),
                    strtoull(argv[5], NULL, 10));
        return 0;
    }
    if (argc == 5 && strcmp(argv[1], "profiles") == 0) {
        write_profiles(argv[2], (unsigned)strtoul(argv[3], NULL, 10),
                       strtoull(argv[4], NULL, 10));
        return 0;
    }
    (void)fprintf(stderr, "usage: gen_scale calls DIR TASKS RECORDS SEED\n"
                          "       gen_scale profiles DIR PROFILES SEED\n");
    return 2;
}
