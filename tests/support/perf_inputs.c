#include "support/perf_inputs.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/bytes/bytes.h"
#include "base/bytes/record.h"
#include "base/bytes/wire.h"
#include "base/text.h"
#include "formats/exchange/perf/format.h"
#include "support/gpu_inputs.h"

static void put_pair(struct cn_text *text, uint32_t low, uint32_t high)
{
    cn_wire_u64(text, (uint64_t)high << 32 | low);
}

static void put_head(struct cn_text *text, uint32_t type, uint16_t misc, uint16_t size)
{
    cn_wire_u64(text, (uint64_t)size << 48 | (uint64_t)misc << 32 | type);
}

static void put_attr(struct cn_text *text, uint64_t config, uint64_t flags)
{
    put_pair(text, 1, cn_perf_attr_size);
    cn_wire_u64(text, config);
    cn_wire_u64(text, 1000);
    cn_wire_u64(text, CN_PERF_HAS_IP | CN_PERF_HAS_TID | CN_PERF_HAS_TIME |
                          CN_PERF_HAS_CALLCHAIN | CN_PERF_HAS_PERIOD |
                          CN_PERF_HAS_IDENTIFIER);
    cn_wire_u64(text, 0);
    cn_wire_u64(text, CN_PERF_FLAG_SAMPLE_ID_ALL | flags);
    cn_text_fill(text, '\0', cn_perf_attr_size - 0x30);
}

/* What other records end with. */
static void put_trailer(struct cn_text *text, uint64_t time_ns)
{
    put_pair(text, 7, 7);
    cn_wire_u64(text, time_ns);
    cn_wire_u64(text, 100);
}

static void put_mapping(struct cn_text *text, uint32_t pid, uint64_t begin,
                        uint64_t time_ns, const char path[16])
{
    put_head(text, CN_PERF_MMAP, 2, 8 + 32 + 16 + 24);
    put_pair(text, pid, pid);
    cn_wire_u64(text, begin);
    cn_wire_u64(text, 0x1000);
    cn_wire_u64(text, 0);
    cn_text_add(text, path, 16);
    put_trailer(text, time_ns);
}

static void put_sample(struct cn_text *text, uint64_t id, uint32_t pid, uint64_t time_ns)
{
    put_head(text, CN_PERF_SAMPLE, 2, 8 + 6 * 8 + 4 * 8);
    cn_wire_u64(text, id);
    cn_wire_u64(text, 0x1010);
    put_pair(text, pid, pid + 1);
    cn_wire_u64(text, time_ns);
    cn_wire_u64(text, 250);
    cn_wire_u64(text, 4);
    cn_wire_u64(text, CN_PERF_CONTEXT_USER);
    cn_wire_u64(text, 0x1010);
    cn_wire_u64(text, 0x1020);
    cn_wire_u64(text, 0x9999);
}

static void put_data(struct cn_text *text)
{
    put_sample(text, 101, 8, 40); /* out of order */
    put_mapping(text, 7, 0x1000, 5, "/none/app\0\0\0\0\0\0");
    put_head(text, CN_PERF_FORK, 0, 8 + 24 + 24);
    put_pair(text, 8, 7);
    put_pair(text, 8, 7);
    cn_wire_u64(text, 10);
    put_trailer(text, 10);
    put_sample(text, 100, 7, 20);
    put_head(text, CN_PERF_COMM, CN_PERF_MISC_COMM_EXEC, 8 + 8 + 16 + 24);
    put_pair(text, 7, 7);
    cn_text_add(text, "other\0\0\0\0\0\0\0\0\0\0\0", 16);
    put_trailer(text, 50);
    put_sample(text, 100, 7, 60);
}

/* As perf does: a stream that is flushed and never ended, cut without regard to records. */
static void pack_data(struct cn_text *data, uint32_t type)
{
    enum { PIECE_LEN = 24, ROOM = 4096 };
    ZSTD_CCtx *zstd = ZSTD_createCCtx();
    char packed[ROOM];
    ZSTD_inBuffer in = {data->chars, data->len, 0};
    ZSTD_outBuffer out = {packed, sizeof(packed), 0};
    size_t at = 0;

    (void)ZSTD_compressStream2(zstd, &out, &in, ZSTD_e_flush);
    (void)ZSTD_freeCCtx(zstd);
    cn_text_clear(data);
    while (at < out.pos) {
        size_t len = out.pos - at < PIECE_LEN ? out.pos - at : PIECE_LEN;
        size_t room = type == CN_PERF_COMPRESSED2 ? PIECE_LEN + 8 : len;

        put_head(data, type, 0, (uint16_t)(8 + room));
        if (type == CN_PERF_COMPRESSED2)
            cn_wire_u64(data, len);
        cn_text_add(data, packed + at, len);
        if (type == CN_PERF_COMPRESSED2)
            cn_text_fill(data, '\0', PIECE_LEN - len);
        at += len;
    }
}

uint8_t *cn_test_perf(enum cn_test_perf_form form, size_t *len)
{
    struct cn_text text = {0}, data = {0};
    uint64_t attrs_off = cn_perf_header_size + 16;

    put_data(&data);
    if (form >= CN_TEST_PERF_PACKED)
        pack_data(&data,
                  form == CN_TEST_PERF_PACKED ? CN_PERF_COMPRESSED : CN_PERF_COMPRESSED2);
    cn_text_str_add(&text, CN_PERF_MAGIC);
    if (form == CN_TEST_PERF_PIPE) {
        cn_wire_u64(&text, CN_PERF_PIPE_HEADER_LEN);
        for (uint64_t i = 0; i < 2; i++) {
            put_head(&text, CN_PERF_HEADER_ATTR, 0, 8 + cn_perf_attr_size + 8);
            put_attr(&text, i ? 2 : 0, 0);
            cn_wire_u64(&text, 100 + i);
        }
    } else {
        cn_wire_u64(&text, cn_perf_header_size);
        cn_wire_u64(&text, cn_perf_attr_size + cn_perf_section_size);
        cn_wire_u64(&text, attrs_off);
        cn_wire_u64(&text, 2 * (cn_perf_attr_size + cn_perf_section_size));
        cn_wire_u64(&text, attrs_off + 2 * (cn_perf_attr_size + cn_perf_section_size));
        cn_wire_u64(&text, data.len);
        for (size_t i = 0; i < 6; i++)
            cn_wire_u64(&text, 0);
        cn_wire_u64(&text, 100);
        cn_wire_u64(&text, 101);
        for (uint64_t i = 0; i < 2; i++) {
            put_attr(&text, i ? 2 : 0, 0);
            cn_wire_u64(&text, cn_perf_header_size + 8 * i);
            cn_wire_u64(&text, 8);
        }
    }
    cn_text_add(&text, data.chars, data.len);
    cn_text_done(&data);
    *len = text.len;
    return (uint8_t *)text.chars;
}

static void put_stack(struct cn_text *text, uint64_t id, uint64_t address,
                      uint64_t time_ns)
{
    put_head(text, CN_PERF_SAMPLE, 2, 8 + 6 * 8 + 2 * 8);
    cn_wire_u64(text, id);
    cn_wire_u64(text, address);
    put_pair(text, 7, 7);
    cn_wire_u64(text, time_ns);
    cn_wire_u64(text, 250);
    cn_wire_u64(text, 2);
    cn_wire_u64(text, CN_PERF_CONTEXT_USER);
    cn_wire_u64(text, address);
}

static void put_switch(struct cn_text *text, uint16_t misc, uint64_t time_ns)
{
    put_head(text, CN_PERF_SWITCH, misc, 8 + 24);
    put_trailer(text, time_ns);
}

uint8_t *cn_test_perf_switches(size_t *len)
{
    struct cn_text text = {0};

    cn_text_str_add(&text, CN_PERF_MAGIC);
    cn_wire_u64(&text, CN_PERF_PIPE_HEADER_LEN);
    for (uint64_t i = 0; i < 2; i++) {
        put_head(&text, CN_PERF_HEADER_ATTR, 0, 8 + cn_perf_attr_size + 8);
        put_attr(&text, i ? CN_PERF_SOFTWARE_SWITCHES : 0, i ? 0 : CN_PERF_FLAG_SWITCH);
        cn_wire_u64(&text, 100 + i);
    }
    put_mapping(&text, 7, 0x1000, 1, "/none/work\0\0\0\0\0");
    put_mapping(&text, 7, 0x2000, 1, "/none/wait\0\0\0\0\0");
    put_head(&text, CN_PERF_COMM, 0, 8 + 8 + 16 + 24);
    put_pair(&text, 7, 7);
    cn_text_add(&text, "worker\0\0\0\0\0\0\0\0\0", 16);
    put_trailer(&text, 10);
    put_stack(&text, 100, 0x1010, 20);
    put_stack(&text, 101, 0x2010, 40);
    put_switch(&text, CN_PERF_MISC_SWITCH_OUT, 50);
    put_switch(&text, 0, 90);
    put_stack(&text, 100, 0x1010, 100);
    put_switch(&text, CN_PERF_MISC_SWITCH_OUT | CN_PERF_MISC_SWITCH_OUT_PREEMPT, 110);
    put_switch(&text, 0, 115);
    put_head(&text, CN_PERF_EXIT, 0, 8 + 24 + 24);
    put_pair(&text, 7, 7);
    put_pair(&text, 7, 7);
    cn_wire_u64(&text, 120);
    put_trailer(&text, 120);
    *len = text.len;
    return (uint8_t *)text.chars;
}

uint8_t *cn_test_perf_gpu(size_t *len)
{
    struct cn_text text = {0};
    size_t gpu_len, off = cn_test_gpu_records_off();
    uint8_t *gpu = cn_test_gpu_file(&gpu_len);
    struct cn_perf_gpu body = {.magic = CN_PERF_GPU_MAGIC,
                               .time_ns = 30,
                               .pid = CN_TEST_GPU_PID,
                               .tid = CN_TEST_GPU_TID};

    cn_text_str_add(&text, CN_PERF_MAGIC);
    cn_wire_u64(&text, CN_PERF_PIPE_HEADER_LEN);
    put_head(&text, CN_PERF_HEADER_ATTR, 0, 8 + cn_perf_attr_size + 8);
    put_attr(&text, 0, 0);
    cn_wire_u64(&text, 100);
    put_mapping(&text, CN_TEST_GPU_PID, 0x400000, 1, "/none/work\0\0\0\0\0");
    put_stack(&text, 100, 0x1010, 20);
    put_head(&text, CN_PERF_HEADER_EVENT_TYPE, 0,
             (uint16_t)(8 + cn_perf_gpu_size + gpu_len - off));
    (void)cn_perf_gpu_encode(&body, (uint8_t *)cn_text_room(&text, cn_perf_gpu_size));
    cn_text_advance(&text, cn_perf_gpu_size);
    cn_text_add(&text, (const char *)gpu + off, gpu_len - off);
    free(gpu);
    *len = text.len;
    return (uint8_t *)text.chars;
}

static void put_memory(struct cn_text *text, struct cn_perf_memory body, uint64_t address)
{
    body.magic = CN_PERF_MEMORY_MAGIC;
    body.pid = body.tid = 7;
    body.address_count = address > 0;
    put_head(text, CN_PERF_HEADER_EVENT_TYPE, 0,
             (uint16_t)(8 + cn_perf_memory_size + 8 * body.address_count));
    (void)cn_perf_memory_encode(&body,
                                (uint8_t *)cn_text_room(text, cn_perf_memory_size));
    cn_text_advance(text, cn_perf_memory_size);
    if (address > 0)
        cn_wire_u64(text, address);
}

uint8_t *cn_test_perf_memory(size_t *len)
{
    struct cn_text text = {0};

    cn_text_str_add(&text, CN_PERF_MAGIC);
    cn_wire_u64(&text, CN_PERF_PIPE_HEADER_LEN);
    put_head(&text, CN_PERF_HEADER_ATTR, 0, 8 + cn_perf_attr_size + 8);
    put_attr(&text, 0, 0);
    cn_wire_u64(&text, 100);
    put_mapping(&text, 7, 0x1000, 1, "/none/work\0\0\0\0\0");
    put_stack(&text, 100, 0x1010, 20);
    /* The file is in no order of time. */
    put_memory(&text,
               (struct cn_perf_memory){
                   .time_ns = 60, .kind = CN_PERF_IS_RELEASE, .address = 0x9000},
               0);
    put_memory(&text,
               (struct cn_perf_memory){.time_ns = 40,
                                       .kind = CN_PERF_IS_ALLOC,
                                       .address = 0x8000,
                                       .size = 600,
                                       .usable_size = 608},
               0x1010);
    put_memory(&text,
               (struct cn_perf_memory){.time_ns = 50,
                                       .kind = CN_PERF_IS_ALLOC,
                                       .address = 0x9000,
                                       .size = 400,
                                       .usable_size = 400},
               0x1010);
    put_memory(&text,
               (struct cn_perf_memory){.time_ns = 70,
                                       .kind = CN_PERF_IS_ALLOC,
                                       .address = 0xa000,
                                       .size = 100,
                                       .flags = CN_PERF_MEMORY_IS_MAPPING},
               0x1020);
    put_memory(&text,
               (struct cn_perf_memory){.time_ns = 80,
                                       .kind = CN_PERF_IS_MEMORY_END,
                                       .size = 1,
                                       .flags = CN_PERF_MEMORY_IS_CUT},
               0);
    *len = text.len;
    return (uint8_t *)text.chars;
}

/* An event with processors, without chains: of the type and with the fields given. */
static void put_event(struct cn_text *text, uint64_t id, uint32_t type, uint64_t fields,
                      const char *name)
{
    size_t len = (strlen(name) + 8) & ~(size_t)7;

    put_head(text, CN_PERF_HEADER_ATTR, 0, 8 + cn_perf_attr_size + 8);
    put_pair(text, type, cn_perf_attr_size);
    cn_wire_u64(text, type == CN_PERF_TYPE_TRACEPOINT ? id : id - 100);
    cn_wire_u64(text, 1000);
    cn_wire_u64(text, CN_PERF_HAS_IP | CN_PERF_HAS_TID | CN_PERF_HAS_TIME |
                          CN_PERF_HAS_CPU | CN_PERF_HAS_PERIOD | CN_PERF_HAS_IDENTIFIER |
                          fields);
    cn_wire_u64(text, 0);
    cn_wire_u64(text, 0); /* records without the fields of samples */
    cn_text_fill(text, '\0', cn_perf_attr_size - 0x30);
    cn_wire_u64(text, id);
    put_head(text, CN_PERF_EVENT_UPDATE, 0, (uint16_t)(8 + 16 + len));
    cn_wire_u64(text, CN_PERF_UPDATE_NAME);
    cn_wire_u64(text, id);
    cn_text_str_add(text, name);
    cn_text_fill(text, '\0', len - strlen(name));
}

static void put_run(struct cn_text *text, uint64_t id, uint32_t tid, uint64_t time_ns,
                    uint32_t processor, size_t raw_len)
{
    put_head(text, CN_PERF_SAMPLE, 2,
             (uint16_t)(8 + 6 * 8 + (raw_len > 0 ? 4 + raw_len : 0)));
    cn_wire_u64(text, id);
    cn_wire_u64(text, 0x1010);
    put_pair(text, 7, tid);
    cn_wire_u64(text, time_ns);
    put_pair(text, processor, 0);
    cn_wire_u64(text, 1000);
}

static void put_u32(struct cn_text *text, uint32_t value)
{
    uint8_t bytes[4];

    cn_u32_put(bytes, value);
    cn_text_add(text, (const char *)bytes, sizeof(bytes));
}

/* What tracepoints begin with, a name and a thread. */
static void put_fields(struct cn_text *text, size_t len, uint32_t by, uint32_t tid)
{
    put_u32(text, (uint32_t)len);
    put_u32(text, 101);
    put_u32(text, by);
    cn_text_add(text, "worker\0\0\0\0\0\0\0\0\0", 16);
    put_u32(text, tid);
    put_u32(text, 120);
}

static void put_sched_switch(struct cn_text *text, uint64_t time_ns, uint32_t processor,
                             uint32_t from, uint64_t state, uint32_t to)
{
    put_run(text, 101, from, time_ns, processor, 68);
    put_fields(text, 68, from, from);
    cn_wire_u64(text, state);
    cn_text_add(text, "worker\0\0\0\0\0\0\0\0\0", 16);
    put_u32(text, to);
    put_u32(text, 120);
    put_u32(text, 0);
}

static void put_sched_waking(struct cn_text *text, uint64_t time_ns, uint32_t processor,
                             uint32_t from, uint32_t to)
{
    put_run(text, 102, from, time_ns, processor, 36);
    put_fields(text, 36, from, to);
    put_u32(text, 1);
}

uint8_t *cn_test_perf_processors(bool has_switches, size_t *len)
{
    struct cn_text text = {0};

    cn_text_str_add(&text, CN_PERF_MAGIC);
    cn_wire_u64(&text, CN_PERF_PIPE_HEADER_LEN);
    put_event(&text, 100, CN_PERF_TYPE_SOFTWARE, 0, "cpu-clock");
    put_event(&text, 101, CN_PERF_TYPE_TRACEPOINT, CN_PERF_HAS_RAW, "sched:sched_switch");
    put_event(&text, 102, CN_PERF_TYPE_TRACEPOINT, CN_PERF_HAS_RAW, "sched:sched_waking");
    put_mapping(&text, 7, 0x1000, 1, "/none/work\0\0\0\0\0");
    put_run(&text, 100, 7, 2000, 0, 0);
    put_run(&text, 100, 8, 2500, 1, 0);
    put_run(&text, 100, 7, 3100, 0, 0);
    put_sched_waking(&text, 3200, 0, 7, 8);
    if (has_switches) {
        put_sched_switch(&text, 3300, 0, 7, 1, 8);
        put_sched_switch(&text, 3400, 0, 8, 0, 7);
        put_sched_switch(&text, 3500, 0, 7, 0x100, 8);
    } else {
        put_sched_switch(&text, 3300, 0, 7, 1, 99);
    }
    put_run(&text, 100, 7, 9000, 1, 0);
    *len = text.len;
    return (uint8_t *)text.chars;
}

/* A word of the header: what is of the file, not of records. */
static void put_feature(struct cn_text *text, uint64_t feature, const char *value)
{
    size_t len = (strlen(value) + 8) & ~(size_t)7;

    put_head(text, CN_PERF_HEADER_FEATURE, 0, (uint16_t)(8 + 8 + 4 + len + 4));
    cn_wire_u64(text, feature);
    put_u32(text, (uint32_t)len);
    cn_text_str_add(text, value);
    cn_text_fill(text, '\0', len - strlen(value) + 4);
}

/* A system call of x86_64 begins, with three arguments. */
static void put_enter(struct cn_text *text, uint64_t time_ns, uint64_t number,
                      uint64_t first, uint64_t second, uint64_t third)
{
    put_run(text, 101, 7, time_ns, 0, 68);
    put_u32(text, 68);
    cn_wire_u64(text, 101);
    cn_wire_u64(text, number);
    cn_wire_u64(text, first);
    cn_wire_u64(text, second);
    cn_wire_u64(text, third);
    cn_text_fill(text, '\0', 3 * 8 + 4);
}

static void put_exit(struct cn_text *text, uint64_t time_ns, uint64_t number,
                     int64_t result)
{
    put_run(text, 102, 7, time_ns, 0, 28);
    put_u32(text, 28);
    cn_wire_u64(text, 102);
    cn_wire_u64(text, number);
    cn_wire_u64(text, (uint64_t)result);
    put_u32(text, 0);
}

static void put_file_name(struct cn_text *text, struct cn_perf_file_name body,
                          const char *name)
{
    size_t len = (strlen(name) + 8) & ~(size_t)7;

    body.magic = CN_PERF_FILE_MAGIC;
    body.pid = body.tid = 7;
    put_head(text, CN_PERF_HEADER_EVENT_TYPE, 0,
             (uint16_t)(8 + cn_perf_file_name_size + len));
    (void)cn_perf_file_name_encode(&body,
                                   (uint8_t *)cn_text_room(text, cn_perf_file_name_size));
    cn_text_advance(text, cn_perf_file_name_size);
    cn_text_str_add(text, name);
    cn_text_fill(text, '\0', len - strlen(name));
}

enum {
    READ = 0,
    WRITE = 1,
    CLOSE = 3,
    MREMAP = 25,
    DUP = 32,
    SOCKET = 41,
    BIND = 49,
    OPENAT = 257,
    NEWFSTATAT = 262,
    ACCEPT4 = 288
};

/* The request of a disk, or its completion. */
static void put_request_of(struct cn_text *text, uint64_t disk, uint64_t id,
                           uint64_t time_ns, uint64_t sector, uint32_t len,
                           const char *letters)
{
    put_run(text, id, 7, time_ns, 0, 68);
    put_u32(text, 68);
    cn_wire_u64(text, id);
    cn_wire_u64(text, disk << 20);
    cn_wire_u64(text, sector);
    put_u32(text, len / 512);
    put_u32(text, id == 103 ? len : 0);
    cn_text_fill(text, '\0', 2);
    cn_text_str_add(text, letters);
    cn_text_fill(text, '\0', 36 - 2 - strlen(letters));
}

static void put_request(struct cn_text *text, uint64_t id, uint64_t time_ns,
                        uint64_t sector, uint32_t len, const char *letters)
{
    put_request_of(text, 253, id, time_ns, sector, len, letters);
}

/* The thread listens at a port, and another one connects. */
static void put_server(struct cn_text *text)
{
    put_enter(text, 150, SOCKET, 2, 1, 0);
    put_exit(text, 151, SOCKET, 6);
    put_enter(text, 152, BIND, 6, 0x5000, 16);
    put_file_name(text,
                  (struct cn_perf_file_name){.time_ns = 153, .kind = CN_PERF_IS_ARGUMENT},
                  "0.0.0.0:80");
    put_exit(text, 154, BIND, 0);
    put_enter(text, 155, ACCEPT4, 6, 0x5000, 0x5010);
    put_file_name(text,
                  (struct cn_perf_file_name){.time_ns = 156, .kind = CN_PERF_IS_ARGUMENT},
                  "10.0.0.9:5000");
    put_exit(text, 157, ACCEPT4, 10);
    put_enter(text, 160, READ, 10, 0x5000, 1000);
    put_exit(text, 170, READ, 70);
}

static void put_fault(struct cn_text *text, uint64_t id, uint64_t at, uint64_t address)
{
    put_head(text, CN_PERF_SAMPLE, 2, 8 + 7 * 8);
    cn_wire_u64(text, id);
    cn_wire_u64(text, 0x1010);
    put_pair(text, 7, 7);
    cn_wire_u64(text, at);
    cn_wire_u64(text, address);
    put_pair(text, 0, 0);
    cn_wire_u64(text, 1000);
}

static void put_faults(struct cn_text *text)
{
    put_fault(text, 105, 171, 0x1800);
    put_request(text, 103, 172, 70, 4096, "R");
    put_request(text, 104, 173, 70, 0, "R");
    put_fault(text, 106, 174, 0x1ff8);
    put_enter(text, 175, MREMAP, 0x1000, 0x1000, 0x2000);
    put_exit(text, 176, MREMAP, 0x5000000);
    put_fault(text, 105, 177, 0x5001ff8);
    put_fault(text, 105, 178, 0x5002000);
}

uint8_t *cn_test_perf_io(size_t *len)
{
    struct cn_text text = {0};

    cn_text_str_add(&text, CN_PERF_MAGIC);
    cn_wire_u64(&text, CN_PERF_PIPE_HEADER_LEN);
    put_event(&text, 100, CN_PERF_TYPE_SOFTWARE, 0, "cpu-clock");
    put_event(&text, 101, CN_PERF_TYPE_TRACEPOINT, CN_PERF_HAS_RAW,
              "raw_syscalls:sys_enter");
    put_event(&text, 102, CN_PERF_TYPE_TRACEPOINT, CN_PERF_HAS_RAW,
              "raw_syscalls:sys_exit");
    put_event(&text, 103, CN_PERF_TYPE_TRACEPOINT, CN_PERF_HAS_RAW,
              "block:block_rq_issue");
    put_event(&text, 104, CN_PERF_TYPE_TRACEPOINT, CN_PERF_HAS_RAW,
              "block:block_rq_complete");
    put_event(&text, 105, CN_PERF_TYPE_SOFTWARE, CN_PERF_HAS_ADDR, "minor-faults");
    put_event(&text, 106, CN_PERF_TYPE_SOFTWARE, CN_PERF_HAS_ADDR, "major-faults");
    put_feature(&text, CN_PERF_FEATURE_ARCH, "x86_64");
    put_mapping(&text, 7, 0x1000, 1, "/none/work\0\0\0\0\0");
    put_file_name(&text,
                  (struct cn_perf_file_name){.time_ns = 10, .kind = CN_PERF_IS_DIRECTORY},
                  "/home");
    put_file_name(&text,
                  (struct cn_perf_file_name){.time_ns = 12,
                                             .since_ns = 11,
                                             .kind = CN_PERF_IS_DESCRIPTOR,
                                             .descriptor = 1},
                  "/dev/pts/0");
    put_run(&text, 100, 7, 15, 0, 0);
    put_enter(&text, 20, OPENAT, (uint64_t)-100, 0x5000, 0);
    put_file_name(&text,
                  (struct cn_perf_file_name){.time_ns = 25, .kind = CN_PERF_IS_ARGUMENT},
                  "./notes");
    put_exit(&text, 30, OPENAT, 3);
    put_enter(&text, 40, READ, 3, 0x5000, 1000);
    put_request(&text, 103, 45, 64, 4096, "RA");
    put_request(&text, 104, 60, 64, 0, "RA");
    put_request(&text, 104, 61, 64, 0, "RA"); /* of another one */
    put_exit(&text, 70, READ, 500);
    put_request(&text, 103, 72, 65, 512, "WS");
    put_request_of(&text, 8, 104, 73, 65, 0, "WS"); /* of another disk */
    put_file_name(&text,
                  (struct cn_perf_file_name){.time_ns = 73, .kind = CN_PERF_IS_PAGE},
                  "/lib/data");
    put_request(&text, 103, 74, 66, 4096, "R");
    put_request(&text, 104, 75, 66, 0, "R");
    put_enter(&text, 80, WRITE, 1, 0x5000, 10);
    put_exit(&text, 85, WRITE, -32);
    put_enter(&text, 90, DUP, 3, 0, 0);
    put_exit(&text, 91, DUP, 5);
    put_enter(&text, 92, CLOSE, 3, 0, 0);
    put_exit(&text, 93, CLOSE, 0);
    put_enter(&text, 100, READ, 5, 0x5000, 1000);
    put_exit(&text, 110, READ, 7);
    put_enter(&text, 120, READ, 3, 0x5000, 1000); /* its end was lost */
    put_enter(&text, 130, WRITE, 1, 0x5000, 10);
    put_exit(&text, 140, WRITE, 10);
    put_file_name(
        &text,
        (struct cn_perf_file_name){
            .time_ns = 142, .since_ns = 142, .kind = CN_PERF_IS_MADE, .descriptor = 9},
        "pipe");
    put_enter(&text, 143, WRITE, 9, 0x5000, 10);
    put_exit(&text, 144, WRITE, 10);
    put_enter(&text, 145, NEWFSTATAT, 9, 0x5000, 0x6000);
    put_file_name(&text,
                  (struct cn_perf_file_name){.time_ns = 146, .kind = CN_PERF_IS_ARGUMENT},
                  "");
    put_exit(&text, 147, NEWFSTATAT, 0);
    put_server(&text);
    put_faults(&text);
    put_enter(&text, 180, READ, 5, 0x5000, 1000);
    *len = text.len;
    return (uint8_t *)text.chars;
}

uint8_t *cn_test_perf_fault(size_t *len)
{
    struct cn_text text = {0};

    cn_text_str_add(&text, CN_PERF_MAGIC);
    cn_wire_u64(&text, CN_PERF_PIPE_HEADER_LEN);
    put_head(&text, CN_PERF_HEADER_ATTR, 0, 8 + cn_perf_attr_size + 8);
    put_attr(&text, 0, 0);
    cn_wire_u64(&text, 100);
    put_mapping(&text, 7, 0x1000, 1, "/none/work\0\0\0\0\0");
    put_mapping(&text, 7, 0x2000, 1, "/none/wait\0\0\0\0\0");
    put_head(&text, CN_PERF_SAMPLE, 1, 8 + 6 * 8 + 4 * 8);
    cn_wire_u64(&text, 100);
    cn_wire_u64(&text, 0xffffffff81000010);
    put_pair(&text, 7, 7);
    cn_wire_u64(&text, 20);
    cn_wire_u64(&text, 250);
    cn_wire_u64(&text, 4);
    cn_wire_u64(&text, CN_PERF_CONTEXT_KERNEL);
    cn_wire_u64(&text, 0xffffffff81000010);
    cn_wire_u64(&text, CN_PERF_CONTEXT_USER);
    cn_wire_u64(&text, 0x2000);
    *len = text.len;
    return (uint8_t *)text.chars;
}

/* A sample in one of the two mappings, with everything that callers may come from. */
static void put_copy(struct cn_text *text, uint64_t pc, uint64_t time_ns)
{
    enum { WORDS = 16, STACK = 0x7000 };
    size_t begin = text->len;

    put_head(text, CN_PERF_SAMPLE, 2, 0);
    cn_wire_u64(text, 100);
    put_pair(text, 7, 7);
    cn_wire_u64(text, time_ns);
    cn_wire_u64(text, 1); /* a group of one counter */
    cn_wire_u64(text, 1000 + time_ns);
    cn_wire_u64(text, 100);
    cn_wire_u64(text, 2); /* chain */
    cn_wire_u64(text, CN_PERF_CONTEXT_KERNEL);
    cn_wire_u64(text, 0xffffffff81000010);
    cn_wire_u64(text, 1); /* branches */
    cn_wire_u64(text, 0x1100);
    cn_wire_u64(text, 0x1200);
    cn_wire_u64(text, 0);
    cn_wire_u64(text, CN_PERF_ABI_64);
    cn_wire_u64(text, STACK); /* BP, SP, IP */
    cn_wire_u64(text, STACK);
    cn_wire_u64(text, pc);
    cn_wire_u64(text, 8 * WORDS);
    for (uint64_t i = 0; i < WORDS; i += 2) {
        cn_wire_u64(text, STACK + 8 * (i + 2));
        cn_wire_u64(text, pc + i);
    }
    cn_wire_u64(text, 8 * WORDS);
    cn_u16_put((uint8_t *)text->chars + begin + 6, (uint16_t)(text->len - begin));
}

uint8_t *cn_test_perf_copies(size_t *len)
{
    struct cn_text text = {0};
    struct cn_perf_attr attr = {
        .type = CN_PERF_TYPE_SOFTWARE,
        .size = cn_perf_attr_size,
        .sample_period = 1000,
        .sample_type = CN_PERF_HAS_IDENTIFIER | CN_PERF_HAS_TID | CN_PERF_HAS_TIME |
                       CN_PERF_HAS_READ | CN_PERF_HAS_CALLCHAIN |
                       CN_PERF_HAS_BRANCH_STACK | CN_PERF_HAS_USER_REGS |
                       CN_PERF_HAS_USER_STACK,
        .read_format = CN_PERF_READ_GROUP | CN_PERF_READ_ID,
        .flags = CN_PERF_FLAG_SAMPLE_ID_ALL,
        .branch_sample_type = CN_PERF_BRANCH_CALL_STACK,
        .sample_regs_user = 1 << 6 | 1 << 7 | 1 << 8,
    };
    uint8_t bytes[cn_perf_attr_size];

    cn_text_str_add(&text, CN_PERF_MAGIC);
    cn_wire_u64(&text, CN_PERF_PIPE_HEADER_LEN);
    put_head(&text, CN_PERF_HEADER_ATTR, 0, 8 + cn_perf_attr_size + 8);
    cn_perf_attr_encode(&attr, bytes);
    cn_text_add(&text, (const char *)bytes, sizeof(bytes));
    cn_wire_u64(&text, 100);
    put_mapping(&text, 7, 0x1000, 1, "//anon\0\0\0\0\0\0\0\0\0");
    put_mapping(&text, 7, 0x2000, 1, "[vdso]\0\0\0\0\0\0\0\0\0");
    put_copy(&text, 0x1010, 20);
    put_copy(&text, 0x2a00, 30);
    *len = text.len;
    return (uint8_t *)text.chars;
}
