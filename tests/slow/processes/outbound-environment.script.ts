/**
 * Calls URLs with both clients as a process of its own, and prints the status or the reason of the
 * failure of each. Arguments: a certificate authority or nothing, and the URLs.
 */
import { createBoundedFetch } from '../../../src/platform/bounded-fetch.ts'
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
const bounded = createBoundedFetch({ clock: systemClock, timeoutMs: 1000, ...(ca && { ca }) })

const calls = urls.map(async (url) => {
  const result = await outbound.send({ url, method: 'GET', headers: {}, body: null })
  return [
    result.replied ? result.status : result.reason,
    await bounded(url).then(
      ({ status }) => status,
      ({ reason }) => reason,
    ),
  ]
})
console.log(JSON.stringify(await Promise.all(calls)))
