import { expect, test } from 'bun:test'
import { createAuthority, createIdentity } from '../../platform/outbound/certificates.ts'
import { answer, startTarget, startTlsTarget } from '../../platform/outbound/fixture.ts'

/** Runs the script with an environment that turns all checks off. */
async function fetchWith(proxy: string, ca: string, urls: string[]) {
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']
  const proxies = [...names, ...names.map((name) => name.toLowerCase())].map((it) => [it, proxy])
  const others = { NODE_USE_ENV_PROXY: '1', NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  const script = new URL('./outbound-environment.script.ts', import.meta.url).pathname
  const child = Bun.spawn([process.execPath, script, ca, ...urls], {
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
