#include "support/sample_recording.h"

#include <string.h>

#include "base/bytes/record.h"
#include "model/calls/recording_memory.h"
#include "open/formats.h"

enum {
    PROGRAM = 0x400000,
    LIBRARY = 0x70000000,
    CHILD = 0x500000,
    MAIN_PID = 100,
    THREAD_TID = 101,
    CHILD_PID = 200,
    SECOND_TID = 102,
};

/* Numbers of the functions, in the order in which they are added. */
enum {
    F_PLT,
    F_MAIN,
    F_WORK,
    F_CXX,
    F_COLOR,
    F_FORK,
    F_LIBRARY,
    F_CHILD_MAIN,
    F_CHILD_WORK,
};

static const struct cn_enum_member colors[] = {{"RED", 0}, {"GREEN", 5}, {"BLUE", 6}};
static const struct cn_enum color = {"color", colors, 3};

static const struct cn_argument_spec work_arguments[] = {
    {.format = 'd', .index = 1, .size = 8, .text = "arg1"},
    {.format = 's', .index = 2, .text = "arg2/s"},
    {.format = 'c', .index = 3, .size = 1, .text = "arg3/c"},
    {.format = 'f', .index = 1, .is_float = true, .size = 8, .text = "fparg1/64"},
    {.format = 'p', .index = 4, .size = 8, .text = "arg4/p"},
};
static const struct cn_argument_spec work_result[] = {
    {.format = 'x', .size = 4, .text = "retval/x32"},
};
static const struct cn_argument_spec color_arguments[] = {
    {.format = 'e',
     .index = 1,
     .size = 8,
     .type_name = "color",
     .enumeration = &color,
     .text = "arg1/e:color"},
    {.format = 't', .index = 2, .size = 16, .type_name = "pair", .text = "arg2/t16:pair"},
};

/* The recording under construction and the time of the next record. */
struct sample {
    struct cn_memory_recording *m;
    bool is_big_endian;
    uint64_t now_ns;
};

static void add_functions(struct sample *s)
{
    struct cn_memory_recording *m = s->m;
    uint32_t module = cn_memory_recording_add_module(
        m, "/opt/sample/program", "0123456789abcdef0123456789abcdef01234567");
    const struct cn_call_function program[] = {
        {.name = "puts", .type = 'P', .offset = 0x500, .size = 0x10},
        {.name = "main",
         .type = 'T',
         .offset = 0x1000,
         .size = 0x100,
         .file = "main.c",
         .line = 12},
        {.name = "work",
         .type = 't',
         .offset = 0x1100,
         .size = 0x80,
         .file = "work.c",
         .line = 3,
         .arguments = {work_arguments, 5},
         .result = {work_result, 1}},
        {.name = "ns::Box::get",
         .raw_name = "_ZNK2ns3BoxIiE3getEv",
         .type = 'w',
         .offset = 0x1180,
         .size = 0x20},
        {.name = "paint",
         .type = 'T',
         .offset = 0x1200,
         .size = 0x40,
         .arguments = {color_arguments, 2}},
        {.name = "fork", .type = 'P', .offset = 0x1300, .size = 0x10},
    };

    for (size_t i = 0; i < sizeof(program) / sizeof(*program); i++) {
        struct cn_call_function f = program[i];

        f.module = module;
        (void)cn_memory_recording_add_function(m, f);
    }
    module = cn_memory_recording_add_module(m, "./libplugin.so", "");
    (void)cn_memory_recording_add_function(m,
                                           (struct cn_call_function){.name = "plugin_run",
                                                                     .module = module,
                                                                     .type = 'T',
                                                                     .offset = 0x700,
                                                                     .size = 0x100});
    module = cn_memory_recording_add_module(m, "/opt/sample/child", "");
    (void)cn_memory_recording_add_function(m, (struct cn_call_function){.name = "main",
                                                                        .module = module,
                                                                        .type = 'T',
                                                                        .offset = 0x800,
                                                                        .size = 0x80});
    (void)cn_memory_recording_add_function(m,
                                           (struct cn_call_function){.name = "child_work",
                                                                     .module = module,
                                                                     .type = 't',
                                                                     .offset = 0x880,
                                                                     .size = 0x40});
}

static void add_tasks(struct sample *s)
{
    struct cn_memory_recording *m = s->m;
    uint32_t first = cn_memory_recording_add_session(m, "00112233445566aa", MAIN_PID,
                                                     1000000000, "/opt/sample/program");
    uint32_t second = cn_memory_recording_add_session(m, "00112233445566bb", CHILD_PID,
                                                      1000004000, "/opt/sample/child");
    uint32_t task;

    cn_memory_recording_add_mapping(
        m, first, (struct cn_mapping){PROGRAM, PROGRAM + 0x2000, 0, 0, "r-xp"});
    cn_memory_recording_add_mapping(
        m, first, (struct cn_mapping){LIBRARY, LIBRARY + 0x800, 1000001500, 1, "r-xp"});
    cn_memory_recording_add_mapping(
        m, second, (struct cn_mapping){CHILD, CHILD + 0x1000, 0, 2, "r-xp"});
    task = cn_memory_recording_add_task(m, (struct cn_task){.tid = MAIN_PID,
                                                            .pid = MAIN_PID,
                                                            .parent = CN_NONE,
                                                            .name = "program",
                                                            .time_ns = 1000000010,
                                                            .has_session = true});
    cn_memory_recording_add_task_session(m, task, 0, first);
    for (uint32_t tid = THREAD_TID; tid <= SECOND_TID; tid++) {
        task = cn_memory_recording_add_task(
            m, (struct cn_task){.tid = tid,
                                .pid = MAIN_PID,
                                .parent = 0,
                                .name = "program",
                                .time_ns = 1000000100 + tid});
        cn_memory_recording_add_task_session(m, task, 0, first);
    }
    task = cn_memory_recording_add_task(m, (struct cn_task){.tid = CHILD_PID,
                                                            .pid = CHILD_PID,
                                                            .parent = 0,
                                                            .name = "child",
                                                            .time_ns = 1000003000,
                                                            .has_session = true,
                                                            .is_fork = true});
    cn_memory_recording_add_task_session(m, task, 1000003000, first);
    cn_memory_recording_add_task_session(m, task, 1000004000, second);
}

static const struct cn_bytes nothing = {(const uint8_t *)"", 0};

static uint64_t address_of(uint32_t function)
{
    static const uint64_t addresses[] = {
        PROGRAM + 0x500,  PROGRAM + 0x1018, PROGRAM + 0x1104,
        PROGRAM + 0x1180, PROGRAM + 0x1210, PROGRAM + 0x1300,
        LIBRARY + 0x704,  CHILD + 0x808,    CHILD + 0x884,
    };

    return addresses[function];
}

static void add_call(struct sample *s, uint32_t task, enum cn_call_kind kind,
                     uint32_t function, uint16_t depth, struct cn_bytes data)
{
    struct cn_call call = {
        .time_ns = s->now_ns,
        .address = address_of(function),
        .function = function,
        .depth = depth,
        .kind = (uint8_t)kind,
        .flags = data.len > 0 ? CN_CALL_HAS_DATA : 0,
    };

    s->now_ns += 10;
    cn_memory_recording_add_call(s->m, task, call, data);
}

static void enter(struct sample *s, uint32_t task, uint32_t function, uint16_t depth)
{
    add_call(s, task, CN_CALL_ENTER, function, depth, nothing);
}

static void leave(struct sample *s, uint32_t task, uint32_t function, uint16_t depth)
{
    add_call(s, task, CN_CALL_EXIT, function, depth, nothing);
}

static void add_event(struct sample *s, uint32_t task, uint64_t id, struct cn_bytes data)
{
    bool is_kernel = id >= CN_EVENT_SCHED_IN && id <= CN_EVENT_SCHED_BOTH_PREEMPT;
    struct cn_call call = {
        .time_ns = s->now_ns,
        .address = id,
        .function = CN_NONE,
        .depth = is_kernel ? (uint16_t)(1 + task % 2) : 0, /* its processor */
        .kind = CN_CALL_EVENT,
        .flags = data.len > 0 ? CN_CALL_HAS_DATA : 0,
    };

    s->now_ns += 10;
    cn_memory_recording_add_call(s->m, task, call, data);
}

static void put64(const struct sample *s, uint8_t *at, uint64_t value)
{
    if (s->is_big_endian)
        cn_u64_be_put(at, value);
    else
        cn_u64_put(at, value);
}

/* work(-2, "abc\n", 'w', 1.5, &main) = 0xbeef */
static void add_work(struct sample *s, uint32_t task, uint16_t depth)
{
    uint8_t data[40] = {0};
    double number = 1.5;
    uint64_t bits;

    memcpy(&bits, &number, sizeof(bits));
    put64(s, data, (uint64_t)-2);
    data[s->is_big_endian ? 9 : 8] = 4;
    memcpy(data + 10, "abc\n", 4);
    data[16] = 'w';
    put64(s, data + 20, bits);
    put64(s, data + 28, PROGRAM + 0x1010);
    add_call(s, task, CN_CALL_ENTER, F_WORK, depth, (struct cn_bytes){data, 36});
    memset(data, 0, sizeof(data));
    if (s->is_big_endian)
        cn_u32_be_put(data, 0xbeef);
    else
        cn_u32_put(data, 0xbeef);
    add_call(s, task, CN_CALL_EXIT, F_WORK, depth, (struct cn_bytes){data, 4});
}

/* paint(BLUE, pair{...}) */
static void add_paint(struct sample *s, uint32_t task, uint16_t depth)
{
    uint8_t data[24] = {0};

    put64(s, data, 6);
    memset(data + 8, 0x5a, 16);
    add_call(s, task, CN_CALL_ENTER, F_COLOR, depth, (struct cn_bytes){data, 24});
    leave(s, task, F_COLOR, depth);
}

static void add_main_calls(struct sample *s)
{
    uint8_t words[24] = {0};

    s->now_ns = 1000000020;
    add_event(s, 0, CN_EVENT_TASK_NAME, (struct cn_bytes){(const uint8_t *)"program", 7});
    enter(s, 0, F_MAIN, 0);
    add_work(s, 0, 1);
    put64(s, words, 4096);
    put64(s, words + 8, 2048);
    put64(s, words + 16, 1024);
    add_event(s, 0, CN_EVENT_READ_STATM, (struct cn_bytes){words, 24});
    enter(s, 0, F_CXX, 1);
    leave(s, 0, F_CXX, 1);
    add_paint(s, 0, 1);
    put64(s, words, (uint64_t)-4);
    add_event(s, 0, CN_EVENT_DIFF_STATM, (struct cn_bytes){words, 24});
    add_event(s, 0, CN_EVENT_USER, nothing);
    s->now_ns = 1000001600;
    enter(s, 0, F_LIBRARY, 1);
    add_event(s, 0, CN_EVENT_SCHED_OUT, nothing);
    s->now_ns = 1000002000;
    add_event(s, 0, CN_EVENT_SCHED_IN, nothing);
    leave(s, 0, F_LIBRARY, 1);
    enter(s, 0, F_FORK, 1);
    s->now_ns = 1000003100;
    leave(s, 0, F_FORK, 1);
    add_event(s, 0, CN_EVENT_EXTERN,
              (struct cn_bytes){(const uint8_t *)"the weather changed", 19});
    enter(s, 0, F_PLT, 1);
    leave(s, 0, F_PLT, 1);
    leave(s, 0, F_MAIN, 0);
    add_event(s, 0, CN_EVENT_TASK_EXIT, nothing);
}

static void add_thread_calls(struct sample *s, uint32_t task)
{
    struct cn_call lost = {.function = CN_NONE, .address = 3, .kind = CN_CALL_LOST};

    s->now_ns = 1000000300;
    add_event(s, task, CN_EVENT_TASK_NEW, nothing);
    for (unsigned i = 0; i < 4; i++) {
        enter(s, task, F_CXX, 0);
        enter(s, task, F_PLT, 1);
        leave(s, task, F_PLT, 1);
        leave(s, task, F_CXX, 0);
    }
    add_event(s, task, CN_EVENT_SCHED_OUT_PREEMPT, nothing);
    lost.time_ns = s->now_ns;
    cn_memory_recording_add_call(s->m, task, lost, nothing);
    enter(s, task, F_CXX, 0);
}

static void add_child_calls(struct sample *s)
{
    struct cn_call unknown = {
        .time_ns = 1000004200,
        .address = 0x123456,
        .function = CN_NONE,
        .depth = 1,
    };

    s->now_ns = 1000003200;
    leave(s, 3, F_FORK, 1);
    s->now_ns = 1000004100;
    enter(s, 3, F_CHILD_MAIN, 0);
    cn_memory_recording_add_call(s->m, 3, unknown, nothing);
    unknown.kind = CN_CALL_EXIT;
    unknown.time_ns = 1000004210;
    cn_memory_recording_add_call(s->m, 3, unknown, nothing);
    s->now_ns = 1000004220;
    enter(s, 3, F_CHILD_WORK, 1);
    leave(s, 3, F_CHILD_WORK, 1);
    leave(s, 3, F_CHILD_MAIN, 0);
}

static struct cn_recording *build(bool is_big_endian)
{
    struct sample s = {cn_memory_recording_new(), is_big_endian, 0};

    if (is_big_endian)
        cn_memory_recording_set_big_endian(s.m);
    cn_memory_recording_add_fact(s.m, "exename", "/opt/sample/program");
    cn_memory_recording_add_fact(s.m, "exit_status", "0");
    cn_memory_recording_add_fact(s.m, "cmdline", "cairn record program");
    cn_memory_recording_add_fact(s.m, "cpuinfo:nr_cpus", "2 / 2 (online/possible)");
    cn_memory_recording_add_fact(s.m, "cpuinfo:desc", "Abacus");
    cn_memory_recording_add_fact(s.m, "pattern_type", "regex");
    cn_memory_recording_add_event_name(s.m, CN_EVENT_USER, "sample:tick");
    add_functions(&s);
    add_tasks(&s);
    add_main_calls(&s);
    add_thread_calls(&s, 1);
    add_thread_calls(&s, 2);
    add_child_calls(&s);
    return cn_memory_recording_finish(s.m);
}

struct cn_recording *cn_sample_recording(void)
{
    return build(false);
}

struct cn_recording *cn_sample_recording_big_endian(void)
{
    return build(true);
}

bool cn_sample_recording_write(const char *path, struct cn_error *err)
{
    struct cn_recording *rec = cn_sample_recording();
    bool ok = cn_format_find("uftrace")->write_recording(rec, path, NULL, err);

    cn_recording_close(rec);
    return ok;
}
