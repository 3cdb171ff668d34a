// A client made with the TypeScript SDK: it lists tools, calls one of them and prints what it got.
// The SDK raises when structuredContent does not match the tool's outputSchema.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [calls, ...command] = process.argv.slice(2);
const transport = new StdioClientTransport({ command: command[0], args: command.slice(1), env: process.env });
const client = new Client({ name: "claude-code", version: "1" });
await client.connect(transport);
await client.listTools();
const results = [];
for (const call of JSON.parse(calls)) results.push(await client.callTool(call));
console.log(JSON.stringify(results));
await client.close();
