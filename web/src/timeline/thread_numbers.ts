// Numbers of threads as a selection: "1-3,7".

export function printNumbers(numbers: number[]): string {
  const list = [...new Set(numbers)].sort((a, b) => a - b);
  const parts: string[] = [];
  for (let i = 0; i < list.length;) {
    let end = i;
    while ((list[end + 1] ?? -1) === (list[end] ?? 0) + 1) end++;
    parts.push(end > i ? `${list[i]}-${list[end]}` : `${list[i]}`);
    i = end + 1;
  }
  return parts.join(",");
}

// True if a selection, empty for all, contains a number.
export function holdsNumber(text: string, number: number): boolean {
  if (text === "") return true;
  return text.split(",").some((part) => {
    const [low = "", high = low] = part.split("-");
    return number >= Number(low) && number <= Number(high);
  });
}

export function countNumbers(text: string): number {
  return text.split(",").reduce((sum, part) => {
    const [low = "", high = low] = part.split("-");
    return sum + Number(high) - Number(low) + 1;
  }, 0);
}

// Add a number to a selection, or remove it. Here, empty means none.
export function toggleNumber(text: string, number: number): string {
  const list =
    text === ""
      ? []
      : text.split(",").flatMap((part) => {
          const [low = "", high = low] = part.split("-");
          return Array.from({ length: Number(high) - Number(low) + 1 }, (_, i) => Number(low) + i);
        });
  return printNumbers(
    list.includes(number) ? list.filter((other) => other !== number) : [...list, number],
  );
}
