// typescript_client.mjs URL COUNT: the calls of the scenario `calls` of our side, by the official TypeScript client.
// Beyond 1,500 calls it warns of its own listeners for each one, which would be measured too: COUNT is at most 1,000.
import { load, peakBytes, print } from './packages.mjs';

const { Client, StreamableHTTPClientTransport } = await load('@modelcontextprotocol/client');
const [url, count] = [process.argv[2], Number(process.argv[3])];

const client = new Client({ name: 'bench', version: '1' });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const call = () => client.callTool({ name: 'echo', arguments: { text: 'hello' } });

for (let i = 0; i < 400; ++i) await call();  // until it is compiled
const times = [];
const begin = process.cpuUsage();
for (let i = 0; i < count; ++i) {
  const start = performance.now();
  await call();
  times.push((performance.now() - start) * 1000);
}
const { user, system } = process.cpuUsage(begin);
times.sort((a, b) => a - b);
print({ cpu_us: (user + system) / count, p50_us: times[count >> 1], peak_bytes: peakBytes() });
await client.close();
