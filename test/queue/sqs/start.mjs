// start.mjs PORT: fauxqs, without its log. It listens on all interfaces: run it in a
// network of its own (test/tools/fauxqs.py).
import { startFauxqs } from "fauxqs";

await startFauxqs({ port: Number(process.argv[2]), logger: false });
