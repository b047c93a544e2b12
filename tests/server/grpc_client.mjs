// Calls of gRPC by @grpc/grpc-js: node grpc_client.mjs WEB <what to send, as JSON: messages are hexadecimal, or a number of zeros; prints what came back, as JSON.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { Client, Metadata, credentials } = createRequire(`${process.argv[2]}/package.json`)('@grpc/grpc-js');
const what = JSON.parse(readFileSync(0, 'utf8'));
const path = what.path ?? '/opentelemetry.proto.collector.trace.v1.TraceService/Export';
const client = what.client && readFileSync(what.client);
const security = what.ca ? credentials.createSsl(readFileSync(what.ca), client ?? null, client ?? null) : credentials.createInsecure();
const peer = new Client(what.at, security, {
  'grpc.default_compression_algorithm': what.compression ?? 0,
  'grpc.max_send_message_length': -1,
});
const metadata = new Metadata();
for (const [name, value] of Object.entries(what.metadata ?? {})) metadata.set(name, value);
const same = (message) => message;
const bytes = (message) => (typeof message === 'number' ? Buffer.alloc(message) : Buffer.from(message, 'hex'));
const send = (message) => new Promise((done) => {
  peer.makeUnaryRequest(path, same, same, message, metadata, { deadline: Date.now() + 60000 }, (error, data) => {
    if (!error) done({ code: 0, data: data.toString('hex') });
    else {
      const [details] = error.metadata?.get('grpc-status-details-bin') ?? [];
      done({ code: error.code, text: error.details, details: details?.toString('hex') });
    }
  });
});
console.log(JSON.stringify(await Promise.all(what.messages.map(bytes).map(send))));
peer.close();
