import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createLoginLinks } from '../../../src/console/operators/login-links.ts'
import { operatorPages } from '../../../src/console/pages/admin/operators.ts'
import { SYSTEM_TENANT_ID } from '../../../src/platform/system-tenant.ts'
import { formBody } from '../../support/form.ts'
import { newOperator } from '../../support/operator.ts'
import {
  type AdminFixture,
  alone,
  audited,
  bootAdmin,
  HOSTILE,
  isEscaped,
  textOf,
} from './admin-fixture.ts'

const PATH = '/console/admin/operators'

let fixture: AdminFixture
beforeAll(async () => {
  fixture = await bootAdmin()
})
afterAll(() => fixture.app.stop())

const lastAudited = (action: string) => audited(fixture.app, action).at(-1)

/** Whether somebody with a new session gets to the pages of the installation. */
async function mayRun(operator: Awaited<ReturnType<typeof newOperator>>): Promise<boolean> {
  const session = await operator.signIn()
  return (await fixture.app.raw(PATH, { headers: session.headers })).status === 200
}

describe('the list of operators', () => {
  test('has everybody with what they run', async () => {
    const { id } = await fixture.app.tenant('Run by Ada')
    await newOperator(fixture.app, { email: 'ada@list.example', roles: { [id]: 'owner' } })
    const text = textOf(await fixture.open(`${PATH}?q=ADA@list`))
    expect(text).toMatch(/ada@list\.example .*Active Access Run by Ada \(owner\)/)
    expect(textOf(await fixture.open(`${PATH}?q=nobody-so`))).toContain('No matching operators')
  })

  test('is narrowed to those who run the installation', async () => {
    await newOperator(fixture.app, { email: 'plain@list.example' })
    const text = textOf(await fixture.open(`${PATH}?show=admins`))
    expect(text).toContain('admin@example.com')
    expect(text).not.toContain('plain@list.example')
  })

  test('is narrowed to those who are deactivated', async () => {
    const gone = await newOperator(fixture.app, { email: 'gone@list.example' })
    await gone.deactivate()
    const text = textOf(await fixture.open(`${PATH}?show=deactivated`))
    expect(text).toContain('gone@list.example')
    expect(text).not.toMatch(/admin@example\.com Name/)
  })

  test('is searched by a whole id, and by the beginning of an address within what is shown', async () => {
    const { id } = await newOperator(fixture.app, { email: 'whole@id.example' })
    expect(textOf(await fixture.open(`${PATH}?q=${id.toUpperCase()}`))).toContain(
      'whole@id.example',
    )
    for (const query of [`q=${id}&show=admins`, 'q=whole@&show=admins', 'q=id.example'])
      expect(textOf(await fixture.open(`${PATH}?${query}`))).toContain('No matching operators')
    expect(textOf(await fixture.open(`${PATH}?q=Admin&show=admins`))).toContain('admin@example.com')
  })

  test('goes on page by page, each person once', async () => {
    const { app, open } = await bootAdmin()
    await using _ = app
    for (let n = 0; n < 60; n++) await newOperator(app, { email: `many-${n}.@example.com` })
    const first = await open(`${PATH}?q=many-`)
    const [, href = ''] = /rel="next" href="([^"]+)"/.exec(first.body) ?? []
    const second = await open(href.replaceAll('&amp;', '&'))
    const seen = `${first.body}${second.body}`.match(/>many-\d+\.@/g) ?? []
    expect([seen.length, new Set(seen).size]).toEqual([60, 60])
  })
})

describe('the account of an operator', () => {
  test('is deactivated at once, wherever they are signed in, and comes back without sessions', async () => {
    const operator = await newOperator(fixture.app)
    const { headers } = await operator.signIn()
    const status = async () => (await fixture.app.raw('/console/account', { headers })).status
    const answer = await fixture.send(`${PATH}/${operator.id}/deactivate`)
    expect(textOf(await fixture.follow(answer))).toContain('Deactivated. This operator')
    expect(await status()).toBe(401)
    const entry = {
      actor_kind: 'operator',
      actor_id: fixture.admin.id,
      tenant_id: SYSTEM_TENANT_ID,
      object: `identity:${operator.id}`,
    }
    expect(lastAudited('identity.state_changed')).toMatchObject(entry)

    await fixture.send(`${PATH}/${operator.id}/reactivate`)
    expect(await status()).toBe(401)
    expect((await fixture.app.raw('/console/account', await operator.signIn())).status).toBe(200)
  })

  test('is not deactivated by its owner, nor as the last that runs the installation', async () => {
    const fresh = await bootAdmin()
    await using app = fresh.app
    const own = `${PATH}/${fresh.admin.id}`
    expect((await fresh.send(`${own}/deactivate`)).status).toBe(409)
    await newOperator(app, { isAdmin: true })
    expect((await fresh.send(`${own}/deactivate`)).status).toBe(409)
    expect(audited(app, 'identity.state_changed')).toEqual([])
    expect((await fresh.open(own)).body).not.toContain(`${own}/deactivate`)
  })

  test('does not come back by an invitation of its own once it is deactivated', async () => {
    const { id: tenantId } = await fixture.app.tenant()
    const owner = await newOperator(fixture.app, { roles: { [tenantId]: 'owner' } })
    const { headers } = await owner.signIn()
    const invited = await fixture.app.raw('/console/team/invite', {
      method: 'POST',
      headers,
      body: formBody(fixture.app, headers, { email: 'back@example.com', role: 'owner' }),
    })
    const [link = ''] = /\/console\/invitation\/[\w-]+/.exec(invited.body) ?? []
    expect((await fixture.app.raw(link)).status).toBe(200)
    await fixture.send(`${PATH}/${owner.id}/deactivate`)
    expect((await fixture.app.raw(link)).status).toBe(404)
    expect(lastAudited('invitation.revoked')).toMatchObject({ tenant_id: tenantId })
  })

  test('is signed out everywhere, by links too, and noted', async () => {
    const operator = await newOperator(fixture.app)
    const { headers } = await operator.signIn()
    const made = await fixture.send(`${PATH}/${operator.id}/login-link`)
    const [, link = ''] = /(\/console\/link\/[\w-]+)/.exec(made.body) ?? []
    expect((await fixture.app.raw(link)).status).toBe(200)
    await fixture.send(`${PATH}/${operator.id}/sign-out`)
    expect((await fixture.app.raw('/console/account', { headers })).status).toBe(401)
    expect((await fixture.app.raw(link)).status).toBe(404)
    expect(lastAudited('sessions.revoked')).toMatchObject({ actor_id: fixture.admin.id })
  })

  test('gets a link that signs in once, shown once where no mail goes out', async () => {
    const operator = await newOperator(fixture.app)
    const made = await fixture.send(`${PATH}/${operator.id}/login-link`)
    const [, link = ''] = /(\/console\/link\/[\w-]+)/.exec(made.body) ?? []
    expect(lastAudited('login_link.created')).toMatchObject({
      actor_id: fixture.admin.id,
      object: `operator:${operator.id}`,
    })
    const entered = await fixture.app.raw(link, { method: 'POST' })
    const [cookie = ''] = entered.headers.getSetCookie()
    const account = await fixture.app.raw('/console/account', {
      headers: { cookie: cookie.split(';')[0] ?? '' },
    })
    expect(account.body).toContain(operator.email)
    expect((await fixture.app.raw(link, { method: 'POST' })).status).toBe(404)
  })

  test('gets it by mail alone where mails go out, and is not pestered', async () => {
    const plain = await bootAdmin()
    await using app = plain.app
    const { db, clock, platform, mail } = app
    const { admins, links } = app.operators
    const pageOf = (token: string) => `http://localhost/console/link/${token}`
    const sending = { ...mail, hasServer: true }
    const parts = { db, clock, links, tenants: platform.tenants, mail: sending, pageOf }
    const operators = { admins, loginLinks: createLoginLinks(parts) }
    const { gateOperators } = app.gate
    const open = alone(plain, (common) =>
      operatorPages({ ...common, db, clock, gateOperators, operators }),
    )
    const operator = await newOperator(app)
    const made = await open(`${PATH}/${operator.id}/login-link`, { method: 'POST' })
    expect([made.status, made.body]).toEqual([303, ''])
    const page = await open(`${PATH}/${operator.id}?done=sent`)
    expect(textOf(page)).toContain('Sign-in link sent.')
    expect(mail.outbox.list('all', { limit: 5 })).toMatchObject([
      { kind: 'login_link', recipient: operator.email, tenantId: null },
    ])
    const actor = { kind: 'operator', id: plain.admin.id } as const
    const again = operators.loginLinks.make(actor, admins.existing(operator.id))
    await expect(again).rejects.toMatchObject({ kind: 'rate_limited', retryAfterMs: 30_000 })
    expect(audited(app, 'login_link.created')).toHaveLength(1)
  })

  test('that is deactivated gets no link', async () => {
    const gone = await newOperator(fixture.app)
    await gone.deactivate()
    expect((await fixture.send(`${PATH}/${gone.id}/login-link`)).status).toBe(409)
    expect((await fixture.open(`${PATH}/${gone.id}`)).body).not.toContain('login-link')
  })
})

describe('the right to run the installation', () => {
  test('is given and taken, and both are audited', async () => {
    const colleague = await newOperator(fixture.app)
    expect(await mayRun(colleague)).toBe(false)
    const given = await fixture.send(`${PATH}/${colleague.id}/give-admin`)
    expect(textOf(await fixture.follow(given))).toContain('Admin role granted.')
    expect(await mayRun(colleague)).toBe(true)

    const entry = {
      actor_kind: 'operator',
      actor_id: fixture.admin.id,
      tenant_id: SYSTEM_TENANT_ID,
      object: `operator:${colleague.id}`,
    }
    expect(lastAudited('admin.added')).toMatchObject(entry)
    await fixture.send(`${PATH}/${colleague.id}/take-admin`)
    expect(await mayRun(colleague)).toBe(false)
    expect(lastAudited('admin.removed')).toMatchObject(entry)
  })

  test('is not given to somebody who is deactivated', async () => {
    const gone = await newOperator(fixture.app)
    await gone.deactivate()
    expect((await fixture.send(`${PATH}/${gone.id}/give-admin`)).status).toBe(409)
    expect(textOf(await fixture.open(`${PATH}/${gone.id}`))).toContain(
      'Reactivate the operator first.',
    )
  })

  test('is kept by the last who has it, whoever else is deactivated', async () => {
    const fresh = await bootAdmin()
    await using app = fresh.app
    const gone = await newOperator(app, { isAdmin: true })
    await gone.deactivate()
    const own = `${PATH}/${fresh.admin.id}`
    expect((await fresh.send(`${own}/take-admin`)).status).toBe(409)
    expect(textOf(await fresh.open(own))).toContain('This is the only admin.')
    expect(audited(app, 'admin.removed')).toEqual([])
  })

  test('may be given up where somebody else has it', async () => {
    const fresh = await bootAdmin()
    await using app = fresh.app
    await newOperator(app, { isAdmin: true })
    const answer = await fresh.send(`${PATH}/${fresh.admin.id}/take-admin`)
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/console'])
    expect((await fresh.open(PATH)).status).toBe(403)
  })

  test('asks for no people of tenants', async () => {
    const { id, key } = await fixture.app.tenant()
    const { key: secret } = await key('gate')
    const person = await fixture.app
      .client(secret)
      .post('/v1/gate/identities', { schema_id: 'user', traits: { email: 'user@example.com' } })
    expect([person.status, id.length]).toEqual([201, 36])
    expect((await fixture.open(`${PATH}/${person.body.id}`)).status).toBe(404)
    expect((await fixture.send(`${PATH}/${person.body.id}/give-admin`)).status).toBe(404)
  })
})

test.each(HOSTILE)('a tenant with a name %s is text at who runs it', async (_, name) => {
  const { id } = await fixture.app.tenant(name)
  const operator = await newOperator(fixture.app, { roles: { [id]: 'owner' } })
  for (const path of [`${PATH}?q=${operator.id}`, `${PATH}/${operator.id}`]) {
    const page = await fixture.open(path)
    expect([page.status, isEscaped(page)]).toEqual([200, true])
  }
})
