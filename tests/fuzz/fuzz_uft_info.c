/* Any bytes as an info file, and the specifications in it. */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "formats/uftrace/text/argspec.h"
#include "formats/uftrace/text/info_reader.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_bytes file = {data, len};
    struct cn_uft_info_header head;
    struct cn_uft_facts facts = {0};
    struct cn_uft_enums enums = {0};
    struct cn_arena arena = {0};
    struct cn_uft_spec_parser parser = {8, &arena, &enums};
    struct cn_error err = {0};

    if (cn_uft_info_header_read(file, &head, &err)) {
        if (!cn_uft_facts_read(file, head.info_mask, &arena, &facts, &err))
            assert(err.text[0] != '\0');
        for (size_t i = 0; i < facts.count; i++) {
            struct cn_bytes value = {(const uint8_t *)facts.list[i].value,
                                     strlen(facts.list[i].value)};
            struct cn_argument_spec spec;

            cn_uft_enums_add(&enums, value, &arena);
            if (cn_uft_spec_parse(&parser, value, &spec))
                assert(spec.size <= CN_UFT_PAYLOAD_MAX && spec.text && spec.type_name);
        }
    } else {
        assert(err.text[0] != '\0');
    }
    cn_uft_enums_done(&enums);
    free(facts.list);
    cn_arena_done(&arena);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char lines[] =
        "exename:/bin/x\nbuild_id:00\nexit_status:0\ncmdline:x\ncpuinfo:lines=2\n"
        "cpuinfo:nr_cpus=1 / 1\ncpuinfo:desc=x\nmeminfo:1 / 2 GB\nosinfo:lines=1\n"
        "osinfo:kernel=6\ntaskinfo:lines=2\ntaskinfo:nr_tid=1\ntaskinfo:tids=1\n"
        "usageinfo:lines=1\nusageinfo:maxrss=1\nloadinfo:1 / 2 / 3\nargspec:lines=4\n"
        "argspec:arg1/t16:pair%rdi\nargauto:arg2/x32\nenumauto:enum e {A,B=-5,C=0x10};\n"
        "auto-args:1\nrecord_date:now\nelapsed_time:1 sec\npattern_type:glob\n"
        "uftrace_version:v\nutc_offset:1\nsysctl:x=1\n";
    struct cn_uft_info_header head = {
        4, 40, CN_UFT_LITTLE_ENDIAN, CN_UFT_64_BIT, 0x1fff, 0xffff, 1024};
    struct cn_uft_info_header big = {3, 40, CN_UFT_BIG_ENDIAN, CN_UFT_32_BIT, 0, 1, 0};
    uint8_t file[cn_uft_info_header_size + sizeof(lines) - 1];

    cn_uft_info_header_encode(&head, file);
    memcpy(file, CN_UFT_MAGIC, CN_UFT_MAGIC_LEN);
    memcpy(file + cn_uft_info_header_size, lines, sizeof(lines) - 1);
    emit(file, sizeof(file));
    cn_uft_info_header_encode_any(&big, true, file);
    memcpy(file, CN_UFT_MAGIC, CN_UFT_MAGIC_LEN);
    emit(file, cn_uft_info_header_size + 15);
}
