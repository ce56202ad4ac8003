import { expect, test } from 'bun:test'
import { createAuthority, createIdentity } from '../../platform/outbound/certificates.ts'
import { answer, startTarget, startTlsTarget } from '../../platform/outbound/fixture.ts'
import { ROOT } from '../../support/source.ts'

/** Calls URLs with both clients, and prints the status or the reason of the failure of each. */
const SCRIPT = `
  import { createBoundedFetch } from './src/platform/bounded-fetch.ts'
  import { systemClock as clock } from './src/platform/clock.ts'
  import { createOutbound } from './src/platform/outbound/index.ts'
  const { ca, urls } = JSON.parse(process.argv[1])
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const options = { allow: ['127.0.0.0/8'], timeoutMs: 1000, maxResponseBytes: 1024, resolve }
  const outbound = createOutbound({ clock, ...options, ca: ca || [] })
  const bounded = createBoundedFetch({ clock, timeoutMs: 1000, ...(ca && { ca }) })
  const outcome = ({ status, reason }) => reason ?? status
  const calls = urls.map((url) => Promise.all([
    outbound.send({ url, method: 'GET', headers: {}, body: null }).then(outcome),
    bounded(url).then(outcome, outcome),
  ]))
  console.log(JSON.stringify(await Promise.all(calls)))`

/** Runs the script with an environment that turns all checks off. */
async function fetchWith(proxy: string, ca: string, urls: string[]) {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']
  const proxies = [...names, ...names.map((name) => name.toLowerCase())].map((it) => [it, proxy])
  const others = { NODE_USE_ENV_PROXY: '1', NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  const child = Bun.spawn([process.execPath, '-e', SCRIPT, JSON.stringify({ ca, urls })], {
    cwd: ROOT,
    env: { ...Object.fromEntries(proxies), ...others },
    stdout: 'pipe',
    timeout: 8000,
  })
  const text = await new Response(child.stdout).text()
  // It comes to its end by itself, also after calls that ran into their deadline.
  expect(await child.exited).toBe(0)
  return JSON.parse(text)
}

test('No environment puts a proxy between or turns certificates off', async () => {
  const proxy = await startTarget(answer('through the proxy'))
  const plain = await startTarget(answer('direct'))
  const silent = await startTarget(() => {})
  const authority = await createAuthority()
  const targets = await Promise.all(
    [{ authority, ip: '127.0.0.1' }, { authority, name: 'other.test' }, { ip: '127.0.0.1' }].map(
      async (wanted) => startTlsTarget(await createIdentity(wanted)),
    ),
  )
  const urls = [plain.url, ...targets.map(({ port }) => `https://127.0.0.1:${port}/`), silent.url]
  const both = (...results: (number | string)[]) => results.map((result) => [result, result])
  const trusting = await fetchWith(proxy.url, authority.cert, urls)
  expect(trusting).toEqual(both(200, 200, 'tls', 'tls', 'timeout'))
  const others = await fetchWith(proxy.url, '', urls.slice(0, 4))
  expect(others).toEqual(both(200, 'tls', 'tls', 'tls'))
  expect([proxy.requests.length, plain.requests.length]).toEqual([0, 4])
  expect(targets.map(({ seen }) => seen.requests)).toEqual([2, 0, 0])
}, 20_000)
