import { expect, test } from 'bun:test'
import { ask, judgeAsked, skewOf } from '../../../src/cli/doctor/base-url.ts'
import { mailServer } from '../../../src/cli/doctor/mail-server.ts'
import { mailServerOf, transportOptions } from '../../../src/platform/mail/server.ts'
import { createAuthority, createIdentity } from '../../platform/outbound/certificates.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { freePort } from '../../support/port.ts'

/** Accepts connections and says nothing. */
function startSilent() {
  const server = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => {} } })
  return { port: server.port, [Symbol.dispose]: () => server.stop(true) }
}

const closed = `127.0.0.1:${freePort()}`

/** The finding as `result: message`. */
async function mailFound(smtpUrl?: string, options: Parameters<typeof mailServer>[1] = {}) {
  const from = smtpUrl?.includes('nobody') ? undefined : 'gate@example.org'
  const [finding] = await mailServer({ mail: { smtpUrl, from } }, options)
  return `${finding?.result}: ${finding?.message}`
}

test('The mail server is used without reading files or fetching URLs', () => {
  const limits = { connectMs: 1, silenceMs: 2, ca: ['x'] }
  const options = (url: string) => transportOptions(mailServerOf(url), limits)
  const closed = { disableFileAccess: true, disableUrlAccess: true, forceAuth: false }
  const bounds = { greetingTimeout: 1, socketTimeout: 2 }
  const tls = { minVersion: 'TLSv1.2', ca: ['x'] }
  expect(options('smtp://mail')).toMatchObject({ ...closed, ...bounds, tls })
  expect(options('smtps://me:secret@mail')).toMatchObject({ forceAuth: true, secure: true })
})

test('The mail server is contacted and gets no email; without one, or without a sender, says so', async () => {
  await using smtp = await startMailServer()
  expect(await mailFound(smtp.url)).toStartWith('ok')
  expect([smtp.connections.count, smtp.sources]).toEqual([1, []])
  expect(await mailFound(`smtps://127.0.0.1:${smtp.port}`)).toMatch(/^problem.*does not speak TLS/)
  expect(await mailFound(undefined)).toStartWith('ok')
  expect(await mailFound('smtp://nobody.example')).toMatch(/^problem.*\[mail\] from/)
})

test('The mail server accepts the configured login; another is refused without showing the password', async () => {
  await using smtp = await startMailServer({
    disabledCommands: ['STARTTLS'],
    authOptional: false,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) =>
      password === 'p@ss/w0rd'
        ? done(null, { user: username })
        : done(Object.assign(new Error(`no ${password}`), { responseCode: 535 })),
  })
  const url = (password: string) => `smtp://me:${password}@127.0.0.1:${smtp.port}`
  expect(await mailFound(url('p%40ss%2Fw0rd'))).toStartWith('ok')
  const refused = await mailFound(url('S3cretish'))
  expect(refused).toMatch(/^problem.*refuses the login \(Invalid login: 535/)
  expect(refused).not.toContain('S3cretish')
})

test('A mail server that cannot be reached, or whose certificate is not trusted, is a problem', async () => {
  using silent = startSilent()
  expect(await mailFound(`smtp://${closed}`)).toMatch(/^problem.*refuses the conn/)
  expect(await mailFound('smtp://nowhere.invalid')).toMatch(/^problem.*no address in DNS/)
  const late = await mailFound(`smtp://127.0.0.1:${silent.port}`, { timeoutMs: 50 })
  expect(late).toMatch(/^problem.*did not respond in time/)
  const authority = await createAuthority()
  const { key, cert } = await createIdentity({ authority, ip: '127.0.0.1' })
  await using smtp = await startMailServer({ key, cert, disabledCommands: ['AUTH'] })
  expect(await mailFound(smtp.url)).toMatch(/^problem.*certificate that is not trusted/)
  expect(await mailFound(smtp.url, { ca: [authority.cert] })).toStartWith('ok')
})

const ALIVE = { isServerAlive: true, isBaseUrl: true, mark: 'here' }

/** The findings as `check result: message`. */
async function found(url: string, of: Partial<typeof ALIVE> & { timeoutMs?: number } = {}) {
  const { timeoutMs, ...about } = of
  const findings = judgeAsked(await ask(url, { timeoutMs }), { ...ALIVE, ...about })
  return findings.map(({ check, result, message }) => `${check} ${result}: ${message}`)
}

function serving(fetch: () => Response, tls?: { key: string; cert: string }) {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch, tls })
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${server.port}`
  return { url, [Symbol.asyncDispose]: () => server.stop(true) }
}

const alive = (more: object = {}) => Response.json({ status: 'alive', ...more })

test('base_url is judged by its response', async () => {
  const html = { headers: { 'content-type': 'text/html' } }
  for (const [judged, response] of [
    ['ok: ', () => alive({ installation: 'here' })],
    ['warning: .*a different Gatehouse installation', () => alive({ installation: 'there' })],
    ['warning: .*the response is a web page', () => new Response('<html>', html)],
    ['warning: .*404', () => new Response('', { status: 404 })],
    ['warning: .*the proxy cannot reach', () => new Response('', { status: 502 })],
    ['warning: .*requires a sign-in', () => new Response('', { status: 401 })],
    ['warning: .*redirects', () => Response.redirect('https://elsewhere.example')],
    ['warning: .*not from Gatehouse', () => Response.json({ status: 'UP' })],
  ] as const) {
    await using server = serving(response)
    const finding = expect.stringMatching(new RegExp(`^base_url ${judged}`))
    expect(await found(server.url)).toEqual([finding])
  }
})

test('A base_url that cannot be reached is a warning, with the reason', async () => {
  using silent = startSilent()
  await using tls = serving(alive, await createIdentity({ ip: '127.0.0.1' }))
  for (const [url, reason, timeoutMs] of [
    [`http://${closed}`, 'ECONNREFUSED', 1000],
    ['http://nowhere.invalid', 'not in DNS', 1000],
    [`http://127.0.0.1:${silent.port}`, 'in time', 50],
    [tls.url, 'certificate is not trusted', 1000],
  ] as const)
    expect(await found(url, { timeoutMs })).toEqual([expect.stringContaining(reason)])
  const [stopped] = await found(`http://${closed}`, { isServerAlive: false })
  expect(stopped).toContain(' ok')
  const [other] = await found(`http://${closed}`, { isBaseUrl: false })
  expect(other).toContain('a server is running, but not at')
})

test('A base_url whose clock differs is a warning; the time of the call is no difference', async () => {
  const date = new Date(Date.now() + 3_600_000).toUTCString()
  await using server = serving(() => Response.json({ status: 'alive' }, { headers: { date } }))
  expect(await found(server.url)).toEqual([
    expect.stringMatching(/^base_url ok/),
    expect.stringMatching(/^clock warning: .*differs by 3(599|600) s/),
  ])
  const noon = Date.parse('2026-03-01T12:00:00Z')
  const skew = (from: number, to: number) => skewOf('Sun, 01 Mar 2026 12:00:00 GMT', from, to)
  expect(skew(noon - 4000, noon + 4000)).toBe(0)
  expect(skew(noon + 60_000, noon + 61_000)).toBe(-60_000)
  for (const absent of [null, 'soon']) expect(skewOf(absent, 0, 1)).toBe(0)
})
