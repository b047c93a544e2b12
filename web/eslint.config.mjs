// What is checked beyond types (tsc), format (prettier) and accessibility (axe, in e2e/everywhere_axe.mjs).
import hooks from "eslint-plugin-react-hooks";
import typescript from "typescript-eslint";

const everywhere = {
  eqeqeq: ["error", "always", { null: "ignore" }],
  "no-unused-vars": "error",
  "no-var": "error",
  "prefer-const": "error",
};

export default [
  { ignores: ["dist/", "dist-test/", "generated/", "node_modules/"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  { files: ["*.mjs", "e2e/*.mjs"], rules: everywhere },
  {
    files: ["src/**/*.{ts,tsx}", "test/**/*.ts"],
    languageOptions: { parser: typescript.parser, parserOptions: { projectService: true } },
    plugins: { "@typescript-eslint": typescript.plugin, "react-hooks": hooks },
    rules: {
      ...everywhere,
      "no-unused-vars": "off", // that of TypeScript knows types
      "@typescript-eslint/no-unused-vars": ["error", { ignoreRestSiblings: true }],
      // A promise is awaited, handled, or marked with void: else its failure is lost.
      "@typescript-eslint/no-floating-promises": [
        "error",
        { allowForKnownSafeCalls: [{ from: "package", name: "test", package: "node:test" }] },
      ],
      "@typescript-eslint/no-misused-promises": "error",
      "@typescript-eslint/await-thenable": "error",
      // What types exclude needs no check, and what they allow needs one.
      "@typescript-eslint/no-explicit-any": "error",
      "@typescript-eslint/no-unnecessary-type-assertion": "error",
      "@typescript-eslint/switch-exhaustiveness-check": [
        "error",
        { considerDefaultExhaustiveForUnions: true },
      ],
      "@typescript-eslint/consistent-type-imports": "error",
      // Hooks are called in the same order. exhaustive-deps is not checked: effects run when the
      // printed question changes (`key`), not when an object that is made for each drawing does.
      "react-hooks/rules-of-hooks": "error",
    },
  },
  {
    files: ["src/**/*.{ts,tsx}"],
    rules: { "@typescript-eslint/no-unnecessary-condition": "error" },
  },
];
