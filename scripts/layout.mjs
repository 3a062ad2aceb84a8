// Compares places and sizes of the parts of pages, as `scripts/browser --measure` writes them, with those that were
// committed: node scripts/layout.mjs COMMITTED MEASURED. Exit code 77 where the fonts are others.
import { readFileSync } from "node:fs";

// So much more or less is no change of the layout: a word that is longer, a line more.
const SHARE = 0.12, LEAST_PX = 60;
const [committed, measured] = process.argv.slice(2).map((file) => readFileSync(file, "utf8").trim().split("\n"));

function parts(line) {
  const numbers = [];
  const name = line.replace(/( at )(\d+), (\d+) x (\d+)$/, (_, at, ...found) => {
    numbers.push(...found.slice(0, 3).map(Number));
    return at;
  });
  return { name, numbers };
}

if (committed[0] !== measured[0]) {
  console.log(`skipped: the fonts here are others (${measured[0]}, committed ${committed[0]}), so the layout is not compared`);
  process.exit(77);
}
let page = "", differ = 0;
const say = (text) => ++differ <= 20 && console.log(`${page}: ${text}`);
for (let i = 1; i < Math.max(committed.length, measured.length); i++) {
  const [was, is] = [committed[i] ?? "", measured[i] ?? ""].map(parts);
  if (!was.numbers.length && was.name === is.name) page = is.name;
  else if (was.name !== is.name) {
    say(`"${is.name}" where "${was.name}" was`);
    break;
  } else {
    const moved = was.numbers.some((number, n) => Math.abs(number - is.numbers[n]) > Math.max(LEAST_PX, SHARE * number));
    if (moved) say(`${is.name}${is.numbers}, was ${was.numbers}`);
  }
}
if (differ) console.log("the layout is another: look at the screens (scripts/pages --screens DIR), which writes the new one down");
process.exit(differ ? 1 : 0);
