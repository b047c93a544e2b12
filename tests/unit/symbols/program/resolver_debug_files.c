/* Names of a stripped program from files that are elsewhere, and of code without symbols. */

#include <arpa/inet.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/text.h"
#include "support/scratch.h"
#include "support/skip.h"
#include "symbols/program/prototypes.h"
#include "symbols/program/resolver.h"

enum { HELPER_LINE = 3 };
static const char source[] =
    "#include <stdio.h>\n"
    "static inline __attribute__((always_inline)) int seven(int n) { return n * 7; }\n"
    "__attribute__((noinline)) int helper(int n) { return seven(n); }\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    return puts(argv[0]) + helper(argc);\n"
    "}\n";

static char folder[4096], build_id[128];
static uint64_t helper; /* its offset */

static bool sh(const char *command)
{
    return system(command) == 0; /* NOLINT: the commands are constants */
}

static void first_line(const char *command, char *out, size_t size)
{
    FILE *pipe = popen(command, "r"); /* NOLINT: the commands are constants */

    assert_non_null(pipe);
    assert_non_null(fgets(out, (int)size, pipe));
    out[strcspn(out, "\n")] = '\0';
    (void)pclose(pipe);
}

/* The program with debug information, the same without symbols, and its debug file. */
static void build(void)
{
    char text[64];

    cn_scratch_write("prog.c", source, strlen(source));
    if (!sh("cc -g -O1 -Wl,--build-id=sha1 -o prog prog.c && strip -o stripped prog && "
            "objcopy --only-keep-debug prog prog.debug"))
        CN_SKIP("no cc, strip or objcopy");
    assert_non_null(getcwd(folder, sizeof(folder)));
    first_line("readelf -n prog | sed -n 's/.*Build ID: //p'", build_id,
               sizeof(build_id));
    first_line("nm prog | sed -n 's/ T helper$//p'", text, sizeof(text));
    helper = strtoull(text, NULL, 16);
    (void)setenv("HOME", folder, 1);
    (void)setenv("CAIRN_DEBUG_PATH", folder, 1);
    (void)unsetenv("DEBUGINFOD_URLS");
}

static const char *path_of(const char *name)
{
    static char path[5000];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static bool has_line(const char *name, const char *id)
{
    struct cn_resolver *resolver = cn_resolver_new();
    struct cn_source_location location;
    bool found = cn_resolver_function(resolver, path_of(name), id, helper + 1, &location);

    if (found) {
        assert_non_null(strstr(location.file, "/prog.c"));
        assert_int_equal(location.line, HELPER_LINE);
    }
    cn_resolver_free(resolver);
    return found;
}

/* The call of seven() inside of helper(), at line `HELPER_LINE`. */
static bool has_inlined(const char *name)
{
    struct cn_resolver *resolver = cn_resolver_new();
    bool found = false;

    for (uint64_t at = helper; at < helper + 16 && !found; at++) {
        struct cn_source_location list[2];

        found = cn_resolver_instruction(resolver, path_of(name), "", at, list, 2) == 2 &&
                strcmp(list[1].function, "seven") == 0 && list[0].line == HELPER_LINE &&
                list[1].line == HELPER_LINE - 1 && strstr(list[0].file, "/prog.c");
    }
    cn_resolver_free(resolver);
    return found;
}

static bool has_parameter(const char *name)
{
    struct cn_prototypes *prototypes = cn_prototypes_open(path_of(name));
    struct cn_prototype found;
    bool ok = prototypes && cn_prototypes_find(prototypes, helper, 16, helper, &found) &&
              found.count == 1 && found.line == HELPER_LINE && found.file &&
              strstr(found.file, "prog.c");

    cn_prototypes_close(prototypes);
    return ok;
}

static void get_hint(const char *name, struct cn_text *out)
{
    struct cn_resolver *resolver = cn_resolver_new();
    struct cn_source_location location;

    (void)cn_resolver_function(resolver, path_of(name), "", helper + 1, &location);
    cn_resolver_hint(resolver, out);
    cn_resolver_free(resolver);
}

static bool has_symbol(const char *name, const char *id, uint64_t offset,
                       const char *want)
{
    struct cn_resolver *resolver = cn_resolver_new();
    struct cn_symbol symbol;
    bool found = cn_resolver_symbol(resolver, path_of(name), id, offset, &symbol) &&
                 strcmp(symbol.name, want) == 0;

    cn_resolver_free(resolver);
    return found;
}

static void a_debuglink_is_followed_if_its_checksum_matches(void **state)
{
    (void)state;
    build();
    assert_false(has_line("stripped", build_id));
    assert_true(sh("objcopy --add-gnu-debuglink=prog.debug stripped"));
    assert_true(has_line("stripped", build_id));
    assert_true(sh("mkdir .debug && mv prog.debug .debug"));
    assert_true(has_line("stripped", build_id));
    assert_true(sh("echo >>.debug/prog.debug"));
    assert_false(has_line("stripped", build_id));
}

static void folders_of_builds_have_debug_information(void **state)
{
    char command[600];

    (void)state;
    build();
    (void)snprintf(command, sizeof(command),
                   "mkdir -p .build-id/%.2s && cp prog.debug .build-id/%.2s/%s.debug",
                   build_id, build_id, build_id + 2);
    assert_true(sh(command));
    assert_true(has_line("stripped", build_id));
    assert_true(has_symbol("stripped", build_id, helper, "helper"));
}

static void a_module_that_is_gone_is_found_by_its_build_id(void **state)
{
    char command[600];

    (void)state;
    build();
    assert_false(has_line("gone", build_id));
    (void)snprintf(
        command, sizeof(command),
        "mkdir -p .debug/.build-id/%.2s/%s && cp prog .debug/.build-id/%.2s/%s/elf",
        build_id, build_id + 2, build_id, build_id + 2);
    assert_true(sh(command));
    assert_true(has_line("gone", build_id));
    /* Another program has taken its place. */
    assert_true(sh("cp /bin/sh other"));
    assert_true(has_line("other", build_id));
    assert_false(has_line("gone", ""));
    assert_false(has_line("gone", "../../../etc/passwd"));
}

/* Answers requests for the debug information and for the program, until it is killed. */
static void serve(int listening)
{
    for (;;) {
        int fd = accept(listening, NULL, NULL);
        char request[2000] = "";
        FILE *from;
        int c;

        if (fd < 0 || read(fd, request, sizeof(request) - 1) <= 0)
            _exit(1);
        from = !strstr(request, build_id)            ? NULL
               : strstr(request, "/debuginfo HTTP")  ? fopen("prog.debug", "rb")
               : strstr(request, "/executable HTTP") ? fopen("prog", "rb")
                                                     : NULL;
        (void)dprintf(fd, "HTTP/1.0 %s\r\nContent-Type: application/octet-stream\r\n\r\n",
                      from ? "200 OK" : "404 Not Found");
        while (from && (c = fgetc(from)) != EOF)
            (void)!write(fd, &(char){(char)c}, 1);
        if (from)
            (void)fclose(from);
        (void)close(fd);
    }
}

static void debuginfod_is_asked_where_it_is_configured(void **state)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    char url[64];
    pid_t server;

    (void)state;
    build();
    assert_int_equal(bind(fd, (struct sockaddr *)&address, len), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    assert_int_equal(listen(fd, 8), 0);
    server = fork();
    if (server == 0)
        serve(fd);
    (void)close(fd);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u", ntohs(address.sin_port));
    (void)setenv("DEBUGINFOD_CACHE_PATH", path_of("cache"), 1);
    assert_false(has_line("stripped", build_id));
    assert_false(cn_scratch_exists("cache"));
    (void)setenv("DEBUGINFOD_URLS", url, 1);
    if (has_line("stripped", build_id))
        assert_true(has_line("gone", build_id));
    else
        assert_false(cn_scratch_exists("cache")); /* libdebuginfod is not installed */
    (void)unsetenv("DEBUGINFOD_URLS");
    (void)kill(server, SIGKILL);
    (void)waitpid(server, NULL, 0);
}

static void symbols_in_a_compressed_section_are_read(void **state)
{
    (void)state;
    build();
    if (!sh("command -v xz >/dev/null"))
        CN_SKIP("no xz");
    assert_false(has_symbol("stripped", build_id, helper, "helper"));
    assert_true(
        sh("objcopy -S prog mini 2>/dev/null; objcopy --strip-debug prog.debug mini && "
           "xz -k mini && objcopy --add-section .gnu_debugdata=mini.xz stripped"));
    assert_true(has_symbol("stripped", build_id, helper, "helper"));
}

/* clang does not list the addresses of its units. */
static void units_without_a_list_of_addresses_are_found(void **state)
{
    (void)state;
    build();
    assert_true(has_inlined("prog"));
    assert_true(sh("objcopy --remove-section=.debug_aranges prog bare"));
    assert_true(has_line("bare", build_id));
    assert_true(has_inlined("bare"));
}

static void split_debug_information_is_read(void **state)
{
    static const char *const commands[] = {
        "cc -gdwarf-5 -gsplit-dwarf -O1 -c prog.c -o split.o && cc split.o -o split",
        "cc -gdwarf-4 -gsplit-dwarf -O1 -c prog.c -o split.o && cc split.o -o split",
        "clang -g -gsplit-dwarf -O1 -c prog.c -o split.o 2>/dev/null && cc split.o -o "
        "split",
    };
    struct cn_text hint = {0};
    char text[64];

    (void)state;
    build();
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        if (!sh(commands[i])) {
            assert_true(i > 1);
            continue;
        }
        first_line("nm split | sed -n 's/ T helper$//p'", text, sizeof(text));
        helper = strtoull(text, NULL, 16);
        assert_true(has_line("split", ""));
        assert_true(has_inlined("split"));
        assert_true(has_parameter("split"));
        get_hint("split", &hint);
        assert_string_equal(cn_text_str(&hint), "");
        /* A module cannot let us wait. */
        assert_true(sh("rm split.dwo && mkfifo split.dwo"));
        assert_false(has_inlined("split"));
        assert_true(sh("rm split.dwo"));
        assert_false(has_inlined("split"));
        get_hint("split", &hint);
        assert_non_null(strstr(cn_text_str(&hint), "split: functions without lines and "
                                                   "inlined calls: it was built with "));
        cn_text_done(&hint);
    }
}

/* The name of some address in the first pages. */
static bool has_entry(const char *name, const char *want)
{
    for (uint64_t offset = 0; offset < 0x3000; offset += 8)
        if (has_symbol(name, "", offset, want))
            return true;
    return false;
}

static void entries_of_linkage_tables_are_named(void **state)
{
    static const char *const commands[] = {
        "cc -O1 -Wl,-z,lazy -o linked prog.c",
        "cc -O1 -Wl,-z,lazy,-z,ibtplt -fcf-protection=full -o linked prog.c 2>/dev/null",
        "cc -O1 -Wl,-z,now -o linked prog.c",
        "aarch64-linux-gnu-gcc -O1 -o linked prog.c 2>/dev/null",
    };

    (void)state;
    build();
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        if (!sh(commands[i])) {
            assert_true(i > 0);
            continue;
        }
        assert_true(sh("strip linked 2>/dev/null || aarch64-linux-gnu-strip linked"));
        if (!has_entry("linked", "puts@plt"))
            fail_msg("no puts@plt: %s", commands[i]);
    }
}

/* There they have no bytes, and the function before them has no size. */
static void entries_have_no_other_name_in_debug_files(void **state)
{
    size_t count = 0;

    (void)state;
    build();
    assert_true(sh("cc -O1 -Wl,-z,lazy -o linked prog.c"));
    assert_true(sh("objcopy --only-keep-debug linked only.debug"));
    for (uint64_t offset = 0; offset < 0x3000; offset += 8) {
        if (!has_symbol("linked", "", offset, "puts@plt"))
            continue;
        count++;
        assert_false(has_symbol("only.debug", "", offset, "_init"));
    }
    assert_true(count > 0);
}

/* "$x" and "$d.7" of aarch64 say what the bytes after them are. */
static void mapping_symbols_are_no_functions(void **state)
{
    size_t count = 0;

    (void)state;
    build();
    assert_true(
        sh("printf '.text\n.globl labelled\nlabelled:\n.zero 32\n\"$x\":\n.zero 32\n"
           "\"$d.7\":\n.zero 32\n' >mapped.s && cc -shared -o mapped mapped.s && "
           "nm mapped | grep -q ' t [$]d[.]7$'"));
    for (uint64_t offset = 0; offset < 0x3000; offset += 8) {
        assert_false(has_symbol("mapped", "", offset, "$x"));
        assert_false(has_symbol("mapped", "", offset, "$d.7"));
        count += has_symbol("mapped", "", offset, "labelled");
    }
    assert_in_range(count, 12, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        CN_SCRATCH_TEST(a_debuglink_is_followed_if_its_checksum_matches),
        CN_SCRATCH_TEST(folders_of_builds_have_debug_information),
        CN_SCRATCH_TEST(a_module_that_is_gone_is_found_by_its_build_id),
        CN_SCRATCH_TEST(debuginfod_is_asked_where_it_is_configured),
        CN_SCRATCH_TEST(symbols_in_a_compressed_section_are_read),
        CN_SCRATCH_TEST(units_without_a_list_of_addresses_are_found),
        CN_SCRATCH_TEST(split_debug_information_is_read),
        CN_SCRATCH_TEST(entries_of_linkage_tables_are_named),
        CN_SCRATCH_TEST(entries_have_no_other_name_in_debug_files),
        CN_SCRATCH_TEST(mapping_symbols_are_no_functions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
