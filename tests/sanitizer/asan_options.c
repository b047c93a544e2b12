/* Options of AddressSanitizer that programs of the dev build start with: cairn, and on aarch64 unit tests as well.
 *
 * A search for leaks is a third of the time of a short command, and tests start thousands. On aarch64 the allocator of
 * GCC 12 has a table of the whole address space, which the search walks in 4 s a process. ASAN_OPTIONS=detect_leaks=1
 * in the environment asks for it, as tests/soak/leaks does. */

/* A program may define its own. */
__attribute__((weak)) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
