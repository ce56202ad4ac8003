import { describe, expect, test } from 'bun:test'
import { type AddressInfo, createServer } from 'node:net'
import { ask, judgeAsked, skewOf } from '../../../src/cli/doctor/base-url.ts'
import { mailServer } from '../../../src/cli/doctor/mail-server.ts'
import { mailServerOf, transportOptions } from '../../../src/platform/mail/server.ts'
import { createAuthority, createIdentity } from '../../platform/outbound/certificates.ts'
import { startMailServer } from '../../support/mail-server.ts'
import { freePort } from '../../support/port.ts'

describe('the server for mail', () => {
  const asked = async (
    smtpUrl: string | undefined,
    {
      from = 'gate@example.org',
      ...options
    }: Parameters<typeof mailServer>[1] & { from?: string } = {},
  ) => {
    const [found] = await mailServer({ mail: { smtpUrl, from } }, options)
    return found
  }
  const problem = (words: string) => ({
    check: 'mail server',
    result: 'problem',
    message: expect.stringContaining(words),
  })

  const withLogin = () =>
    startMailServer({
      disabledCommands: ['STARTTLS'],
      authOptional: false,
      allowInsecureAuth: true,
      onAuth: ({ username, password }, _session, done) =>
        password === 'p@ss/w0rd'
          ? done(null, { user: username })
          : done(Object.assign(new Error(`no ${password}`), { responseCode: 535 })),
    })

  test('has no file read and no address fetched, whoever connects', () => {
    const limits = { connectMs: 1, silenceMs: 2, ca: ['x'] }
    const options = (url: string) => transportOptions(mailServerOf(url), limits)
    expect(options('smtp://mail')).toMatchObject({
      disableFileAccess: true,
      disableUrlAccess: true,
      forceAuth: false,
      greetingTimeout: 1,
      socketTimeout: 2,
      tls: { minVersion: 'TLSv1.2', ca: ['x'] },
    })
    expect(options('smtps://me:secret@mail')).toMatchObject({ forceAuth: true, secure: true })
  })

  test('that is there is ok, and is sent nothing', async () => {
    await using smtp = await startMailServer()
    expect(await asked(smtp.url)).toMatchObject({ result: 'ok' })
    expect(smtp.connections.count).toBe(1)
    expect(smtp.sources).toEqual([])
  })

  test('takes the login of the configuration; another is refused, and the password not shown', async () => {
    await using smtp = await withLogin()
    const url = (password: string) => `smtp://me:${password}@127.0.0.1:${smtp.port}`
    expect(await asked(url('p%40ss%2Fw0rd'))).toMatchObject({ result: 'ok' })
    const { result, message = '' } = (await asked(url('S3cretish'))) ?? {}
    expect(result).toBe('problem')
    expect(message).toContain('refuses the login (Invalid login: 535')
    expect(message).not.toContain('S3cretish')
  })

  test('that is not there, is not in DNS or never answers is told apart', async () => {
    expect(await asked(`smtp://127.0.0.1:${freePort()}`)).toMatchObject(problem('refuses the conn'))
    expect(await asked('smtp://nowhere.invalid')).toMatchObject(problem('no address in DNS'))
    using silent = await hanging()
    const started = performance.now()
    expect(await asked(`smtp://127.0.0.1:${silent.port}`, { timeoutMs: 200 })).toMatchObject(
      problem('did not respond in time'),
    )
    expect(performance.now() - started).toBeLessThan(2000)
  })

  test('has to show a certificate that is trusted and bears its name', async () => {
    const authority = await createAuthority()
    const { key, cert } = await createIdentity({ authority, ip: '127.0.0.1' })
    await using smtp = await startMailServer({ key, cert, disabledCommands: ['AUTH'] })
    expect(await asked(smtp.url)).toMatchObject(problem('certificate that is not trusted'))
    expect(await asked(smtp.url, { ca: [authority.cert] })).toMatchObject({ result: 'ok' })
  })

  test('has to speak TLS where the configuration says so', async () => {
    await using smtp = await startMailServer()
    expect(await asked(`smtps://127.0.0.1:${smtp.port}`)).toMatchObject(
      problem('does not speak TLS'),
    )
  })

  test('need not be there; with one there has to be a sender', async () => {
    expect(await asked(undefined)).toMatchObject({ result: 'ok' })
    expect(
      await mailServer({ mail: { smtpUrl: 'smtp://127.0.0.1', from: undefined } }),
    ).toMatchObject([problem('[mail] from')])
  })
})

describe('base_url', () => {
  interface Judged {
    isServerAlive?: boolean
    isBaseUrl?: boolean
    timeoutMs?: number
  }
  const serving = (fetch: () => Response) => {
    const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })
    return {
      url: `http://127.0.0.1:${server.port}`,
      [Symbol.asyncDispose]: () => server.stop(true),
    }
  }
  const judged = async (
    url: string,
    { isServerAlive = true, isBaseUrl = true, timeoutMs }: Judged = {},
  ) => judgeAsked(await ask(url, { timeoutMs }), { isServerAlive, isBaseUrl, mark: 'here' })[0]
  const html = { headers: { 'content-type': 'text/html' } }

  test('under which Gatehouse answers is ok', async () => {
    await using server = serving(() => Response.json({ status: 'alive' }))
    expect(await judged(server.url)).toMatchObject({ result: 'ok' })
  })

  test('under which the same Gatehouse answers is ok, and another one is not', async () => {
    await using here = serving(() => Response.json({ status: 'alive', installation: 'here' }))
    await using there = serving(() => Response.json({ status: 'alive', installation: 'there' }))
    expect(await judged(here.url)).toMatchObject({ result: 'ok' })
    expect(await judged(there.url)).toMatchObject({
      result: 'warning',
      message: expect.stringContaining('a different Gatehouse installation'),
    })
  })

  test.each<[string, () => Response, string]>([
    ['a page', () => new Response('<html>', html), 'the response is a web page'],
    ['404', () => new Response('', { status: 404 }), '404'],
    ['502', () => new Response('', { status: 502 }), 'the proxy cannot reach'],
    ['a login', () => new Response('', { status: 401 }), 'requires a sign-in'],
    ['a redirect', () => Response.redirect('https://elsewhere.example'), 'redirects'],
    ['another JSON', () => Response.json({ status: 'UP' }), 'not from Gatehouse'],
  ])('that answers with %s is warned of, with the reason', async (_, answer, reason) => {
    await using server = serving(answer)
    expect(await judged(server.url)).toMatchObject({
      check: 'base_url',
      result: 'warning',
      message: expect.stringContaining(reason),
    })
  })

  test('that is not there, not in DNS, silent or not trusted is warned of', async () => {
    using silent = await hanging()
    const { key, cert } = await createIdentity({ ip: '127.0.0.1' })
    const tls = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      tls: { key, cert },
      fetch: () => Response.json({ status: 'alive' }),
    })
    const reasonOf = async (url: string, options?: Judged) => (await judged(url, options))?.message
    expect(await reasonOf(`http://127.0.0.1:${freePort()}`)).toContain('ECONNREFUSED')
    expect(await reasonOf('http://nowhere.invalid')).toContain('not in DNS')
    const unanswered = `http://127.0.0.1:${silent.port}`
    expect(await reasonOf(unanswered, { timeoutMs: 300 })).toContain('in time')
    expect(await reasonOf(`https://127.0.0.1:${tls.port}`)).toContain('certificate is not trusted')
    await tls.stop(true)
  })

  test('proves nothing while no server runs; the address listened on is named as such', async () => {
    const url = `http://127.0.0.1:${freePort()}`
    expect(await judged(url, { isServerAlive: false })).toMatchObject({ result: 'ok' })
    expect(await judged(url, { isBaseUrl: false })).toMatchObject({
      result: 'warning',
      message: expect.stringContaining('a server is running, but not at'),
    })
  })

  test('whose clock is far away from this one is warned of; the time of the call is no distance', async () => {
    const date = new Date(Date.now() + 3_600_000).toUTCString()
    await using server = serving(() => Response.json({ status: 'alive' }, { headers: { date } }))
    expect(
      judgeAsked(await ask(server.url), { isServerAlive: true, isBaseUrl: true, mark: undefined }),
    ).toMatchObject([
      { check: 'base_url', result: 'ok' },
      {
        check: 'clock',
        result: 'warning',
        message: expect.stringMatching(/differs by 3(599|600) s/),
      },
    ])
    expect(skewOf('Sun, 01 Mar 2026 12:00:00 GMT', NOON - 4000, NOON + 4000)).toBe(0)
    expect(skewOf('Sun, 01 Mar 2026 12:00:00 GMT', NOON + 60_000, NOON + 61_000)).toBe(-60_000)
    for (const absent of [null, 'soon']) expect(skewOf(absent, 0, 1)).toBe(0)
  })
})

const NOON = Date.parse('2026-03-01T12:00:00Z')

/** Takes connections and says nothing. */
async function hanging() {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { port, [Symbol.dispose]: () => void server.close() }
}
