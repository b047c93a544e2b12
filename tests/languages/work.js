// node work.js ROUNDS: runs six parts in turn: recursion, inlined code, a map, sorting, JSON, regular expressions. Prints which share of the
// processor time of the process each has taken.
function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }

function mix(a, b) { return (Math.imul(a, 31) + (b ^ (a >>> 7))) | 0; }

function hash(n) {
  let h = 1;
  for (let i = 0; i < n; i++)
    h = mix(h, i);
  return h;
}

function count(n) {
  const words = new Map();
  for (let i = 0; i < n; i++) {
    const word = 'w' + (i * 7919 % 10007);
    words.set(word, (words.get(word) || 0) + 1);
  }
  return words.size;
}

function compare(a, b) { return a - b; }

function sort(n) {
  const numbers = [];
  for (let i = 0; i < n; i++)
    numbers.push(Math.imul(i, 0x9e3779b1) >>> 0);
  return numbers.sort(compare)[0];
}

function json(n) {
  const rows = [];
  for (let i = 0; i < n; i++)
    rows.push({ a: i, b: 'row ' + i });
  return JSON.parse(JSON.stringify(rows)).length;
}

function letters(word) { return word.replace(/[0-9]+/g, '').length; }

function text(n) {
  let sum = 0;
  for (let i = 0; i < n; i++)
    sum += letters('word ' + i + ' and ' + i * 3);
  return sum;
}

const parts = { fib, hash, count, sort, json, text };
const sizes = { fib: 25, hash: 1000000, count: 10000, sort: 5000, json: 2500, text: 5000 };
const times = {};
let sink = 0;

function work(rounds) {
  let now = process.cpuUsage();
  while (rounds-- > 0)
    for (const name in parts) {
      sink += parts[name](sizes[name]);
      const next = process.cpuUsage();
      times[name] = (times[name] || 0) + next.user + next.system - now.user - now.system;
      now = next;
    }
}

work(Number(process.argv[2]));
const all = Object.values(times).reduce((a, b) => a + b, 0);
for (const name in times)
  console.log(name, (100 * times[name] / all).toFixed(2));
