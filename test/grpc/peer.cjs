// peer.cjs: gRPC's own client and server for Node.js (@grpc/grpc-js), without generated code.
//
//   peer.cjs server FAIL_EVERY        prints its port; shop.Cart/Add answers its request, and
//                                     every N-th time UNAVAILABLE (0: never); shop.Cart/Count
//                                     says how often it ran; shop.Cart/Talk answers each
//                                     message as it comes
//   peer.cjs client HOST:PORT CALLS   "1000 OK", or what else; then a Talk of ten messages
'use strict';
const grpc = require('@grpc/grpc-js');

const same = (bytes) => bytes;
const coded = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
const unary = { requestStream: false, responseStream: false, ...coded };
const service = {
  Add: { path: '/shop.Cart/Add', ...unary },
  Count: { path: '/shop.Cart/Count', ...unary },
  Talk: { path: '/shop.Cart/Talk', requestStream: true, responseStream: true, ...coded },
};

function serve(failEvery) {
  let ran = 0;
  const server = new grpc.Server();
  server.addService(service, {
    Add(call, done) {
      ran += 1;
      if (failEvery && ran % failEvery === 0) done({ code: grpc.status.UNAVAILABLE, details: 'on purpose' });
      else done(null, call.request);
    },
    Count: (call, done) => done(null, Buffer.from(String(ran))),
    Talk(call) {
      call.on('data', (m) => call.write(m));
      call.on('end', () => call.end());
    },
  });
  server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) => {
    if (error) throw error;
    console.log(port);
  });
}

async function ask(to, calls) {
  const client = new grpc.Client(to, grpc.credentials.createInsecure(), { 'grpc.enable_retries': 0 });
  const deadline = () => ({ deadline: Date.now() + 60000 });
  const one = (method, bytes) =>
    new Promise((done) => {
      client.makeUnaryRequest(method.path, same, same, bytes, new grpc.Metadata(), deadline(), (error, answer) =>
        done(error ? { code: grpc.status[error.code] } : { code: 'OK', answer }),
      );
    });
  const counts = {};
  const batch = 50;
  for (let i = 0; i < calls; i += batch) {
    const ended = await Promise.all(
      Array.from({ length: Math.min(batch, calls - i) }, (_, k) => one(service.Add, Buffer.from(`call ${i + k}`))),
    );
    ended.forEach((e, k) => {
      const what = e.code === 'OK' && e.answer.toString() !== `call ${i + k}` ? 'WRONG' : e.code;
      counts[what] = (counts[what] ?? 0) + 1;
    });
  }
  const ran = (await one(service.Count, Buffer.alloc(0))).answer;
  const heard = await new Promise((done) => {
    const stream = client.makeBidiStreamRequest(service.Talk.path, same, same, new grpc.Metadata(), deadline());
    let n = 0;
    stream.on('data', () => {
      n += 1;
      if (n < 10) stream.write(Buffer.from('more'));
      else stream.end();
    });
    stream.on('error', () => {});
    stream.on('status', (s) => done(`${n} ${grpc.status[s.code]}`));
    stream.write(Buffer.from('first'));
  });
  const list = Object.entries(counts).map(([code, n]) => `${n} ${code}`).join(', ');
  console.log(`${list}; ran ${ran}; talked ${heard}`);
  client.close();
}

const [what, first, second] = process.argv.slice(2);
if (what === 'server') serve(Number(first));
else ask(first, Number(second));
