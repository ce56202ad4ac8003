import { describe, expect, test } from 'bun:test'
import { bootConsole, MINUTE, pagesOf, useConsole } from './fixture.ts'

const ACCOUNT_PAGE = '/console/account'
const JOBS = '/dashboard/clockwork/jobs'

const app = await useConsole()

describe('The rate limit of a session', () => {
  test('counts pages, forms and API requests together, for each session alone', async () => {
    await using limited = await bootConsole({ flags: { 'limits-requests-per-minute': '3' } })
    const { owner } = await limited.newTenant()
    expect((await owner.open(ACCOUNT_PAGE)).status).toBe(200)
    expect((await owner.api.get(JOBS)).status).toBe(200)
    const form = { method: 'POST', body: new URLSearchParams({ theme: 'dark' }) }
    const sent = await limited.raw('/console/theme', { ...form, headers: owner.headers })
    expect(sent.status).toBe(303)

    const { status, headers, body } = await owner.api.get(JOBS)
    expect([status, headers.get('retry-after')]).toEqual([429, '20'])
    expect(body).toEqual({ error: 'more than 3 requests a minute with this session' })
    const page = await owner.open(ACCOUNT_PAGE)
    expect([page.status, page.headers.get('retry-after')]).toEqual([429, '20'])
    for (const words of ['Too many requests', 'Wait 20 seconds, then reload the page.'])
      expect(page.text).toContain(words)

    const another = await limited.sessionOf(owner)
    expect((await another.open(ACCOUNT_PAGE)).status).toBe(200)
    const end = `${ACCOUNT_PAGE}/sessions/${owner.sessionId}/end`
    const ended = await limited.raw(end, { method: 'POST', headers: another.headers })
    expect(ended.status).toBe(303)
    await limited.clock.advance(MINUTE)
    expect((await another.open(ACCOUNT_PAGE)).status).toBe(200)
  })

  test.each([
    ['an invitation', '/console/invitation'],
    ['a set-up link', '/setup'],
  ])('also holds for accounts created with %s, by address', async (_, path) => {
    const LIMIT = 5
    await using limited = await bootConsole({ flags: { 'limits-sign-ins-per-minute': `${LIMIT}` } })
    const { id } = await limited.tenant()
    const wanted = { email: 'eve@example.com', role: 'viewer' } as const
    const inviter = { actor: { kind: 'system' }, id: 'inviter', name: 'Ada' } as const
    const { url } = await limited.operators.invitations.invite(inviter, id, wanted)
    const token =
      path === '/setup' ? await limited.operators.links.issueSetUp() : url.split('/').at(-1)
    const answers = await Promise.all(
      Array.from({ length: 3 * LIMIT }, (_, n) => {
        const fields = { name: 'Eve', password: 'correct horse battery', tenant: 'Acme' }
        const body = new URLSearchParams({ ...fields, email: `eve-${n}@example.com` })
        return limited.raw(`${path}/${token}`, { method: 'POST', body })
      }),
    )
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    expect([count(429), count(303) + count(404) + count(409)]).toEqual([2 * LIMIT, LIMIT])
    expect(count(303)).toBeGreaterThan(0)
  })
})

describe('Without a session', () => {
  test.each([
    [JOBS, 'Cookie cookie-name="identity_session"'],
    [ACCOUNT_PAGE, 'Cookie cookie-name="identity_session"'],
    ['/v1/clockwork/jobs', 'Bearer'],
  ])('%s asks for %s', async (path, challenge) => {
    const { status, headers } = await app.raw(path)
    expect([status, headers.get('www-authenticate')]).toEqual([401, challenge])
  })

  test('a form says that it was not saved, and unknown pages say so', async () => {
    const { open, send } = pagesOf(app)
    const late = await send('/console/keys/new', { engine: 'relay' })
    expect(late.status).toBe(401)
    expect(late.text).toContain('Your session has ended and nothing was saved. Sign in')
    expect(late.text).not.toMatch(/token|Bearer|API key|X-Session/)
    const unknown = await open('/console/nowhere/at/all')
    expect([unknown.status, unknown.text]).toEqual([
      404,
      expect.stringContaining("This page doesn't exist."),
    ])
    const wrong = await open('/console/sign-out')
    expect([wrong.status, wrong.text]).toEqual([
      405,
      expect.stringContaining("This page doesn't exist. Go to the console."),
    ])
  })
})

test('The reference shows the cookie for routes that take a session, the key for others', async () => {
  const { html } = await pagesOf(app).open('/reference')
  const articleOf = (id: string) =>
    new RegExp(`id="${id}"(.*?)</article>`, 's').exec(html)?.[1]?.replaceAll('&quot;', '"') ?? ''
  const bySession = articleOf('get-dashboard-clockwork-jobs')
  for (const words of ['-b "identity_session=$GATEHOUSE_SESSION"', 'Missing or invalid session.'])
    expect(bySession).toContain(words)
  expect(bySession).not.toMatch(/Bearer|API key|Key of/)
  const byKey = articleOf('get-v1-clockwork-jobs')
  for (const words of ['Bearer $GATEHOUSE_KEY', 'Missing, malformed, unknown or revoked API key.'])
    expect(byKey).toContain(words)
  expect(byKey).not.toContain('identity_session')
})
