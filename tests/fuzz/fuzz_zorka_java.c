/* Any bytes as the dictionary and the quick index of the original trace store. */

#include <string.h>

#include "base/text.h"
#include "formats/zorka/java_format.h"
#include "formats/zorka/java_store.h"
#include "support/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
    struct cn_java_words list = {0};
    struct cn_words words = {0};
    struct cn_bytes bytes = {data, len}, slots;
    struct cn_text text = {0};
    struct cn_java_meta_slot slot;
    struct cn_error err;

    if (!cn_java_wal_read(bytes, &list, &err) && !cn_java_fmi_read(bytes, &list, &err))
        (void)err;
    cn_java_words_finish(&list, &words);
    for (uint32_t id = 1; id <= words.count && id < 1000; id++)
        cn_words_print(&words, id, &text);
    if (cn_java_meta_slots(bytes, &slots, &err))
        while (cn_bytes_take(&slots, cn_java_meta_slot_size, &bytes))
            (void)cn_java_meta_slot_decode(bytes, &slot);
    cn_java_words_done(&list);
    cn_words_done(&words);
    cn_text_done(&text);
    return 0;
}

void cn_fuzz_seeds(void (*emit)(const uint8_t *data, size_t len))
{
    static const char wal[] = "WAL\x03"
                              "1\x01\x05"
                              "A\x05\x02"
                              "1\x03"
                              "2\x01\x06m\x06\x02"
                              "2\x03"
                              "3\x01\x0b"
                              "1\x0b"
                              "2\x0b"
                              "0\x0b\x02"
                              "3\x03"
                              "4\x01\xff\x08\x02"
                              "4\x03";
    uint8_t meta[64 + 96] = "MQI0";
    uint8_t fmi[32 + 1024 + 14 + 20] = {0x30, 0x4d, 0x46, 0x5a, 1, 0, 0, 0, 12, 0, 0, 0};

    emit((const uint8_t *)wal, sizeof(wal));
    emit(meta, sizeof(meta));
    cn_u32_put(fmi + 32 + 1024, 32 + 1024 + 14);
    fmi[32 + 1024 + 13] = 1;
    memcpy(fmi + 32 + 1024 + 14,
           "1\x01x\x02"
           "1\x03\x03",
           7);
    emit(fmi, sizeof(fmi));
}
