/** Run in a process of its own by environment.test.ts: sends to each URL, prints what came of it. */
import { systemClock } from '../../../src/platform/clock.ts'
import { createOutbound } from '../../../src/platform/outbound/index.ts'

const [ca, ...urls] = process.argv.slice(2)

const outbound = createOutbound({
  clock: systemClock,
  allow: ['127.0.0.0/8'],
  timeoutMs: 1000,
  maxResponseBytes: 1024,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  ca: ca || [],
})

const results = await Promise.all(
  urls.map((url) => outbound.send({ url, method: 'GET', headers: {}, body: null })),
)
console.log(JSON.stringify(results))
