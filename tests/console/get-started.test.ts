import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { GOALS, type Goal } from '../../src/console/checklist/goals.ts'
import { typescriptFor } from '../../views/snippets/index.ts'
import { shortened } from '../support/address.ts'
import { temporaryFolder } from '../support/folder.ts'
import { newHttpBrowser } from '../support/http-browser.ts'
import { type SignedIn, useConsole } from './fixture.ts'
import { listen, streamIn } from './live-listener.ts'

/** No tenant may call this machine: the guides need no permission. */
const app = await useConsole({ allow: [] })
const BUTTONS = ['Create job and run it', 'Create endpoint', 'Start login', 'Open sign-up page']

const choose = (operator: SignedIn, ...goals: Goal[]) =>
  operator.send(
    '/get-started',
    goals.map((goal) => ['goals[]', goal]),
  )

/** Items of the checklist on the overview: done ones are marked. */
const checklistOf = async (operator: SignedIn) => {
  const { html } = await operator.open('/')
  const list = /<div class="checklist">[\s\S]*?<\/div><\/section>/.exec(html)?.[0]
  return (
    list &&
    [...list.matchAll(/<li( class="done")?>.*?<a[^>]*>(.*?)<\/a>/gs)].map(
      ([, done, title]) => `${done ? '✓ ' : ''}${title}`,
    )
  )
}

const HOUSEKEEPING = ['Add a second operator', 'Turn on two-factor authentication']

test('The first question accepts several goals, or none for now, and wants one or the other', async () => {
  const { owner } = await app.newTenant()
  const page = await owner.open('/get-started')
  page.says('What do you want to do first?', 'First goal', ...GOALS)
  const refused = await owner.send('/get-started')
  expect([refused.status, refused.wrong]).toEqual([422, ['goals']])
  expect((await choose(owner, 'webhooks', 'jobs')).location).toBe('/console/get-started/jobs')
  expect(await checklistOf(owner)).toEqual([
    'Run your first job',
    'Schedule a job for your own URL',
    'Deliver your first event',
    'Add an endpoint of your own',
    ...HOUSEKEEPING,
  ])
  // The choice can be changed; the steps of the set-up are over.
  const again = (await owner.open('/get-started')).omits('First goal')
  expect(again.html.match(/value="\w+" checked/g)).toEqual([
    'value="jobs" checked',
    'value="webhooks" checked',
  ])
  expect((await owner.send('/get-started/skip')).location).toBe('/console')
  expect(await checklistOf(owner)).toContain('Run your first job')
  const { owner: other } = await app.newTenant()
  await other.send('/get-started/skip')
  expect(await checklistOf(other)).toEqual(['Choose what to do first', ...HOUSEKEEPING])
})

test('A first job runs against the test receiver at once, and the open page shows it', async () => {
  const { id, owner, api, job } = await app.newTenant()
  await choose(owner, 'jobs')
  const guide = await owner.open('/get-started/jobs')
  guide.says('Create a job').omits('It works')
  const listener = await listen(app.url + streamIn(guide.html), { cookie: owner.cookie })
  await owner.press('/get-started/jobs', 'Create job and run it')
  await app.clock.settled()
  await app.clock.advance(1000)
  await listener.until(() => listener.text().includes('It works'))
  listener.leave()
  const done = await owner.open('/get-started/jobs')
  done.says('Succeeded: 200 in', '{"hello":"world"}', 'X-Clockwork-Attempt: 1', '$GATEHOUSE_KEY')
  expect(await checklistOf(owner)).toContain('✓ Run your first job')
  // Again runs the same job again.
  await owner.press('/get-started/jobs', 'Run again')
  await app.clock.settled()
  const { body: jobs } = await api.get('/v1/clockwork/jobs')
  expect(jobs).toMatchObject([{ url: app.platform.testReceivers.urlOf(id, 'jobs') }])
  expect(app.platform.testReceivers.requests(id, 'jobs').length).toBe(2)
  expect(await checklistOf(owner)).toContain('Schedule a job for your own URL')
  await owner.send('/jobs/new', {
    name: 'Own',
    schedule: '0 6 * * *',
    url: 'https://example.com',
    method: 'GET',
  })
  expect(await checklistOf(owner)).toContain('✓ Schedule a job for your own URL')
  // However many jobs are newer.
  const newer = Array.from({ length: 50 }, () => job({ url: 'https://example.com' }))
  const created = (await Promise.all(newer)).length + 2
  await owner.press('/get-started/jobs', 'Run again')
  expect((await api.get('/v1/clockwork/jobs')).body).toHaveLength(created)
})

test('A first event arrives at the test receiver, where its signature is verified', async () => {
  const { id, owner, relay, as } = await app.newTenant()
  const url = app.platform.testReceivers.urlOf(id, 'webhooks')
  const path = '/get-started/webhooks'
  ;(await owner.open(path)).says(`value="${url}"`)
  const refused = await owner.send(`${path}/endpoint`, { url: 'http://127.0.0.1:1/' })
  expect([refused.status, refused.wrong]).toEqual([422, ['url']])
  await owner.press(path, 'Create endpoint', { url })
  ;(await owner.open(path)).says('The test receiver').omits('get it, too', 'gets it, too')
  await owner.press(path, 'Send event')
  await app.clock.settled()
  ;(await owner.open(path)).says(
    'It works',
    'Signature verified',
    'hello.world',
    'webhook-signature',
  )
  const viewer = await as('viewer')
  ;(await viewer.open(path)).says('webhook-signature: ********').omits('v1,')
  expect(
    app.db.client.query('SELECT COUNT(*) AS n FROM test_requests WHERE tenant_id = ?').get(id),
  ).toEqual({ n: 1 })
  app.db.client.run("UPDATE test_requests SET body = body || ' ' WHERE tenant_id = ?", [id])
  ;(await owner.open(path)).says('Signature invalid')
  await relay.post('/v1/relay/endpoints', { url: 'https://example.com' })
  ;(await owner.open(path)).says('Another endpoint subscribes to all events and gets it, too.')
})

test('A test user signs up on the hosted page, comes back, and the code they bring buys the session', async () => {
  const { id, owner, gate } = await app.newTenant()
  const browser = newHttpBrowser()
  browser.plant(app.url, `${owner.cookie}; Path=/`)
  const guide = await browser.visit(`${app.url}/console/${id}/get-started/users`)
  const form = await browser.press(guide, 'Open sign-up page')
  expect(form.url).toContain('/auth/self-service/registration')
  const typed = { 'traits.email': 'test@example.com', password: 'seven green bicycles' }
  const back = await browser.press(form, 'method=password', typed)
  const { pathname, searchParams } = new URL(back.url)
  expect(shortened(pathname)).toBe('/console/get-started/users')
  for (const words of ['It works', 'test@example.com', 'Password'])
    expect(back.text).toContain(words)
  const withKey = await browser.press(back, 'Create API key')
  const [key = ''] = /svc_gate_live_sk_\w{43}/.exec(withKey.html) ?? []
  const code = { flow: searchParams.get('flow') ?? '', code: searchParams.get('code') ?? '' }
  expect(withKey.text).toContain(JSON.stringify(code))
  const exchanged = await app.client(key).post('/v1/gate/sessions/exchange', code)
  expect(exchanged).toMatchObject({
    status: 200,
    body: { identity: { traits: { email: 'test@example.com' } } },
  })
  expect((await app.client(key).get('/v1/gate/settings/policies')).status).toBe(403)
  // Return URLs that leave out the console don't keep a user from signing up.
  await gate.put('/v1/gate/settings/return-urls', { return_urls: ['https://example.com/'] })
  const other = await browser.press(await browser.visit(guide.url), 'Open sign-up page')
  const account = { 'traits.email': 'other@example.com', password: 'seven green bicycles' }
  expect((await browser.press(other, 'method=password', account)).url).toContain('/settings')
})

test('A test login is approved in the chat, in the test environment', async () => {
  const { owner } = await app.newTenant()
  const path = '/get-started/messenger-login'
  const { location } = await owner.send(`${path}/start`)
  const waiting = await owner.open(location ?? '')
  waiting.says('Open chat', 'Select this number in the chat:')
  ;(await owner.open(path)).says('The link to the chat was shown once').omits('Open chat')
  const [, link = ''] = /href="([^"]+\/sandbox\/[^"]+)"/.exec(waiting.html) ?? []
  const [, choice = ''] = /matchnumber">(\d+)</.exec(waiting.html) ?? []
  const body = new URLSearchParams({ choice, person: 'ada' })
  expect((await app.raw(new URL(link).pathname, { method: 'POST', body })).status).toBe(303)
  ;(await owner.open(path)).says('It works', 'Ada Lovelace', '/test/logins/')
  ;(await owner.in('live').open('/logins')).omits('First login')
})

test('Viewers read the guides and the checklist, without buttons that they can not press', async () => {
  const { owner, as } = await app.newTenant()
  await choose(owner, ...GOALS)
  const viewer = await as('viewer')
  ;(await viewer.open('/get-started')).says('Schedule jobs').omits('Continue', 'type="checkbox"')
  for (const goal of GOALS) {
    const page = (await viewer.open(`/get-started/${goal}`)).omits(...BUTTONS, 'Create API key')
    page.says('Only owners and members can follow it.', 'Ask an owner')
    expect(/<main[\s\S]*<\/main>/.exec(page.html)?.[0]).not.toContain('method="post"')
  }
  ;(await viewer.open('/')).says('1 of 10').omits('Dismiss', 'Change goals')
  const member = await as('member')
  ;(await member.open('/get-started/jobs')).says(BUTTONS[0] ?? '').omits('Create API key')
})

test('A checklist stays until it is dismissed, and the settings bring it back', async () => {
  const { owner } = await app.newTenant()
  expect(await checklistOf(owner)).toEqual(['Choose what to do first', ...HOUSEKEEPING])
  await choose(owner, 'users')
  await owner.press('/', 'Dismiss')
  expect(await checklistOf(owner)).toBeUndefined()
  await owner.press('/settings', 'Show checklist')
  expect(await checklistOf(owner)).toEqual([
    'Sign up a test user',
    'Add sign-in to your app',
    ...HOUSEKEEPING,
  ])
  // A tenant that was set up without the console doesn't see it.
  const used = await app.newTenant()
  await used.endpoint({ url: 'https://example.com' })
  expect(await checklistOf(used.owner)).toBeUndefined()
})

test('Items are checked off by what the tenant has, each for itself', async () => {
  const acme = await app.newTenant()
  const { owner, gate, as } = acme
  await choose(owner, 'users')
  const identity = { schema_id: 'user', traits: { email: 'mette@example.com' } }
  await gate.post('/v1/gate/identities', identity)
  await app.clock.settled()
  await as('viewer')
  expect(await checklistOf(owner)).toEqual([
    '✓ Sign up a test user',
    '✓ Add sign-in to your app',
    '✓ Add a second operator',
    'Turn on two-factor authentication',
  ])
  const { owner: other } = await app.newTenant()
  await choose(other, 'users')
  expect(await checklistOf(other)).toEqual([
    'Sign up a test user',
    'Add sign-in to your app',
    ...HOUSEKEEPING,
  ])
  // What concerns the installation is for its admins.
  const admin = await app.signIn({ isAdmin: true, roles: { [acme.id]: 'owner' } })
  await admin.actIn(acme.id)
  expect(await checklistOf(admin)).toEqual(
    expect.arrayContaining(['Connect a mail server', 'Schedule backups', 'Serve it over HTTPS']),
  )
})

test('The TypeScript of each guide works as it is shown', async () => {
  const tenant = await app.newTenant()
  using folder = temporaryFolder()
  /** Runs the code of a guide, and more that uses it. */
  async function run(goal: Goal, key: string, more = '') {
    const file = join(folder.path, `${goal}.ts`)
    const code = typescriptFor(goal, app.url)
    const library = `'${import.meta.resolve('standardwebhooks')}'`
    await Bun.write(file, `${code.replace("'standardwebhooks'", library)}\n${more}`)
    const WEBHOOK_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const env = { ...process.env, GATEHOUSE_KEY: key, WEBHOOK_SECRET }
    const child = Bun.spawn([process.execPath, file], { env, stderr: 'pipe' })
    expect([await new Response(child.stderr).text(), await child.exited]).toEqual(['', 0])
    return (await new Response(child.stdout).text()).trim()
  }
  await run('jobs', tenant.secret)
  const jobs = (await tenant.api.get('/v1/clockwork/jobs')).body
  expect(jobs).toMatchObject([{ name: 'Nightly report' }])
  const sending = (await tenant.key('relay', 'live', ['relay:send'])).key
  await run('webhooks', sending, "await send('order.paid', { order: 42 })")
  const messages = (await tenant.relay.get('/v1/relay/messages')).body.data
  expect(messages).toMatchObject([{ event_type: 'order.paid' }])
  const flows = (await tenant.key('gate', 'live', ['flows'])).key
  const shown = await run('users', flows, "console.log((await signIn()).headers.get('location'))")
  expect(shown).toContain('/auth/self-service/login')
})
