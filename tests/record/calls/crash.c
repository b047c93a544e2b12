/* A program that dies of a bad pointer. */
static int *volatile nowhere;

int boom(int *at)
{
    return *at;
}

int lvl2(int n)
{
    return boom(nowhere) + n;
}

int lvl1(int n)
{
    return lvl2(n) + 1;
}

int main(void)
{
    return lvl1(1);
}
