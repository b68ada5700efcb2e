// Runs the checks in Node:  node in_node.mjs PACKAGE PROGRAMS
// PACKAGE is the assembled package, with these tests in it; PROGRAMS what scripts/web.sh compiled.

import { readFile } from "node:fs/promises";
import { argv, exit } from "node:process";
import { pathToFileURL } from "node:url";

const [root, package_, programs] = [".", argv[2], argv[3]].map((path) => pathToFileURL(`${path}/`));
const { runChecks } = await import(new URL("tests/checks.js", package_));
const read = async (path) => {
  const bytes = await readFile(new URL(path, root));
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
};
const program = (name) => new URL(name, programs).href;
const broken = JSON.parse(await readFile(new URL("broken.json", programs), "utf8"));

let failed = 0;
await runChecks({ read, program, broken }, ([name, passed, text]) => {
  console.log(`${passed ? "ok      " : "FAILED  "}${name}${text ? `: ${text}` : ""}`);
  if (!passed) ++failed;
});
exit(failed ? 1 : 0);
