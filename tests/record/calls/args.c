/* Arguments and results of every kind. */
#include <stdint.h>
#include <string.h>

struct small {
    int x, y;
};
struct big {
    long v[4];
};
enum color { RED, GREEN = 5, BLUE };

int f_int(int a, long b, unsigned char c)
{
    return a + (int)b + c;
}

const char *f_str(const char *text, char c)
{
    return strchr(text, c);
}

double f_dbl(double d, float f)
{
    return d * (double)f;
}

struct small f_small(struct small s, int k)
{
    s.x += k;
    return s;
}

struct big f_big(struct big b)
{
    b.v[0]++;
    return b;
}

enum color f_enum(enum color c)
{
    return c == RED ? GREEN : BLUE;
}

void *f_ptr(void *p)
{
    return p;
}

int f_many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j)
{
    return a + b + c + d + e + f + g + h + i + j;
}

int64_t f_neg(int8_t a, int16_t b, int64_t c)
{
    return a + b + c;
}

int main(void)
{
    struct small small = {1, 2};
    struct big big = {{1, 2, 3, 4}};

    f_int(-1, 2, 3);
    f_str("hello world", 'w');
    f_str("", 'x');
    f_str("a very long string", 'z');
    f_str("a \"quoted\"\n\tline\\", '\0');
    f_dbl(1.5, 2.25f);
    f_small(small, 7);
    f_big(big);
    f_enum(RED);
    f_ptr(NULL);
    f_ptr(&small);
    f_many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
    f_neg(-1, -2, -3);
    return 0;
}
