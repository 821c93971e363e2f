// Reads what bide wrote with OpenTelemetry's own decoder (the generated code of
// @opentelemetry/otlp-transformer), and prints it as JSON.
//
//   node decode.js traces|metrics protobuf|json < body
'use strict';
const path = require('path');
const dir = path.dirname(require.resolve('@opentelemetry/otlp-transformer/package.json'));
const root = require(path.join(dir, 'build/src/generated/root.js'));
const proto = root.opentelemetry.proto.collector;
const types = {
  traces: proto.trace.v1.ExportTraceServiceRequest,
  metrics: proto.metrics.v1.ExportMetricsServiceRequest,
};

const [what, format] = process.argv.slice(2);
const type = types[what];
const body = require('fs').readFileSync(0);

// JSON has ids in hexadecimal, and protobufjs knows only base64.
function ids(value) {
  for (const key of Object.keys(value)) {
    if (/^(traceId|spanId|parentSpanId)$/.test(key))
      value[key] = Buffer.from(value[key], 'hex').toString('base64');
    else if (value[key] && typeof value[key] === 'object')
      ids(value[key]);
  }
  return value;
}

let message;
if (format === 'json') {
  const object = ids(JSON.parse(body.toString('utf8')));
  message = type.fromObject(object);
} else {
  message = type.decode(body);
}
const again = type.encode(message).finish();
if (format !== 'json' && again.length !== body.length) {
  console.error(`${body.length} bytes came, ${again.length} make the same message`);
  process.exit(1);
}
const options = { json: true, longs: Number, enums: Number, bytes: Array, defaults: false };
function hex(value) {
  for (const key of Object.keys(value)) {
    if (/^(traceId|spanId|parentSpanId)$/.test(key))
      value[key] = Buffer.from(value[key]).toString('hex');
    else if (value[key] && typeof value[key] === 'object')
      hex(value[key]);
  }
  return value;
}
console.log(JSON.stringify(hex(type.toObject(message, options))));
