// A promise that takes too long fails, and says what was waited for.
export function within(promise, what, seconds = 60) {
  let timer;
  const late = new Promise((_, failed) => {
    timer = setTimeout(() => failed(new Error(`${what}: nothing within ${seconds} s`)), seconds * 1000);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
