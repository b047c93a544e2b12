# ruby work.rb ROUNDS: runs five parts in turn: recursion, a loop of blocks, a hash, sorting, regular expressions. Prints which share of
# the time each has taken, as its own clock measures it.
class Work
  def fib(n)
    n < 2 ? n : fib(n - 1) + fib(n - 2)
  end

  def hash(n)
    h = 1
    n.times do |i|
      h = (h * 31 + (i ^ h)) & 0xffffff
    end
    h
  end

  def count(n)
    words = Hash.new(0)
    n.times { |i| words["w#{i * 7919 % 10007}"] += 1 }
    words.size
  end

  def key(number)
    number & 0xffff
  end

  def sort(n)
    numbers = Array.new(n) { |i| i * 0x9e3779b1 & 0xffffffff }
    numbers.sort_by { |number| key(number) }.first
  end

  def text(n)
    (0...n).sum { |i| "word #{i} and #{i * 3}".scan(/\d+/).length }
  end

  def self.work(rounds)
    sizes = { fib: 23, hash: 60_000, count: 15_000, sort: 20_000, text: 6_000 }
    times = Hash.new(0.0)
    worker = new
    now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
    rounds.times do
      sizes.each do |part, size|
        worker.send(part, size)
        after = Process.clock_gettime(Process::CLOCK_MONOTONIC)
        times[part] += after - now
        now = after
      end
    end
    times.each { |part, time| puts format('%s %.2f', part, 100 * time / times.values.sum) }
  end
end

Thread.new { Work.work(ARGV.fetch(0).to_i) }.join if ARGV[1] == 'thread'
Work.work(ARGV.fetch(0).to_i)
