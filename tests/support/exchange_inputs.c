#include "support/exchange_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/bytes/protobuf.h"
#include "formats/exchange/otlp_format.h"
#include "formats/exchange/pprof_format.h"

const char cn_test_folded[] = "main;solve;dot 12\nmain;solve 3\nmain 1\nidle 4\n";

const char cn_test_chrome[] =
    "{\"metadata\":{\"base_time_ns\":\"1000000\"},\"traceEvents\":[\n"
    "{\"ph\":\"M\",\"pid\":7,\"tid\":8,\"name\":\"thread_name\",\"args\":{\"name\":"
    "\"w\\u00e4\"}},\n"
    "{\"ph\":\"X\",\"pid\":7,\"tid\":8,\"ts\":2.5,\"dur\":4,\"name\":\"inner\"},\n"
    "{\"ph\":\"X\",\"pid\":7,\"tid\":8,\"ts\":1,\"dur\":10.001,\"name\":\"outer\"},\n"
    "{\"ph\":\"B\",\"pid\":7,\"tid\":9,\"ts\":1,\"name\":\"a\"},\n"
    "{\"ph\":\"B\",\"pid\":7,\"tid\":9,\"ts\":2,\"name\":\"b\",\"args\":{\"x\":[1,{}]}},"
    "\n"
    "{\"ph\":\"E\",\"pid\":7,\"tid\":9,\"ts\":3},\n"
    "{\"ph\":\"E\",\"pid\":7,\"tid\":9,\"ts\":4},\n"
    "{\"ph\":\"b\",\"cat\":\"io\",\"id\":\"0x1\",\"pid\":7,\"tid\":9,\"ts\":3,\"name\":"
    "\"read\"},\n"
    "{\"ph\":\"e\",\"cat\":\"io\",\"id\":\"0x1\",\"pid\":7,\"tid\":8,\"ts\":9,\"name\":"
    "\"read\"},\n"
    "{\"ph\":\"f\",\"cat\":\"io\",\"id\":\"0x1\",\"pid\":7,\"tid\":9,\"ts\":3.5},\n"
    "{\"id\":\"0x1\",\"cat\":\"io\",\"pid\":7,\"tid\":8,\"ts\":3,\"ph\":\"s\"},\n"
    "{\"ph\":\"C\",\"pid\":7,\"ts\":3,\"name\":\"counter\"}]}";

const char cn_test_chrome_array[] =
    "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":1e3,\"dur\":2,\"name\":\"f\"},\n";

const char cn_test_speedscope[] =
    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
    "\"profiles\":[{\"type\":\"sampled\",\"name\":\"PROCESS 4 THREAD 5\",\"unit\":"
    "\"milliseconds\",\"startValue\":0,\"endValue\":3,\"samples\":[[0,1],[0],[]],"
    "\"weights\":[1,2,0]}],\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"a.c\","
    "\"line\":3},{\"name\":\"f\"}]}}";

const char cn_test_speedscope_calls[] =
    "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
    "\"shared\":{\"frames\":[{\"name\":\"main\"},{\"name\":\"f\"}]},"
    "\"profiles\":[{\"type\":\"evented\",\"name\":\"t (12)\",\"unit\":\"microseconds\","
    "\"startValue\":0,\"endValue\":9,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":1},"
    "{\"type\":\"O\",\"frame\":1,\"at\":2},{\"type\":\"C\",\"frame\":1,\"at\":4.5},"
    "{\"type\":\"C\",\"frame\":0,\"at\":9}]}]}";

const char cn_test_cpuprofile[] =
    "{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\",\"url\":\"file:///"
    "a.js\",\"lineNumber\":-1},\"children\":[2,4]},{\"id\":2,\"callFrame\":{\"functio"
    "nName\":\"main\",\"url\":\"file:///a.js\",\"lineNumber\":1},\"hitCount\":2,\"posit"
    "ionTicks\":[{\"line\":3,\"ticks\":1}]},{\"id\":3,\"callFrame\":{\"functionName\":"
    "\"\",\"url\":\"file:///a.js\",\"lineNumber\":7},\"parent\":2},{\"id\":4,\"callFrame"
    "\":{\"functionName\":\"(idle)\",\"url\":\"file:///a.js\",\"lineNumber\":-1}},{\"id"
    "\":5,\"callFrame\":{\"functionName\":\"(garbage collector)\",\"url\":\"file:///a"
    ".js\",\"lineNumber\":-1},\"parent\":1}],\"startTime\":100,\"endTime\":900,\"samp"
    "les\":[2,3,5,4,2],\"timeDeltas\":[5,10,-3,7,8]}";

const char cn_test_heapprofile[] =
    "{\"head\":{\"callFrame\":{\"functionName\":\"(root)\",\"url\":\"file:///a.js\",\"li"
    "neNumber\":-1},\"selfSize\":0,\"children\":[{\"callFrame\":{\"functionName\":\"f"
    "\",\"url\":\"file:///a.js\",\"lineNumber\":1},\"selfSize\":64,\"id\":2,\"children\""
    ":[]},{\"callFrame\":{\"functionName\":\"g\",\"url\":\"file:///a.js\",\"lineNumber"
    "\":2},\"selfSize\":32,\"children\":[{\"callFrame\":{\"functionName\":\"h\",\"url\":"
    "\"file:///a.js\",\"lineNumber\":3},\"selfSize\":8,\"children\":[]}]}]},\"sample"
    "s\":[{\"size\":8,\"nodeId\":2}]}";

/* main() > parse() > copy(), inlined, at parse.c:12: 100 bytes and 50, and 30 of main() twice, of which
 * one is freed at once. */
const char cn_test_heaptrack[] =
    "v 10400 3\nX ./work a\nI 1000 5e2990\ns 4 work\ns 4 main\ns 6 main.c\n"
    "s 5 parse\ns 7 parse.c\ns 4 copy\ni 401000 1 2 3 5\nt 1 0\n"
    "i 401100 1 6 5 c 4 5 14\nt 2 1\na 64 2\n+ 0\nc a\na 1e 1\n+ 1\n- 1\nR 123\n"
    "a 32 2\n+ 2\n+ 1\n- 0\nc 14\n# strings: 6\ni 7f00 0\nt 3 0\na 8 3\n+ 3\n";

const char cn_test_massif[] =
    "desc: --massif-out-file=m\ncmd: ./work\ntime_unit: i\n#-----------\nsnapshot=0\n"
    "#-----------\ntime=0\nmem_heap_B=0\nmem_heap_extra_B=0\nmem_stacks_B=0\n"
    "heap_tree=empty\n#-----------\nsnapshot=1\n#-----------\ntime=10\n"
    "mem_heap_B=1000\nmem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree=peak\n"
    "n3: 1000 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
    " n2: 700 0x4011AB: parse (parse.c:12)\n  n0: 400 0x401200: main (main.c:5)\n"
    "  n0: 300 0x401300: ??? (in /srv/libx.so)\n n0: 290 0x401180: main (main.c:6)\n"
    " n0: 10 in 2 places, all below massif's threshold (1.00%)\n#-----------\n"
    "snapshot=2\n#-----------\ntime=20\nmem_heap_B=90\nmem_heap_extra_B=8\n"
    "mem_stacks_B=0\nheap_tree=detailed\n"
    "n1: 90 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
    " n0: 90 0x401180: main (main.c:6)\n";

const char cn_test_chrome_js[] =
    "{\"traceEvents\":[{\"args\":{\"data\":{\"startTime\":100}},\"id\":\"0x1\",\"name\":"
    "\""
    "Profile\",\"ph\":\"P\",\"pid\":1,\"tid\":2,\"ts\":9},{\"args\":{\"data\":{"
    "\"cpuProfile"
    "\":{\"nodes\":[{\"id\":1,\"callFrame\":{\"functionName\":\"(root)\",\"url\":\"file:/"
    "//a.js\",\"lineNumber\":-1}},{\"id\":2,\"parent\":1,\"callFrame\":{\"functionNam"
    "e\":\"f\",\"url\":\"file:///a.js\",\"lineNumber\":3}}],\"samples\":[2,1,2]},\"line"
    "s\":[3,4,5],\"timeDeltas\":[1,2,3]}},\"id\":\"0x1\",\"name\":\"ProfileChunk\",\"ph"
    "\":\"P\",\"pid\":1,\"tid\":3,\"ts\":12}],\"samples\":[{\"pid\":1,\"tid\":\"4\","
    "\"sf\":2,\""
    "ts\":\"7.5\"},{\"pid\":1,\"tid\":\"4\",\"sf\":1,\"ts\":\"9\"}],\"stackFrames\":{"
    "\"1\":{\"n"
    "ame\":\"[root]\"},\"2\":{\"name\":\"f(http://x/a.js:7:1)\",\"parent\":1}}}";

const char cn_test_perf_script[] = "a b 12/13 [003] 5.000001:     1000 cycles:u: \n"
                                   "\t  401136 leaf+0x10 (/bin/app)\n"
                                   "\t  401150 operator() (inlined)\n"
                                   "\t  401190 main+0x20 (/bin/app)\n"
                                   "\n"
                                   "a b 12/13 [001] 6.5:     500 cycles:u: \n"
                                   "\t     0 [unknown] ([unknown])\n"
                                   "\n";

const char cn_test_zipkin[] =
    "[{\"traceId\":\"00000000000000010000000000000002\",\"id\":\"b\",\"parentId\":\"a\","
    "\"name\":\"query\",\"timestamp\":1700000000000100,\"duration\":50,"
    "\"annotations\":[{\"timestamp\":1,\"value\":\"sent\"}],"
    "\"tags\":{\"error\":\"no such table\",\"otlp.link.0\":"
    "\"0102030405060708090a0b0c0d0e0f10|0203040506070809|s=1|{\\\"via\\\":\\\"queue\\\","
    "\\\"n\\\":[1]}|0\"}},"
    "{\"traceId\":\"00000000000000010000000000000002\",\"id\":\"a\",\"name\":\"get\","
    "\"kind\":\"SERVER\",\"timestamp\":1700000000000000,\"duration\":900,"
    "\"localEndpoint\":{\"serviceName\":\"shop\",\"port\":80},\"tags\":{\"uri\":\"/"
    "x\"}}]";

const char cn_test_otlp_json[] =
    "{\"resourceSpans\":[{\"resource\":{\"attributes\":[{\"key\":\"service.name\","
    "\"value\":"
    "{\"stringValue\":\"till\"}}]},\"scopeSpans\":[{\"spans\":[{\"traceId\":"
    "\"0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a\",\"spanId\":\"0b0b0b0b0b0b0b0b\",\"name\":"
    "\"pay\","
    "\"kind\":2,\"startTimeUnixNano\":\"1700000000000000000\","
    "\"endTimeUnixNano\":\"1700000000000900000\",\"attributes\":[{\"key\":\"n\","
    "\"value\":"
    "{\"intValue\":\"3\"}},{\"key\":\"l\",\"value\":{\"arrayValue\":{\"values\":[{"
    "\"boolValue\":"
    "true},{\"doubleValue\":1.5}]}}}],\"events\":[{\"name\":\"exception\",\"attributes\":"
    "[{"
    "\"key\":\"exception.type\",\"value\":{\"stringValue\":\"Oops\"}}]}],"
    "\"links\":[{\"traceId\":\"0102030405060708090a0b0c0d0e0f10\",\"spanId\":"
    "\"0203040506070809\",\"traceState\":\"s=1\",\"attributes\":[{\"key\":\"via\","
    "\"value\":{\"stringValue\":\"queue\"}}]},{\"traceId\":\"\",\"spanId\":\"\"}],"
    "\"status\":{\"code\":2,\"message\":\"bad\"}}]}]}]}";

static uint8_t *take(struct cn_pb *pb, size_t *len)
{
    *len = pb->len;
    return pb->bytes;
}

static void add_numbers(struct cn_pb *pb, uint32_t field, const uint64_t *numbers,
                        size_t count)
{
    size_t at = cn_pb_open(pb, field);

    for (size_t i = 0; i < count; i++)
        cn_pb_u64(pb, (uint32_t)i + 1, numbers[i]);
    cn_pb_close(pb, at);
}

uint8_t *cn_test_pprof(size_t *len)
{
    static const char *const strings[] = {"",  "time", "nanoseconds", "main",
                                          "f", "a.c",  "/bin/app",    "tid"};
    struct cn_pb pb = {0};
    size_t at, inner;

    add_numbers(&pb, cn_pprof_profile_sample_type, (const uint64_t[]){1, 2}, 2);
    add_numbers(&pb, cn_pprof_profile_period_type, (const uint64_t[]){1, 2}, 2);
    cn_pb_u64(&pb, cn_pprof_profile_period, 1000000);
    at = cn_pb_open(&pb, cn_pprof_profile_sample);
    cn_pb_packed(&pb, cn_pprof_sample_location_id, (const uint64_t[]){2, 1}, 2);
    cn_pb_packed(&pb, cn_pprof_sample_value, (const uint64_t[]){2000000000}, 1);
    inner = cn_pb_open(&pb, cn_pprof_sample_label);
    cn_pb_u64(&pb, cn_pprof_label_key, 7);
    cn_pb_u64(&pb, cn_pprof_label_num, 42);
    cn_pb_close(&pb, inner);
    cn_pb_close(&pb, at);
    add_numbers(&pb, cn_pprof_profile_mapping, (const uint64_t[]){1, 0, 0, 0, 6}, 5);
    for (uint64_t i = 1; i <= 2; i++) {
        at = cn_pb_open(&pb, cn_pprof_profile_location);
        cn_pb_u64(&pb, cn_pprof_location_id, i);
        cn_pb_u64(&pb, cn_pprof_location_mapping_id, 1);
        add_numbers(&pb, cn_pprof_location_line, (const uint64_t[]){i, 10 * i}, 2);
        cn_pb_close(&pb, at);
        add_numbers(&pb, cn_pprof_profile_function,
                    (const uint64_t[]){i, 2 + i, 2 + i, 5, 3 * i}, 5);
    }
    for (size_t i = 0; i < sizeof(strings) / sizeof(*strings); i++)
        cn_pb_str(&pb, cn_pprof_profile_string_table, strings[i]);
    return take(&pb, len);
}

static void add_otlp_attribute(struct cn_pb *pb, uint32_t field, const char *key,
                               const char *text)
{
    size_t at = cn_pb_open(pb, field), value;

    cn_pb_str(pb, cn_otlp_key_value_key, key);
    value = cn_pb_open(pb, cn_otlp_key_value_value);
    cn_pb_str(pb, cn_otlp_value_string_value, text);
    cn_pb_close(pb, value);
    cn_pb_close(pb, at);
}

uint8_t *cn_test_otlp(size_t *len)
{
    static const uint8_t id[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    struct cn_pb pb = {0};
    size_t resource = cn_pb_open(&pb, cn_otlp_traces_resource_spans);
    size_t scope = cn_pb_open(&pb, cn_otlp_resource_spans_scope_spans), span, at;

    for (uint64_t i = 0; i < 2; i++) {
        span = cn_pb_open(&pb, cn_otlp_scope_spans_spans);
        cn_pb_bytes(&pb, cn_otlp_span_trace_id, id, 16);
        cn_pb_bytes(&pb, cn_otlp_span_span_id, id + i, 8);
        if (i > 0)
            cn_pb_bytes(&pb, cn_otlp_span_parent_span_id, id, 8);
        cn_pb_str(&pb, cn_otlp_span_name, i ? "query" : "get");
        cn_pb_u64(&pb, cn_otlp_span_kind, 2 + i);
        cn_pb_fixed64(&pb, cn_otlp_span_start_time_unix_nano, 1700000000000000000 + i);
        cn_pb_fixed64(&pb, cn_otlp_span_end_time_unix_nano, 1700000000000000900);
        add_otlp_attribute(&pb, cn_otlp_span_attributes, "uri", "/x");
        if (i > 0) {
            at = cn_pb_open(&pb, cn_otlp_span_links);
            cn_pb_bytes(&pb, cn_otlp_link_trace_id, id, 16);
            cn_pb_bytes(&pb, cn_otlp_link_span_id, id + 1, 8);
            cn_pb_str(&pb, cn_otlp_link_trace_state, "s=1");
            add_otlp_attribute(&pb, cn_otlp_link_attributes, "via", "queue");
            cn_pb_close(&pb, at);
        }
        at = cn_pb_open(&pb, cn_otlp_span_status);
        cn_pb_u64(&pb, cn_otlp_status_code, i ? CN_OTLP_STATUS_ERROR : 0);
        cn_pb_close(&pb, at);
        cn_pb_close(&pb, span);
    }
    cn_pb_close(&pb, scope);
    cn_pb_close(&pb, resource);
    return take(&pb, len);
}

/* As torch.profiler writes it: a launch with its kernel, a copy without a launch. */
const char cn_test_kineto[] =
    "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"Test\",\"warpSize\":"
    "32,"
    "\"maxThreadsPerMultiprocessor\":2048,\"regsPerMultiprocessor\":65536}],"
    "\"baseTimeNanoseconds\":1000000000,\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"a.py(3): "
    "f\",\"pid\":9,\"tid\":9,"
    "\"ts\":1,\"dur\":90,\"args\":{\"Python id\":1}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,"
    "\"tid\":9,"
    "\"ts\":2,\"dur\":4,\"args\":{\"correlation\":5}},"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k(int)\",\"pid\":0,\"tid\":7,\"ts\":10,"
    "\"dur\":6,"
    "\"args\":{\"device\":0,\"context\":1,\"stream\":7,\"correlation\":5,\"grid\":[2,1,1]"
    ","
    "\"block\":[64,1,1],\"registers per thread\":16,\"shared memory\":512}},"
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy DtoH (Device -> "
    "Pinned)\",\"pid\":0,"
    "\"tid\":7,\"ts\":20,\"dur\":3,\"args\":{\"device\":0,\"stream\":7,\"correlation\":6,"
    "\"bytes\":64}},"
    "{\"ph\":\"X\",\"cat\":\"cuda_sync\",\"name\":\"Stream "
    "Sync\",\"pid\":0,\"tid\":-1,\"ts\":21,"
    "\"dur\":3,\"args\":{\"device\":0,\"stream\":4294967295,\"correlation\":8}}]}";

/* An entry of a table of interned data: number, and what else it has. Numbers of fields are those of Perfetto's
 * documentation. */
static void intern_text(struct cn_pb *pb, uint32_t table, uint64_t number,
                        const char *text)
{
    size_t at = cn_pb_open(pb, table);

    cn_pb_u64(pb, 1, number);
    cn_pb_str(pb, 2, text);
    cn_pb_close(pb, at);
}

static void intern_frame(struct cn_pb *pb, uint64_t number, uint64_t name, uint64_t pc)
{
    size_t at = cn_pb_open(pb, 6);

    cn_pb_u64(pb, 1, number);
    cn_pb_u64(pb, 2, name);
    cn_pb_u64(pb, 3, 1);
    cn_pb_u64(pb, 4, pc);
    cn_pb_close(pb, at);
}

static void intern_list(struct cn_pb *pb, uint32_t table, uint64_t number, uint32_t field,
                        const uint64_t *list, size_t count)
{
    size_t at = cn_pb_open(pb, table);

    cn_pb_u64(pb, 1, number);
    for (size_t i = 0; i < count; i++)
        cn_pb_u64(pb, field, list[i]);
    cn_pb_close(pb, at);
}

static void heap_sample(struct cn_pb *pb, uint64_t stack, const uint64_t values[4])
{
    static const uint32_t fields[] = {2, 3, 5, 6}; /* bytes, freed; allocations, freed */
    size_t at = cn_pb_open(pb, 2);

    cn_pb_u64(pb, 1, stack);
    for (size_t i = 0; i < 4; i++)
        cn_pb_u64(pb, fields[i], values[i]);
    cn_pb_close(pb, at);
}

/* A dump of process 7: main > parse > copy, and main > libx.so+0x123. */
static void heap_dump(struct cn_pb *pb, const char *heap, const uint64_t copy[4],
                      const uint64_t unnamed[4])
{
    size_t packet = cn_pb_open(pb, 1), profile, dump;

    cn_pb_u64(pb, 8, 1000);
    cn_pb_u64(pb, 10, 3);
    profile = cn_pb_open(pb, 37);
    dump = cn_pb_open(pb, 5);
    heap_sample(pb, 1, copy);
    heap_sample(pb, 2, unnamed);
    cn_pb_u64(pb, 1, 7);
    cn_pb_str(pb, 11, heap);
    cn_pb_close(pb, dump);
    cn_pb_close(pb, profile);
    cn_pb_close(pb, packet);
}

/* Two dumps, whose values are sums since the start, and one of another heap. */
uint8_t *cn_test_heapprofd(size_t *len)
{
    struct cn_pb pb = {0};
    size_t packet = cn_pb_open(&pb, 1), interned;

    cn_pb_u64(&pb, 10, 3);
    interned = cn_pb_open(&pb, 12);
    intern_list(&pb, 7, 1, 2, (const uint64_t[]){1, 2, 3}, 3);
    intern_list(&pb, 7, 2, 2, (const uint64_t[]){1, 4}, 2);
    intern_frame(&pb, 1, 1, 0x10);
    intern_frame(&pb, 2, 2, 0x20);
    intern_frame(&pb, 3, 3, 0x30);
    intern_frame(&pb, 4, 0, 0x123);
    intern_list(&pb, 19, 1, 7, (const uint64_t[]){1, 2}, 2);
    intern_text(&pb, 17, 1, "lib");
    intern_text(&pb, 17, 2, "libx.so");
    intern_text(&pb, 5, 1, "main");
    intern_text(&pb, 5, 2, "parse");
    intern_text(&pb, 5, 3, "copy");
    cn_pb_close(&pb, interned);
    cn_pb_close(&pb, packet);
    heap_dump(&pb, "libc.malloc", (const uint64_t[]){100, 40, 4, 1},
              (const uint64_t[]){10, 0, 1, 0});
    heap_dump(&pb, "libc.malloc", (const uint64_t[]){300, 140, 9, 5},
              (const uint64_t[]){10, 10, 1, 1});
    heap_dump(&pb, "java", (const uint64_t[]){1000, 0, 2, 0},
              (const uint64_t[]){0, 0, 0, 0});
    *len = pb.len;
    return pb.bytes;
}
