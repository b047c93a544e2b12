// The same for what C++ adds: methods, references, strings, objects with a copy of their own.
#include <cstdio>
#include <string>

struct Counted {
    int value;
    explicit Counted(int v) : value(v) {}
    Counted(const Counted &other) : value(other.value) {}
    ~Counted() {}
};

struct Empty {
};

struct Thing {
    int base;
    int add(int a, const int &b)
    {
        printf("Thing::add(%#lx, %d, %#lx) = %d\n", (long)this, a, (long)&b, base + a + b);
        return base + a + b;
    }
    static long twice(short a)
    {
        printf("Thing::twice(%d) = %d\n", a, a * 2);
        return a * 2;
    }
};

int length(const std::string &a, std::string *b)
{
    printf("length(\"%s\"s, \"%s\"s) = %d\n", a.c_str(), b->c_str(), (int)a.size());
    return (int)a.size();
}

int owned(std::string a, int b)
{
    printf("owned(\"%s\"s, %d) = %d\n", a.c_str(), b, b);
    return b;
}

std::string made(int a)
{
    printf("made::cxx11(%d) = \"made\"s\n", a);
    return "made";
}

int counted(Counted a, int b)
{
    printf("counted(Counted{...}, %d) = %d\n", b, b + a.value);
    return b + a.value;
}

Counted recounted(int a)
{
    printf("recounted(%d) = Counted{...}\n", a);
    return Counted(a);
}

int empty(Empty, int b)
{
    printf("empty(Empty{}, %d) = %d\n", b, b);
    return b;
}

int main()
{
    std::string s = "a string that is longer than what fits inside the object", t;
    Thing thing{7};
    int nine = 9;

    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    thing.add(8, nine);
    Thing::twice(-4);
    length(s, &t);
    owned("owned", 5);
    made(1);
    counted(Counted(3), 4);
    recounted(5);
    empty(Empty(), 6);
    return 0;
}
