// Finds a syntax error of the program before it runs, and says so to the supervisor over descriptor 3, which only the
// first process of a cell has. It is closed before the program's first line.
"use strict";

const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

function isRight(file) {
  const source = fs.readFileSync(file, "utf8");
  try {
    vm.compileFunction(source.replace(/^#!.*/, ""), ["exports", "require", "module", "__filename", "__dirname"]);
    return true;
  } catch {
    // An ES module, or wrong. Node itself knows best, and only these programs pay for a second start.
    const { spawnSync } = require("node:child_process");
    const copy = "/tmp/check.mjs";
    fs.copyFileSync(file, copy);
    const { status } = spawnSync(process.execPath, ["--check", copy], { stdio: "ignore" });
    fs.unlinkSync(copy);
    return status === 0 || status === null; // null: no second start was possible, so Node will tell when it runs
  }
}

// A pipe that belongs to root, which no pipe of the program's own does.
function isOurs(descriptor) {
  try {
    const seen = fs.fstatSync(descriptor);
    return seen.isFIFO() && seen.uid === 0;
  } catch {
    return false;
  }
}

if (process.pid === 2 && isOurs(3)) {
  try {
    fs.writeSync(3, isRight(path.resolve(process.argv[1])) ? "P" : "F");
  } finally {
    fs.closeSync(3);
  }
}
