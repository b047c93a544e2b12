/* A fuzz target as a test: runs it on its seeds, on the files of its corpus and, always
 * in the same order, on damaged copies of them.
 *
 *     fuzz_NAME_replay [CORPUS_FOLDER]
 *     fuzz_NAME_replay --write-seeds FOLDER
 *
 * When an input ends the process, it is kept as `crash-input` in the current folder.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/files/file.h"
#include "base/text.h"
#include "support/effort.h"
#include "support/fuzz.h"

enum {
    BUDGET_S = 1,    /* for all mutations together */
    THOROUGH_S = 20, /* the same with CAIRN_THOROUGH=1 */
    HANG_S = 20,     /* for one input; a sanitizer slows things down */
    ROUNDS = 20000,  /* of random damage, where the budget allows */
    EVERY_MAX = 512, /* inputs up to this long are damaged at every place */
};

struct input {
    uint8_t *data;
    size_t len;
};

/* What the callback of cn_fuzz_seeds() and the signal handler must reach. */
static struct input *inputs;
static size_t input_count, input_capacity;
static const uint8_t *volatile running;
static volatile size_t running_len;

const char *__asan_default_options(void);
const char *__ubsan_default_options(void);

/* End in SIGABRT, where the handler can keep the input. Leaks and traps: see sanitizer/asan_options.c. */
const char *__asan_default_options(void)
{
#ifdef __aarch64__
    return "abort_on_error=1:handle_sigtrap=1:detect_leaks=0";
#else
    return "abort_on_error=1:handle_sigill=1";
#endif
}

const char *__ubsan_default_options(void)
{
    return "abort_on_error=1:print_stacktrace=1";
}

static void keep_input(int signal_number)
{
    static const char kept[] = "input kept as crash-input\n";
    int fd = open("crash-input", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);

    if (running && fd >= 0 && write(fd, running, running_len) == (ssize_t)running_len)
        (void)!write(STDERR_FILENO, kept, sizeof(kept) - 1);
    (void)signal(signal_number, SIG_DFL);
    (void)raise(signal_number);
}

/* A copy of exactly this length: a read one byte beyond it is seen. */
static void run_one(const uint8_t *data, size_t len)
{
    uint8_t *copy = malloc(len ? len : 1);

    if (!copy)
        abort();
    memcpy(copy, data, len);
    running = copy;
    running_len = len;
    (void)alarm(HANG_S);
    (void)LLVMFuzzerTestOneInput(copy, len);
    (void)alarm(0);
    running = NULL;
    free(copy);
}

static void add_input(const uint8_t *data, size_t len)
{
    struct input input = {.data = cn_alloc(len ? len : 1, 1), .len = len};

    if (len > 0)
        memcpy(input.data, data, len);
    inputs = cn_grow(inputs, input_count, &input_capacity, sizeof(*inputs));
    inputs[input_count++] = input;
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Sorted by name, so that the order is the same everywhere. */
static bool add_corpus(const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_visible, alphasort);
    bool ok = true;

    for (int i = 0; i < count; i++) {
        struct cn_error err = {0};
        struct cn_file file = {0};

        if (cn_file_open_at(&file, folder, entries[i]->d_name, &err)) {
            add_input(file.bytes.ptr, file.bytes.len);
        } else {
            (void)fprintf(stderr, "%s\n", err.text);
            ok = false;
        }
        cn_file_close(&file);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return ok;
}

static bool write_seeds(const char *folder)
{
    for (size_t i = 0; i < input_count; i++) {
        struct cn_text path = {0};
        FILE *file;
        bool ok;

        cn_text_printf(&path, "%s/seed-%03zu", folder, i);
        file = fopen(path.chars, "wb");
        ok = file && fwrite(inputs[i].data, 1, inputs[i].len, file) == inputs[i].len;
        if (file && fclose(file) != 0)
            ok = false;
        if (!ok)
            perror(path.chars);
        cn_text_done(&path);
        if (!ok)
            return false;
    }
    return true;
}

static uint64_t random_next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t random_below(uint64_t *state, size_t limit)
{
    return (size_t)(random_next(state) % limit);
}

static double now_s(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Cut at every length and flip every bit; at regular distances when there are many. */
static void damage_everywhere(const struct input *input, double deadline_s)
{
    size_t step = 1 + input->len / EVERY_MAX;

    for (size_t at = 0; at < input->len && now_s() < deadline_s; at += step) {
        run_one(input->data, at);
        for (unsigned bit = 0; bit < 8; bit++) {
            input->data[at] ^= (uint8_t)(1u << bit);
            run_one(input->data, input->len);
            input->data[at] ^= (uint8_t)(1u << bit);
        }
    }
}

static void put_interesting(uint8_t *data, size_t len, uint64_t *state)
{
    static const uint64_t values[] = {
        0, 1, 0x7f, 0xff, 0x7fff, 0xffff, 0x7fffffff, 0xffffffff, INT64_MAX, UINT64_MAX,
    };
    uint64_t value = values[random_below(state, sizeof(values) / sizeof(values[0]))];
    size_t width = (size_t)1 << random_below(state, 4);
    size_t at = random_below(state, len);

    for (size_t i = 0; i < width && at + i < len; i++)
        data[at + i] = (uint8_t)(value >> (8 * i));
}

/* Copy a piece of another input over a piece of this one. */
static void paste_other(uint8_t *data, size_t len, uint64_t *state)
{
    const struct input *from = &inputs[random_below(state, input_count)];
    size_t to_off = random_below(state, len);
    size_t from_off = from->len ? random_below(state, from->len) : 0;
    size_t room =
        len - to_off < from->len - from_off ? len - to_off : from->len - from_off;

    if (room > 0)
        memcpy(data + to_off, from->data + from_off, 1 + random_below(state, room));
}

static void damage_at_random(const struct input *input, uint64_t *state)
{
    size_t len = input->len ? input->len : 1 + random_below(state, 64);
    uint8_t *copy = cn_alloc(len, 1);
    size_t count = 1 + random_below(state, 6);

    memcpy(copy, input->data, input->len);
    for (size_t i = 0; i < count; i++) {
        switch (random_below(state, 5)) {
        case 0:
            copy[random_below(state, len)] = (uint8_t)random_next(state);
            break;
        case 1:
            copy[random_below(state, len)] ^= (uint8_t)(1u << random_below(state, 8));
            break;
        case 2:
            paste_other(copy, len, state);
            break;
        case 3:
            len -= random_below(state, len) / 4;
            break;
        default:
            put_interesting(copy, len, state);
            break;
        }
    }
    run_one(copy, len);
    free(copy);
}

static size_t replay_all(void)
{
    double budget_s = cn_test_is_thorough() ? THOROUGH_S : BUDGET_S;
    double deadline_s = now_s() + budget_s;
    uint64_t state = cn_test_seed(UINT64_C(0x9e3779b97f4a7c15)) | 1;
    size_t rounds = 0;

    for (size_t i = 0; i < input_count; i++)
        run_one(inputs[i].data, inputs[i].len);
    /* Half of the time for the systematic part, shared fairly by the inputs. */
    for (size_t i = 0; i < input_count; i++)
        damage_everywhere(&inputs[i], now_s() + budget_s / 2.0 / (double)input_count);
    while (rounds < ROUNDS && now_s() < deadline_s)
        damage_at_random(&inputs[rounds++ % input_count], &state);
    return rounds;
}

int main(int argc, char **argv)
{
    bool ok = true;

    (void)signal(SIGABRT, keep_input);
    (void)signal(SIGALRM, keep_input);
    cn_fuzz_seeds(add_input);
    if (argc == 3 && strcmp(argv[1], "--write-seeds") == 0) {
        ok = write_seeds(argv[2]);
    } else {
        add_input((const uint8_t *)"", 0);
        if (argc == 2)
            ok = add_corpus(argv[1]);
        printf("%zu inputs, ", input_count);
        printf("%zu random mutations\n", replay_all());
    }
    for (size_t i = 0; i < input_count; i++)
        free(inputs[i].data);
    free(inputs);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
