// Where the mistake in a formula of a derived metric is, from the message of the server.

export interface Mistake {
  formula: string; // NAME=FORMULA
  at: number; // index of the character; -1: unknown
  text: string;
}

export function mistakeIn(formula: string, message: string): Mistake {
  const begin = formula.indexOf("=") + 1;
  const number = /at character (\d+)$/.exec(message)?.[1];
  const name = /no metric '(.*?)'; there are/.exec(message)?.[1];
  const at =
    number !== undefined
      ? begin + Number(number) - 1
      : name !== undefined
        ? formula.indexOf(name, begin)
        : -1;
  return {
    formula,
    at,
    text: message.replace(/^derived metric '.*?': formula .*?: (?=no |the )/, ""),
  };
}
