#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes/record.h"
#include "base/text.h"
#include "cli/dump/structures.h"
#include "open/formats.h"

#define CN_TOY_BIG(F)               \
    F(0x00, u16, small, "a number") \
    F(0x02, u32, name_off, "where") \
    F(0x06, f64, value, "how much")
CN_RECORD_BE(cn_toy_big, CN_TOY_BIG, 0x0e);

static void check_f64(double value, const char *expected)
{
    struct cn_text text = {0};

    cn_dump_print_f64(&text, value);
    assert_string_equal(cn_text_str(&text), expected);
    cn_text_done(&text);
}

static void doubles_are_short(void **state)
{
    (void)state;
    check_f64(0, "0");
    check_f64(42, "42");
    check_f64(-42, "-42");
    check_f64(0.005, "0.005");
    check_f64(-1.25, "-1.25");
    check_f64(123456.000001, "123456.000001");
    check_f64(9007199254740991.0, "9007199254740991");
    check_f64(1e300, "1.0000000000000001e+300");
    check_f64(-0.0, "-0");
    check_f64(INFINITY, "inf");
}

static void doubles_read_back_to_the_same_value(void **state)
{
    uint64_t bits = 88172645463325252;

    (void)state;
    for (int i = 0; i < 200000; i++) {
        struct cn_text text = {0};
        double value;

        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        switch (i % 3) {
        case 0:
            memcpy(&value, &bits, sizeof(value));
            break;
        case 1:
            value = (double)(int64_t)bits / 1e12;
            break;
        default:
            value = (double)(bits % 100000000) / 1e6;
            break;
        }
        if (!isfinite(value))
            continue;
        cn_dump_print_f64(&text, value);
        assert_true(strtod(cn_text_str(&text), NULL) == value);
        cn_text_done(&text);
    }
}

static void check_item(struct cn_dump_printer printer, const char *expected)
{
    uint8_t bytes[cn_toy_big_size];
    struct cn_toy_big decoded;
    struct cn_dump_item item = {
        .file = "toy.db",
        .off = 0x1234,
        .layout = &cn_toy_big_layout,
        .bytes = {bytes, sizeof(bytes)},
        .text = "a \"b\", \x1b",
        .index = 7,
    };

    cn_toy_big_encode(&(struct cn_toy_big){0x102, 0x30405, 2.5}, bytes);
    assert_true(cn_toy_big_decode(item.bytes, &decoded) && decoded.small == 0x102);
    cn_dump_print_begin(&printer);
    cn_dump_print_item(&printer, &item);
    assert_string_equal(cn_text_str(&printer.out), expected);
    cn_text_done(&printer.out);
}

static void text_has_a_line_for_each_structure(void **state)
{
    (void)state;
    check_item((struct cn_dump_printer){.format = CN_TABLE_TEXT},
               "toy.db 0x00001234 big[7] small=258 name_off=0x00030405 value=2.5 "
               "\"a \"b\", \\x1b\"\n");
}

static void text_can_have_a_line_for_each_field(void **state)
{
    (void)state;
    check_item((struct cn_dump_printer){.format = CN_TABLE_TEXT, .by_field = true},
               "toy.db 0x00001234 big[7].small u16 258 (a number)\n"
               "toy.db 0x00001236 big[7].name_off u32 0x00030405 (where)\n"
               "toy.db 0x0000123a big[7].value f64 2.5 (how much)\n"
               "toy.db 0x00001234 big[7] \"a \"b\", \\x1b\"\n");
}

static void json_has_an_object_for_each_structure(void **state)
{
    (void)state;
    check_item((struct cn_dump_printer){.format = CN_TABLE_JSON},
               "[\n{\"file\": \"toy.db\",\"offset_bytes\": 4660,\"record\": \"big\","
               "\"index\": 7,\"fields\": {\"small\": 258,\"name_off\": 197637,"
               "\"value\": 2.5},\"text\": \"a \\\"b\\\", \\u001b\"}");
}

static void csv_has_a_row_for_each_field(void **state)
{
    (void)state;
    check_item((struct cn_dump_printer){.format = CN_TABLE_CSV},
               "file,offset_bytes,record,index,field,type,value,meaning,text\n"
               "toy.db,4660,big,7,small,u16,258,\"a number\",\"a \"\"b\"\", \\x1b\"\n"
               "toy.db,4662,big,7,name_off,u32,197637,\"where\",\"a \"\"b\"\", \\x1b\"\n"
               "toy.db,4666,big,7,value,f64,2.5,\"how much\",\"a \"\"b\"\", \\x1b\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_are_short),
        cmocka_unit_test(doubles_read_back_to_the_same_value),
        cmocka_unit_test(text_has_a_line_for_each_structure),
        cmocka_unit_test(text_can_have_a_line_for_each_field),
        cmocka_unit_test(json_has_an_object_for_each_structure),
        cmocka_unit_test(csv_has_a_row_for_each_field),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
