/**
 * Calls URLs as a process of its own and prints the status or the reason of the failure of each.
 * Arguments: `outbound` or `bounded`, a certificate authority or nothing, and the URLs.
 */
import { createBoundedFetch } from '../../../src/platform/bounded-fetch.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { createOutbound } from '../../../src/platform/outbound/index.ts'

const [client, ca, ...urls] = process.argv.slice(2)

const outbound = createOutbound({
  clock: systemClock,
  allow: ['127.0.0.0/8'],
  timeoutMs: 1000,
  maxResponseBytes: 1024,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  ca: ca || [],
})
const bounded = createBoundedFetch({ clock: systemClock, ...(ca && { ca }) })

const calls = {
  outbound: async (url: string) => {
    const result = await outbound.send({ url, method: 'GET', headers: {}, body: null })
    return result.replied ? result.status : result.reason
  },
  bounded: (url: string) =>
    bounded(url).then(
      ({ status }) => status,
      ({ reason }) => reason,
    ),
}
console.log(JSON.stringify(await Promise.all(urls.map(calls[client as keyof typeof calls]))))
