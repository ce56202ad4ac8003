import { expect, test } from 'bun:test'
import { newHttpBrowser } from '../support/http-browser.ts'
import { inEnvironment, pagesOf, SYSTEM, UNKNOWN_ID, useConsole } from './fixture.ts'

const app = await useConsole()
const acme = await app.newTenant('Acme')
const other = await app.newTenant('Other')
const roles = { [acme.id]: 'owner', [other.id]: 'owner' } as const

/** Where an address redirects to. */
async function redirected(path: string, cookie: string) {
  const headers = { accept: 'text/html', cookie }
  return (await app.raw(path, { headers })).headers.get('location')
}

test.each([
  ['/console', '/live'],
  ['/console/jobs?state=failing', '/jobs?state=failing'],
  ['/console/endpoints/e1/edit', '/live/endpoints/e1/edit'],
  ['/console/audit/export?format=csv', '/audit/export?format=csv'],
  ['/console/bots', '/live/bots'],
  ['/console/bots/test', '/test/bots'],
])('The address %s leads to the selected tenant', async (path, expected) => {
  const { cookie, actIn } = await app.signIn({ roles })
  for (const { id } of [acme, other]) {
    await actIn(id)
    expect(await redirected(path, cookie)).toBe(`/console/${id}${expected}`)
  }
})

test('An address without environment leads to the one that was opened last', async () => {
  const { cookie, open } = acme.owner
  const page = await open(`/console/${acme.id}/test/endpoints`)
  const [environment = ''] = page.headers.getSetCookie()
  expect(environment).toStartWith('gatehouse_environment=test; ')
  expect((await open(`/console/${acme.id}/live/endpoints`)).headers.getSetCookie()).toEqual([])
  const later = inEnvironment(cookie, 'test')
  expect(await redirected(`/console/${acme.id}`, later)).toBe(`/console/${acme.id}/test`)
  expect((await pagesOf(app, later).open('/jobs')).html).toContain(
    `href="/console/${acme.id}/test/endpoints"`,
  )
})

test('Former addresses of the installation lead to their present ones', async () => {
  const admin = await app.newAdmin()
  const { cookie } = admin
  expect(await redirected('/console', cookie)).toBe('/console/installation')
  const former = '/console/admin/tenants?q=a'
  expect(await redirected(former, cookie)).toBe('/console/installation/tenants?q=a')
})

test('Without a tenant, addresses lead to a page that says so', async () => {
  const { cookie, open } = await app.signIn()
  for (const path of ['/console', '/console/jobs'])
    expect(await redirected(path, cookie)).toBe('/console/start')
  ;(await open('/console/start')).says("You're not a member of any tenant.")
})

test('A tenant of others is as unknown as one that does not exist, like any other environment', async () => {
  const { open } = acme.owner
  const unknown = await open(`/console/${UNKNOWN_ID}/jobs`)
  for (const path of [`/console/${other.id}/jobs`, `/console/${other.id}`]) {
    const page = await open(path)
    expect(page.status).toBe(404)
    expect(page.says("This tenant doesn't exist").text.replace(/req_\S+/, '')).toBe(
      unknown.text.replace(/req_\S+/, ''),
    )
  }
  for (const path of ['/staging/endpoints', '/LIVE/endpoints', '/jobs/endpoints'])
    expect([path, (await open(`/console/${acme.id}${path}`)).status]).toEqual([path, 404])
})

test('Two tabs show two tenants, and each form changes its own', async () => {
  const { token, email } = await app.signIn({ roles })
  const browser = newHttpBrowser()
  browser.plant(app.url, `identity_session=${token}; Path=/`)
  const open = (path: string) => browser.visit(`${app.url}/console/${path}`)
  const tab = await open(`${acme.id}/settings`)
  const switched = await browser.press(tab, `to=${other.id}`)
  expect(switched.url).toBe(`${app.url}/console/${other.id}/live`)
  expect((await open(`${acme.id}/live`)).text).toContain('Current tenant: Acme')
  const renamed = await browser.press(tab, 'Save settings', { name: 'Acme Ltd' })
  expect(renamed.text).toContain('Settings saved.')
  const nameOf = ({ id }: { id: string }) => app.platform.tenants.find(id).name
  expect([nameOf(acme), nameOf(other)]).toEqual(['Acme Ltd', 'Other'])
  expect(renamed.text).toContain(email)
})

test('An invitation leads to its tenant, whatever the session had selected', async () => {
  const { cookie, id: operatorId, email } = await app.signIn({ roles })
  const third = await app.tenant('Third')
  const by = { actor: SYSTEM, id: 'inviter', name: 'Bo' }
  const { url } = await app.operators.invitations.invite(by, third.id, { email, role: 'viewer' })
  const { headers } = await app.raw(new URL(url).pathname, {
    method: 'POST',
    headers: { accept: 'text/html', cookie },
    body: new URLSearchParams({ account: operatorId }),
  })
  expect(headers.get('location')).toBe('/console')
  expect(await redirected('/console', cookie)).toBe(`/console/${third.id}/live`)
})

test('A session that lost its tenant leads to no other one', async () => {
  const lost = await app.tenant('Lost')
  const { cookie, actIn, id, open } = await app.signIn({
    roles: { [acme.id]: 'viewer', [lost.id]: 'viewer' },
  })
  await actIn(lost.id)
  await app.operators.memberships.remove(SYSTEM, lost.id, id)
  for (const path of ['/console', '/console/jobs'])
    expect(await redirected(path, cookie)).toBe('/console/start')
  const page = await open('/console/start')
  expect(page.says('You no longer have access').html).not.toContain(`/console/${acme.id}`)
})

test('With the installation selected, the account page leads to it', async () => {
  const admin = await app.signIn({ isAdmin: true, roles: { [acme.id]: 'viewer' } })
  await admin.actIn(null)
  const { html } = await admin.open('/account')
  for (const path of ['', '/find']) expect(html).toContain(`"/console/installation${path}"`)
})

test('The answer to a form has the address of its page, which its links and the history get', async () => {
  const { html } = await acme.owner.send('/bots/token', { token: 'bad' })
  const address = `/console/${acme.id}/live/bots`
  expect(html).toContain(`name="return_to" value="${address}"`)
  expect(html).toContain(`data-address="${address}"`)
})

test('The switch leads to the same list in the other environment, from a detail to its list', async () => {
  const id = await acme.endpoint()
  const { open } = acme.owner
  const [list, detail] = [await open('/endpoints?state=active'), await open(`/endpoints/${id}`)]
  const other = `href="/console/${acme.id}/test/endpoints"`
  expect([list.html.includes(other), detail.html.includes(other)]).toEqual([true, true])
  ;(await open('/jobs')).omits('aria-label="Environment"')
})
