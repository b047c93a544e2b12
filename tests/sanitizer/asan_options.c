/* Options of AddressSanitizer that programs of the dev build start with on aarch64.
 *
 * The allocator of GCC 12 there keeps a table of the whole address space; a search for leaks walks it and takes
 * 4 s a process. ASAN_OPTIONS=detect_leaks=1 in the environment still asks for it. */

/* A program may define its own. */
__attribute__((weak)) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}
