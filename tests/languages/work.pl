# perl work.pl ROUNDS: runs five parts in turn: recursion, a loop, a hash, sorting, regular expressions. Prints which share of the time
# each has taken, as its own clock measures it.
use strict;
use warnings;
use List::Util qw(first);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

package Work;

sub fib {
    my ($n) = @_;
    return $n < 2 ? $n : fib($n - 1) + fib($n - 2);
}

sub hash {
    my ($n) = @_;
    my $h = 1;
    for my $i (0 .. $n - 1) {
        $h = ($h * 31 + ($i ^ $h)) & 0xffffff;
    }
    return $h;
}

sub count {
    my ($n) = @_;
    my %words;
    $words{'w' . $_ * 7919 % 10007}++ for 0 .. $n - 1;
    return scalar keys %words;
}

sub compare {
    return $a <=> $b;
}

sub key {
    return $_[0] & 0xffff;
}

sub sort {
    my ($n) = @_;
    my @numbers = map { $_ * 40503 & 0xffff } 0 .. $n - 1;
    my @by_sub = sort compare @numbers;
    my @by_block = sort { key($a) <=> key($b) } @numbers;
    return List::Util::first(sub { key($_) > 65000 }, @by_block);
}

sub text {
    my ($n) = @_;
    my $sum = 0;
    for my $i (0 .. $n - 1) {
        $sum += () = eval { "word $i and " . $i * 3 } =~ /\d+/g;
    }
    return $sum;
}

package main;

sub work {
    my ($rounds) = @_;
    my %sizes = (fib => 21, hash => 80000, count => 30000, sort => 4000, text => 15000);
    my %times;
    my $now = clock_gettime(CLOCK_MONOTONIC);
    while ($rounds-- > 0) {
        for my $part (sort keys %sizes) {
            Work->can($part)->($sizes{$part});
            my $next = clock_gettime(CLOCK_MONOTONIC);
            $times{$part} += $next - $now;
            $now = $next;
        }
    }
    my $all = 0;
    $all += $_ for values %times;
    printf "%s %.2f\n", $_, 100 * $times{$_} / $all for sort keys %times;
}

work($ARGV[0]);
