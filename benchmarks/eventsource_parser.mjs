// eventsource_parser.mjs CORPUS SECONDS: feeds the file to eventsource-parser in pieces of 16 KiB, as they come from a
// socket: bytes, to be decoded first. Counts the time of the main thread, as the benchmarks of our side do.
import { readFileSync } from 'node:fs';
import { load, print } from './packages.mjs';

const { createParser } = await load('eventsource-parser');
const corpus = readFileSync(process.argv[2]);
const least = Number(process.argv[3]) * 1e6;
const piece = 16 * 1024;

function pass() {
  let events = 0;
  const parser = createParser({ maxBufferSize: Infinity, onEvent: () => { ++events; } });
  const decoder = new TextDecoder();
  for (let at = 0; at < corpus.length; at += piece) {
    parser.feed(decoder.decode(corpus.subarray(at, at + piece), { stream: true }));
  }
  return events;
}

const microseconds = () => { const { user, system } = process.threadCpuUsage(); return user + system; };

let events = 0;
for (let i = 0; i < 5; ++i) events = pass();  // until it is compiled
const begin = microseconds();
let passes = 0;
let spent = 0;
do {
  pass();
  ++passes;
  spent = microseconds() - begin;
} while (spent < least);
print({ bytes_per_second: corpus.length * passes / spent * 1e6, events });
