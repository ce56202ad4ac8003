import { expect, test } from 'bun:test'
import { createAuthority, createIdentity } from './certificates.ts'
import { answer, startTarget, startTlsTarget } from './support.ts'

const SCRIPT = new URL('./environment.script.ts', import.meta.url).pathname

/** Sends from a process of its own, which must come to its end by itself. */
async function sendFrom(env: Record<string, string>, urls: string[], ca = '') {
  const child = Bun.spawn([process.execPath, SCRIPT, ca, ...urls], {
    env,
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 8000,
  })
  const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
  expect(code).toBe(0)
  return JSON.parse(text) as { replied: boolean; reason?: string; status?: number }[]
}

test('the environment can neither put a proxy in between nor turn certificates off', async () => {
  const authority = await createAuthority()
  const proxy = await startTarget(answer('through the proxy'))
  const target = await startTarget(answer('direct'))
  const good = await startTlsTarget(await createIdentity({ authority, name: 'good.example.test' }))
  const wrong = await startTlsTarget(
    await createIdentity({ authority, name: 'other.example.test' }),
  )
  const selfSigned = await startTlsTarget(await createIdentity({ name: 'self.example.test' }))
  const proxies = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'].flatMap((name) => [
    [name, proxy.url],
    [name.toLowerCase(), proxy.url],
  ])
  const env = {
    ...Object.fromEntries(proxies),
    NODE_USE_ENV_PROXY: '1',
    NODE_TLS_REJECT_UNAUTHORIZED: '0',
  }

  const urls = [
    `http://plain.example.test:${target.port}/`,
    `https://good.example.test:${good.port}/`,
    `https://wrong.example.test:${wrong.port}/`,
    `https://self.example.test:${selfSigned.port}/`,
  ]

  const trusting = await sendFrom(env, urls, authority.cert)
  expect(trusting.map((result) => result.status ?? result.reason)).toEqual([200, 200, 'tls', 'tls'])

  const plain = await sendFrom(env, urls)
  expect(plain.map((result) => result.status ?? result.reason)).toEqual([200, 'tls', 'tls', 'tls'])

  expect(proxy.requests).toEqual([])
  expect([target.requests.length, good.seen.requests]).toEqual([2, 1])
  expect([wrong.seen.requests, selfSigned.seen.requests]).toEqual([0, 0])
}, 20_000)

test('a process whose targets stall comes to its end by itself', async () => {
  const silent = await startTarget(() => {})
  const half = await startTarget((socket) => socket.write('HTTP/1.1 200 OK\r\n\r\nhalf'))

  const results = await sendFrom({}, [silent.url, half.url, `https://127.0.0.1:${silent.port}/`])

  expect(results.map(({ reason }) => reason)).toEqual(['timeout', 'timeout', 'timeout'])
})
