# The warnings that all of src/ is compiled with.
set(CN_WARNINGS -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wwrite-strings -Wpointer-arith -Wcast-qual -Wundef -Wformat=2
    -Wimplicit-fallthrough -Wswitch-enum)
