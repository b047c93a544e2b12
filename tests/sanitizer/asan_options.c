/* Options of AddressSanitizer that programs of the dev build start with: cairn, and on aarch64 unit tests as well.
 *
 * A search for leaks is a third of the time of a short command, and tests start thousands. On aarch64 the allocator of
 * GCC 12 has a table of the whole address space, which the search walks in 4 s a process. ASAN_OPTIONS=detect_leaks=1
 * in the environment asks for it, as tests/soak/leaks does.
 *
 * Undefined behaviour is a trap, SIGILL on x86_64 and SIGTRAP on aarch64, which AddressSanitizer shows with the stack. Messages
 * of UBSan would need data of their own, in which AddressSanitizer sees variables to watch: seven of eight of all that it has in
 * cairn, and most of the time of a start. */

/* A program may define its own. */
__attribute__((weak)) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
    return "detect_leaks=0:handle_sigill=1:handle_sigtrap=1";
}
