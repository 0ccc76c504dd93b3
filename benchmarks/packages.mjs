// Finds the rivals in the folder that the environment variable MCPHTTP_BENCHMARK_PACKAGES names.
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const require = createRequire(`${process.env.MCPHTTP_BENCHMARK_PACKAGES}/`);
export const load = name => import(pathToFileURL(require.resolve(name)));

// The largest resident set of this process so far (proc(5)).
export const peakBytes = () =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;

export const print = figures => console.log(JSON.stringify(figures));
