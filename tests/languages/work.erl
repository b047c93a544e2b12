%% erl -noshell -s work main ROUNDS: recursion, numbers, and a map that counts.
-module(work).
-export([main/1]).

fib(N) when N < 2 ->
    N;
fib(N) ->
    fib(N - 1) + fib(N - 2).

hash(0, Sum) ->
    Sum;
hash(N, Sum) ->
    hash(N - 1, (Sum * 31 + N) band 16#ffffffff).

count([], Counts) ->
    Counts;
count([Key | Rest], Counts) ->
    count(Rest, maps:update_with(Key, fun(Number) -> Number + 1 end, 1, Counts)).

work(0) ->
    ok;
work(Rounds) ->
    _ = fib(20),
    _ = hash(50000, 7),
    _ = count([N rem 97 || N <- lists:seq(1, 5000)], #{}),
    work(Rounds - 1).

main([Rounds]) ->
    work(list_to_integer(atom_to_list(Rounds))),
    halt(0).
