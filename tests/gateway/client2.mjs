// A client made with the second TypeScript SDK, on the wire of 2026-07-28: it lists tools, calls them and prints both.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [calls, ...command] = process.argv.slice(2);
const transport = new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env });
const client = new Client({ name: "claude-code", version: "1" }, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
await client.connect(transport);
const { tools } = await client.listTools();
const results = [];
for (const call of JSON.parse(calls)) results.push(await client.callTool(call));
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), results }));
await client.close();
