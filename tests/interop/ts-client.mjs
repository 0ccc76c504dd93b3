// The official TypeScript client, as one run of an application: ts-client.mjs URL auto|legacy CALLS [SIGNAL]
// CALLS: JSON, [{"name", "arguments"}, ...]. At the first progress of a call it posts to SIGNAL and waits for the answer.
// Prints what it has seen as one line of JSON; of a long text only its length.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const [url, mode, calls, signal] = process.argv.slice(2);
const capabilities = { elicitation: {}, sampling: {} };
const client = new Client({ name: 'ts-client', version: '1' }, { capabilities, versionNegotiation: { mode } });
client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { ok: true, name: 'Ada' } }));
client.setRequestHandler('sampling/createMessage', async () =>
  ({ role: 'assistant', model: 'm', content: { type: 'text', text: 'sampled' } }));
let logged = 0;
client.setNotificationHandler('notifications/message', () => { ++logged; });

const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
const tools = (await client.listTools()).tools.map(tool => tool.name);
const results = [];
for (const { name, arguments: given } of JSON.parse(calls)) {
  const progress = [];
  const onprogress = async step => {
    progress.push(step.progress);
    if (signal && progress.length === 1) await fetch(signal, { method: 'POST', body: '{}' });
  };
  try {
    const result = await client.callTool({ name, arguments: given }, { onprogress, timeout: 30000 });
    const text = result.content.map(part => part.text).join('');
    results.push({ text: text.length > 1000 ? text.length : text, progress });
  } catch (error) {
    results.push({ error: error.message, code: error.code, progress });
  }
}
const session = transport.sessionId ?? null;
if (session) await transport.terminateSession();
console.log(JSON.stringify({ version: client.getNegotiatedProtocolVersion?.() ?? null, session, tools, results, logged }));
process.exit(0);
