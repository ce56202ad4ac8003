import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { newOperator } from '../support/operator.ts'

const MINUTE = 60_000
const HTML = { accept: 'text/html' }

/** Somebody who owns a tenant, in an installation where a session may make so many requests. */
async function at(perMinute: number) {
  const app = await bootTestApp({ flags: { 'limits-requests-per-minute': `${perMinute}` } })
  const { id } = await app.tenant('Acme')
  const operator = await newOperator(app, { roles: { [id]: 'owner' } })
  return { app, operator, session: await operator.signIn() }
}

describe('a session goes no faster than a key may', () => {
  test('whether at pages or as a program: 429 with when to come again', async () => {
    const { app, session } = await at(3)
    await using _ = app
    const page = (headers = {}) =>
      app.raw('/console/account', { headers: { ...session.headers, ...headers } })
    expect((await page()).status).toBe(200)
    expect((await session.api.get('/dashboard/clockwork/jobs')).status).toBe(200)
    const body = new URLSearchParams({ theme: 'dark' })
    const form = { method: 'POST', headers: session.headers, body }
    expect((await app.raw('/console/theme', form)).status).toBe(303)

    const refused = await session.api.get('/dashboard/clockwork/jobs')
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '20'])
    expect(refused.body).toEqual({ error: 'more than 3 requests a minute with this session' })
    const shown = await page(HTML)
    expect([shown.status, shown.headers.get('retry-after')]).toEqual([429, '20'])
    expect(shown.headers.get('content-type')).toStartWith('text/html')
    expect(shown.body).toContain('Too many requests')
    expect(shown.body).toContain('Wait 20 seconds, then reload the page.')

    await app.clock.advance(MINUTE)
    expect((await page()).status).toBe(200)
  })

  test('each on its own: another one of the same operator goes on', async () => {
    const { app, operator, session } = await at(1)
    await using _ = app
    const account = ({ headers }: { headers: Record<string, string> }) =>
      app.raw('/console/account', { headers })
    expect((await account(session)).status).toBe(200)
    expect((await account(session)).status).toBe(429)
    expect((await account(await operator.signIn())).status).toBe(200)
  })

  test('and can still be ended by another', async () => {
    const { app, operator, session } = await at(1)
    await using _ = app
    await session.api.get('/console/account')
    const { headers } = await operator.signIn()
    const end = `/console/account/sessions/${session.id}/end`
    expect((await app.raw(end, { method: 'POST', headers })).status).toBe(303)
  })
})

describe('without a session', () => {
  let app: TestApp
  beforeAll(async () => {
    app = await bootTestApp()
  })
  afterAll(() => app.stop())

  test.each(['/dashboard/clockwork/jobs', '/console/account', '/console/keys'])(
    '%s asks for the cookie and not for a key',
    async (path) => {
      const { status, headers } = await app.raw(path)
      expect([status, headers.get('www-authenticate')]).toEqual([
        401,
        'Cookie cookie-name="identity_session"',
      ])
    },
  )

  test('a route for keys asks for one', async () => {
    const { headers } = await app.raw('/v1/clockwork/jobs')
    expect(headers.get('www-authenticate')).toBe('Bearer')
  })

  test('a form that was sent too late is told what became of it, in no words of programs', async () => {
    const { status, body } = await app.raw('/console/keys', {
      method: 'POST',
      headers: HTML,
      body: new URLSearchParams({ engine: 'relay' }),
    })
    expect(status).toBe(401)
    expect(body).toContain('Your session has ended and nothing was saved. Sign in')
    for (const word of ['token', 'Bearer', 'API key', 'X-Session']) expect(body).not.toContain(word)
  })

  test('an address that leads nowhere is told in words for people', async () => {
    const { status, body } = await app.raw('/console/nowhere/at/all', { headers: HTML })
    expect([status, body]).toEqual([404, expect.stringContaining("This page doesn't exist.")])
    const wrong = await app.raw('/console/sign-out', { headers: HTML })
    expect([wrong.status, wrong.body]).toEqual([
      405,
      expect.stringContaining("This page doesn't exist. Go to the console."),
    ])
  })

  test('the reference shows the cookie where a session is asked for, and the key elsewhere', async () => {
    const { body } = await app.raw('/reference')
    const [, bySession = ''] = /id="get-dashboard-clockwork-jobs"(.*?)<\/article>/s.exec(body) ?? []
    expect(bySession).toContain(
      '-b "identity_session=$GATEHOUSE_SESSION"'.replaceAll('"', '&quot;'),
    )
    expect(bySession).toContain('Missing or invalid session.')
    for (const word of ['Bearer', 'API key', 'Key of']) expect(bySession).not.toContain(word)
    const [, byKey = ''] = /id="get-v1-clockwork-jobs"(.*?)<\/article>/s.exec(body) ?? []
    expect(byKey).toContain('Bearer $GATEHOUSE_KEY')
    expect(byKey).toContain('Missing, malformed, unknown or revoked API key.')
    expect(byKey).not.toContain('identity_session')
  })
})
