import { expect, test } from 'bun:test'
import { ACCOUNT, bootConsole, MINUTE, pagesOf, SYSTEM, UNKNOWN_ID, useConsole } from './fixture.ts'

const JOBS = '/dashboard/clockwork/jobs'
const LIMIT = 3

const app = await useConsole({
  flags: { 'limits-requests-per-minute': `${LIMIT}`, 'limits-sign-ins-per-minute': `${LIMIT}` },
})

test('The rate limit of a session counts pages, forms and API requests together', async () => {
  const { owner } = await app.newTenant()
  expect((await owner.open('/account')).status).toBe(200)
  expect((await owner.api.get(JOBS)).status).toBe(200)
  const form = { method: 'POST', body: new URLSearchParams({ theme: 'dark' }) }
  const sent = await app.raw('/console/theme', { ...form, headers: owner.headers })
  expect(sent.status).toBe(303)
  const { status, headers, body } = await owner.api.get(JOBS)
  expect([status, headers.get('retry-after')]).toEqual([429, '20'])
  expect(body).toEqual({ error: 'more than 3 requests a minute with this session' })
  const page = await owner.sees('/account', 'Wait 20 seconds, then reload the page.')
  expect([page.status, page.headers.get('retry-after')]).toEqual([429, '20'])
  const another = await app.sessionOf(owner)
  expect((await another.open('/account')).status).toBe(200)
  const end = `/console/account/sessions/${owner.sessionId}/end`
  expect((await app.raw(end, { method: 'POST', headers: another.headers })).status).toBe(303)
  await app.clock.advance(MINUTE)
  expect((await another.open('/account')).status).toBe(200)
})

test('New accounts by invitation and set-up are limited', async () => {
  await using limited = await bootConsole({ flags: { 'limits-sign-ins-per-minute': `${LIMIT}` } })
  const { id } = await limited.tenant()
  const inviter = { actor: SYSTEM, id: 'inviter', name: 'Ada' }
  const wanted = { email: 'eve@example.com', role: 'viewer' } as const
  const { url } = await limited.operators.invitations.invite(inviter, id, wanted)
  const setUp = `/setup/${await limited.operators.links.issueSetUp()}`
  for (const path of [setUp, new URL(url).pathname]) {
    const answers = await Promise.all(
      Array.from({ length: 3 * LIMIT }, (_, n) => {
        const fields = { ...ACCOUNT, tenant: 'Acme', email: `eve-${n}@example.com` }
        return limited.raw(path, { method: 'POST', body: new URLSearchParams(fields) })
      }),
    )
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    expect([count(429), count(303) + count(404) + count(409)]).toEqual([2 * LIMIT, LIMIT])
    expect(count(303)).toBeGreaterThan(0)
    await limited.clock.advance(MINUTE)
  }
})

test('Without a session, pages and forms say what to do', async () => {
  for (const [path, challenge] of [
    [JOBS, 'Cookie cookie-name="identity_session"'],
    ['/console/account', 'Cookie cookie-name="identity_session"'],
    ['/v1/clockwork/jobs', 'Bearer'],
  ] as const) {
    const { status, headers } = await app.raw(path)
    expect([status, headers.get('www-authenticate')]).toEqual([401, challenge])
  }
  const { send, sees } = pagesOf(app)
  const late = await send(`/console/${UNKNOWN_ID}/keys/new`, { engine: 'relay' })
  late.says('Your session has ended and nothing was saved. Sign in')
  expect([late.status, /token|Bearer|API key|X-Session/.test(late.text)]).toEqual([401, false])
  expect((await sees('/nowhere/at/all', "This page doesn't exist.")).status).toBe(404)
  const wrong = await sees(
    `/account/sessions/${UNKNOWN_ID}/end`,
    "This page doesn't exist. Go to the console.",
  )
  expect(wrong.status).toBe(405)
})

test('The reference shows a route that takes either with its key, and names the path and cookie of sessions', async () => {
  const { html } = await pagesOf(app).open('/reference/clockwork')
  const [article = ''] = /id="get-v1-clockwork-jobs".*?<\/article>/s.exec(html) ?? []
  expect(article).toContain('Bearer $GATEHOUSE_KEY')
  expect(article.replaceAll(/<[^>]+>/g, '')).toContain(
    'Also at /dashboard/clockwork/jobs, with a console session in the cookie identity_session',
  )
})
