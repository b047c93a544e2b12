/* Functions with arguments of all kinds; each prints its arguments as `cairn replay`
 * shows them. */
#include <complex.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct pair {
    int x, y;
};
struct mixed {
    double d;
    long l;
};
struct floats {
    float a, b, c;
};
struct large {
    long v[5];
};
struct flags {
    unsigned a : 3, b : 5;
    char c;
};
enum color { RED, GREEN = 5, BLUE = -2 };

int i32(int a, int b)
{
    printf("i32(%d, %#x) = %#x\n", a, b, a + b);
    return a + b;
}

long small(int8_t a, uint8_t b, int16_t c, uint16_t d)
{
    printf("small(%d, %d, %d, %d) = %d\n", a, b, c, d, a + c);
    return a + c;
}

int64_t wide(int64_t a, uint64_t b, int64_t c)
{
    printf("wide(%ld, %#lx, %#lx) = %ld\n", (long)a, (long)b, (long)c, (long)a);
    return a;
}

double f64(double a, float b)
{
    printf("f64(%f, %f) = %f\n", a, b, a / 2);
    return a / 2 * (b < 0 ? -1 : 1) * (b < 0 ? -1 : 1);
}

float f32(float a, double b)
{
    printf("f32(%f, %f) = %f\n", a, b, a);
    return a;
}

double mix(int a, double b, char c, float d, const char *e, double f)
{
    printf("mix(%d, %f, '%c', %f, \"%s\", %f) = %f\n", a, b, c, d, e, f, b);
    return b;
}

const char *text(const char *s)
{
    if (!s)
        printf("text(\"NULL\") = \"NULL\"\n");
    else if (s == (char *)1)
        printf("text(\"<0x1>\") = \"NULL\"\n");
    else
        printf("text(\"%s\") = \"%s\"\n", s, s);
    return s == (char *)1 ? NULL : s;
}

bool truth(bool a, char c)
{
    printf("truth(%d, '%c') = %d\n", a, c, !a);
    return !a;
}

enum color colour(enum color a, enum color b)
{
    printf("colour(GREEN, BLUE) = RED\n");
    return RED;
}

void *pointer(void *a, int *b)
{
    printf("pointer(%#lx, 0) = %#lx\n", (long)a, (long)a);
    return a;
}

int many(int a, int b, int c, int d, int e, int f, int g, int h, int i, short j, char k,
         int l)
{
    printf("many(%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, '%c', %d) = %d\n", a, b, c, d, e,
           f, g, h, i, j, k, l, a + l);
    return a + l;
}

double floating(double a, double b, double c, double d, double e, double f, double g,
                double h, double i, float j)
{
    printf("floating(%f, %f, %f, %f, %f, %f, %f, %f, %f, %f) = %f\n", a, b, c, d, e, f, g,
           h, i, j, i);
    return i;
}

/* The content of structs is not shown; if their neighbours are right, they were found
 * correctly. */
struct pair pairs(struct pair a, int b, struct mixed c, int d, double e)
{
    printf("pairs(pair{...}, %d, mixed{...}, %d, %f) = pair{...}\n", b, d, e);
    return a;
}

struct large larges(int a, struct large b, int c, struct floats d, float e)
{
    printf("larges(%d, large{...}, %d, floats{...}, %f) = large{...}\n", a, c, e);
    return b;
}

struct floats bits(struct flags a, int b, double complex c, double d)
{
    printf("bits(flags{...}, %d, complex{...}, %f) = floats{...}\n", b, d);
    return (struct floats){1, 2, 3};
}

__int128 huge(int a, __int128 b, int c)
{
    printf("huge(%d, __int128{...}, %d) = __int128{...}\n", a, c);
    return b;
}

int sum(int count, ...)
{
    va_list rest;
    int total = 0;

    va_start(rest, count);
    for (int i = 0; i < count; i++)
        total += va_arg(rest, int);
    va_end(rest);
    printf("sum(%d) = %d\n", count, total);
    return total;
}

#if defined(__x86_64__)
long double extended(int a, long double b, int c)
{
    printf("extended(%d, %Lf, %d) = %Lf\n", a, b, c, b * 2);
    return b * 2;
}
#endif

void nothing(void)
{
    printf("nothing()\n");
}

int slow(int a)
{
    usleep(4000);
    printf("slow(%d) = %d\n", a, a * a);
    return a * a;
}

int main(void)
{
    struct pair p = {1, 2};
    struct mixed m = {1.5, 3};
    struct floats f = {1, 2, 3};
    struct large l = {{1, 2, 3, 4, 5}};
    struct flags g = {1, 2, 3};

    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    i32(-7, 1234567);
    small(-1, 255, -300, 65535);
    wide(-99999, 1ull << 63, 1ll << 40);
    f64(1.5, -2.25f);
    f32(0.5f, 1e6);
    mix(1, 2.5, 'c', 3.5f, "five", -6.5);
    text("hello");
    text(NULL);
    text((char *)1);
    truth(true, 'x');
    truth(false, 'y');
    colour(GREEN, BLUE);
    pointer(&p, NULL);
    many(1, 2, 3, 4, 5, 6, 7, 8, 9, -10, 'k', 12);
    floating(1, 2, 3, 4, 5, 6, 7, 8, 9.5, -10.5f);
    pairs(p, 4, m, 5, 6.5);
    larges(1, l, 2, f, 3.5f);
    bits(g, 7, 1 + 2 * I, 8.5);
    huge(1, 2, 3);
    sum(3, 1, 2, 3);
#if defined(__x86_64__)
    extended(1, 2.5L, 3);
#endif
    nothing();
    slow(3);
    return strlen("library") != 7;
}
