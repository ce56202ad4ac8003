import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { renderToString } from 'preact-render-to-string'
import type { Role } from '../../src/console/operators/rights.ts'
import { InvitedPage } from '../../views/console/pages/team-invite.tsx'
import { bootTestApp, type TestApp } from '../support/app.ts'
import { formBody } from '../support/form.ts'
import { newOperator } from '../support/operator.ts'
import { audited } from './console-fixture.ts'

const DAY = 86_400_000
const NOBODYS = '01900000-0000-7000-8000-000000000000'

let app: TestApp
beforeAll(async () => {
  app = await bootTestApp()
})
afterAll(() => app.stop())

/** Somebody at the console: pages by GET, forms by POST. */
async function at(operator: Awaited<ReturnType<typeof newOperator>>) {
  const { headers, actIn } = await operator.signIn()
  return {
    ...operator,
    actIn,
    see: (path = '') => app.raw(`/console/team${path}`, { headers }),
    send: (path: string, fields: Record<string, string> = {}) =>
      app.raw(`/console/team${path}`, {
        method: 'POST',
        headers,
        body: formBody(app, headers, fields),
      }),
  }
}

/** A tenant of its own with one person of each role. */
async function team() {
  const { id: tenantId } = await app.tenant()
  const person = async (role: Role) => at(await newOperator(app, { roles: { [tenantId]: role } }))
  const [owner, member, viewer] = [
    await person('owner'),
    await person('member'),
    await person('viewer'),
  ]
  return { tenantId, person, owner, member, viewer }
}

const rolesIn = (tenantId: string) =>
  app.operators.memberships.list(tenantId).map(({ id, role }) => [id, role])

const invitationsOf = (tenantId: string) => app.operators.invitations.list(tenantId)

const locationOf = ({ headers }: { headers: Headers }) => headers.get('location')

describe('who may do what', () => {
  const DOORS = [
    ['GET', ''],
    ['GET', '/:id'],
    ['GET', '/invite'],
    ['POST', '/invite'],
    ['POST', '/:id'],
    ['POST', '/:id/remove'],
    ['POST', '/invitations/:invitation/revoke'],
  ] as const

  /** Where owners get, with fields that change nothing. */
  const FOR_OWNERS: Record<string, number> = {
    'POST /invite': 422,
    'POST /:id': 422,
    'POST /:id/remove': 303,
    'POST /invitations/:invitation/revoke': 303,
  }

  test.each(DOORS)('%s /console/team%s', async (method, path) => {
    const { tenantId, owner, member, viewer } = await team()
    const actor = { kind: 'operator', id: owner.id } as const
    const inviter = { actor, id: owner.id, name: 'Ada' }
    const wanted = { email: 'new@example.com', role: 'viewer' } as const
    const { id } = await app.operators.invitations.invite(inviter, tenantId, wanted)
    const real = path.replace(':id', member.id).replace(':invitation', id)
    const runner = await at(await newOperator(app, { isAdmin: true }))
    const before = rolesIn(tenantId)

    const open = ({ see, send }: typeof owner) => (method === 'GET' ? see(real) : send(real))
    const isLooking = method === 'GET' && path !== '/invite'
    expect((await open(viewer)).status).toBe(isLooking ? 200 : 403)
    expect((await open(member)).status).toBe(isLooking ? 200 : 403)
    expect((await open(runner)).status).toBe(403)
    expect((await app.raw(`/console/team${real}`, { method })).status).toBe(401)
    expect([rolesIn(tenantId), invitationsOf(tenantId).length]).toEqual([before, 1])
    expect((await open(owner)).status).toBe(FOR_OWNERS[`${method} ${path}`] ?? 200)
  })

  test('those who may decide nothing see no way to', async () => {
    const { owner, viewer } = await team()
    expect((await owner.see()).body).toContain('Invite member')
    expect((await viewer.see()).body).not.toContain('Invite member')
    expect((await owner.see(`/${viewer.id}`)).body).toContain('Remove member')
    expect((await viewer.see(`/${owner.id}`)).body).not.toContain('Change role')
  })

  test('a form of a page of another site is refused', async () => {
    const { tenantId, owner } = await team()
    const { headers } = await owner.signIn()
    const answer = await app.raw('/console/team/leave', {
      method: 'POST',
      headers: { ...headers, 'sec-fetch-site': 'cross-site' },
    })
    expect([answer.status, rolesIn(tenantId).length]).toEqual([403, 3])
  })
})

describe('the list', () => {
  test('says who is there, as what, and who looks', async () => {
    const { owner, viewer } = await team()
    const { body } = await viewer.see()
    expect(body).toContain('3 members in ')
    expect(body).toContain(`href="/console/team/${owner.id}"`)
    expect(body).toContain('<span class="hint"> (only owner)</span>')
    expect(body.split('(you)')).toHaveLength(2)
    expect(body).toContain('No pending invitations')
  })

  test('is narrowed by role, and says so where nobody is left', async () => {
    const { owner, viewer, tenantId } = await team()
    const viewers = (await owner.see('?role=viewer')).body
    expect(viewers).toContain(`row-${viewer.id}`)
    expect(viewers).not.toContain(`row-${owner.id}`)
    await viewer.leave(tenantId)
    expect((await owner.see('?role=viewer')).body).toContain('No viewers yet')
    expect((await owner.see('?role=<script>')).body).toContain(`row-${owner.id}`)
  })

  test('says that a team keeps its owner', async () => {
    const { owner, person } = await team()
    const alone = (await owner.see()).body
    expect(alone).toContain('Add another owner before you leave or change role.')
    expect(alone).not.toContain('Leave team')
    await person('owner')
    const both = (await owner.see()).body
    expect(both).toContain('A team needs at least one owner.')
    expect(both).toContain('Leave team')
  })
})

describe('an invitation', () => {
  test('goes out by mail, is shown once as a link, waits in the list and lets its holder in', async () => {
    const { tenantId, owner } = await team()
    const answer = await owner.send('/invite', { email: 'Bo@Example.com', role: 'member' })
    const [, link = ''] =
      /<code>([^<]*\/console\/invitation\/[^<]+)<\/code>/.exec(answer.body) ?? []
    const token = link.split('/').at(-1) ?? ''

    expect([
      answer.status,
      answer.body.includes('send email right now, so send the link yourself'),
    ]).toEqual([200, true])
    const [invitation] = invitationsOf(tenantId)
    expect(invitation).toMatchObject({ email: 'bo@example.com', role: 'member' })
    expect(audited(app, 'invitation.created').at(-1)).toMatchObject({
      actor_kind: 'operator',
      actor_id: owner.id,
      tenant_id: tenantId,
      object: `invitation:${invitation?.id}`,
    })
    const list = (await owner.see()).body
    expect(list).toContain('bo@example.com')
    expect(list).toContain('2026-03-08 12:00 UTC')
    expect(list).not.toContain(token)
    expect((await app.raw(`/console/invitation/${token}`)).status).toBe(200)
  })

  test.each([
    [true, 'was emailed to that address only'],
    [false, 'send email right now, so send the link yourself'],
  ])('says what becomes of the link (by mail: %p)', (isMailed, words) => {
    const invitation = {
      id: NOBODYS,
      email: 'bo@example.com',
      role: 'viewer',
      created_at: '2026-03-01T12:00:00.000Z',
      expires_at: '2026-03-08T12:00:00.000Z',
      url: 'https://gate.example/console/invitation/x',
      isMailed,
    } as const
    const page = InvitedPage({ base: '', invitation, now: app.clock.now() })
    const html = renderToString(page)
    expect(html).toContain(words)
    expect(html.includes(invitation.url)).toBe(!isMailed)
  })

  test('is no longer listed once it has ended', async () => {
    const { owner } = await team()
    await owner.send('/invite', { email: 'late@example.com', role: 'viewer' })
    expect((await owner.see()).body).toContain('late@example.com')
    app.clock.jump(7 * DAY)
    const again = await at(owner)
    expect((await again.see()).body).not.toContain('late@example.com')
  })

  test('is mailed so often and no more, and good by its link all the same', async () => {
    const { tenantId, owner } = await team()
    const fields = { email: 'often@example.com', role: 'viewer' }
    const mails = () => app.db.client.query('SELECT id FROM mails').all().length
    const before = mails()
    await owner.send('/invite', fields)
    const second = await owner.send('/invite', fields)
    expect(mails() - before).toBe(1)
    expect(second.body).toContain('/console/invitation/')
    expect(invitationsOf(tenantId)).toHaveLength(1)
  })

  test('is one of a hundred that are open at once', async () => {
    const { tenantId, owner } = await team()
    const send = (n: number) =>
      owner.send('/invite', { email: `guest-${n}@example.com`, role: 'viewer' })
    for (let n = 0; n < 100; n++) expect((await send(n)).status).toBe(200)
    const { status, body } = await send(100)
    expect([status, body]).toEqual([422, expect.stringContaining('id="field-email-error"')])
    expect((await send(99)).status).toBe(200)
    await owner.send(`/invitations/${invitationsOf(tenantId)[0]?.id}/revoke`)
    expect((await send(100)).status).toBe(200)
    expect(invitationsOf(tenantId)).toHaveLength(100)
  })

  test.each([
    ['email', { email: 'no address', role: 'viewer' }, 'Must be an email address'],
    ['email', { email: '', role: 'viewer' }, 'Must be an email address'],
    [
      'email',
      { email: `${'x'.repeat(10_000)}@example.com`, role: 'viewer' },
      'Must have at most 254 bytes',
    ],
    ['role', { email: 'bo@example.com', role: 'king' }, 'Must be one of owner, member, viewer'],
    ['role', { email: 'bo@example.com' }, 'Must be one of owner, member, viewer'],
  ])('with a wrong %s comes back as it was typed', async (name, fields, words) => {
    const { tenantId, owner } = await team()
    const { status, body } = await owner.send('/invite', fields as Record<string, string>)
    expect(status).toBe(422)
    expect(body).toContain(`id="field-${name}-error"`)
    expect(body).toContain(words)
    expect(body).toContain(`type="email" value${fields.email && `="${fields.email}"`} required`)
    expect(invitationsOf(tenantId)).toEqual([])
  })

  test('is not for whoever is there already', async () => {
    const { owner, viewer } = await team()
    const { status, body } = await owner.send('/invite', { email: viewer.email, role: 'owner' })
    expect(status).toBe(422)
    expect(body).toContain('Is already on the team.')
  })

  test('is revoked by an owner of its tenant, and lets nobody in then', async () => {
    const { tenantId, owner } = await team()
    const other = await team()
    const sent = await owner.send('/invite', { email: 'eve@example.com', role: 'viewer' })
    const [path = ''] = /\/console\/invitation\/\w+/.exec(sent.body) ?? []
    const { id = '' } = invitationsOf(tenantId)[0] ?? {}

    expect((await other.owner.send(`/invitations/${id}/revoke`)).status).toBe(404)
    expect(invitationsOf(tenantId)).toHaveLength(1)
    const answer = await owner.send(`/invitations/${id}/revoke`)
    expect(locationOf(answer)).toBe('/console/team?done=revoked')
    expect((await app.raw(path)).status).toBe(404)
    expect((await owner.send(`/invitations/${id}/revoke`)).status).toBe(404)
    expect(audited(app, 'invitation.revoked').at(-1)).toMatchObject({
      actor_id: owner.id,
      object: `invitation:${id}`,
    })
  })
})

describe('a role', () => {
  test('is changed, counts at once, and is written down', async () => {
    const { tenantId, owner, viewer } = await team()
    const answer = await owner.send(`/${viewer.id}`, { role: 'owner' })
    expect([answer.status, locationOf(answer)]).toEqual([
      303,
      `/console/team/${viewer.id}?done=changed`,
    ])
    expect((await viewer.see('/invite')).status).toBe(200)
    expect(audited(app, 'member.changed').at(-1)).toMatchObject({
      actor_id: owner.id,
      tenant_id: tenantId,
      object: `operator:${viewer.id}`,
    })
  })

  test('of the only owner stays, and says why beside the field', async () => {
    const { tenantId, owner, person } = await team()
    const refused = await owner.send(`/${owner.id}`, { role: 'viewer' })
    expect(refused.status).toBe(422)
    expect(refused.body).toContain('id="field-role-error"')
    expect(refused.body).toContain('Add another owner first')
    await person('owner')
    expect((await owner.send(`/${owner.id}`, { role: 'viewer' })).status).toBe(303)
    expect(rolesIn(tenantId)).toContainEqual([owner.id, 'viewer'])
  })

  test('that there is not changes nothing', async () => {
    const { tenantId, owner, viewer } = await team()
    expect((await owner.send(`/${viewer.id}`, { role: 'king' })).status).toBe(422)
    expect(rolesIn(tenantId)).toContainEqual([viewer.id, 'viewer'])
  })
})

describe('whoever goes', () => {
  test('is removed by an owner, and refused at once', async () => {
    const { tenantId, owner, member } = await team()
    expect((await member.see()).status).toBe(200)
    const answer = await owner.send(`/${member.id}/remove`)
    expect(locationOf(answer)).toBe('/console/team?done=removed')
    expect((await member.see()).status).toBe(403)
    expect(audited(app, 'member.removed').at(-1)).toMatchObject({
      actor_id: owner.id,
      tenant_id: tenantId,
      object: `operator:${member.id}`,
    })
  })

  test.each(['member', 'viewer'] as const)('leaves on their own, as a %s', async (role) => {
    const { tenantId, [role]: leaver } = await team()
    const answer = await leaver.send('/leave')
    expect(locationOf(answer)).toBe('/console/account?done=left')
    expect(rolesIn(tenantId).map(([id]) => id)).not.toContain(leaver.id)
    expect(audited(app, 'member.removed').at(-1)).toMatchObject({ actor_id: leaver.id })
  })

  test('is never the last owner', async () => {
    const { tenantId, owner, person } = await team()
    expect((await owner.send('/leave')).status).toBe(409)
    expect((await owner.send(`/${owner.id}/remove`)).status).toBe(409)
    expect(rolesIn(tenantId)).toContainEqual([owner.id, 'owner'])
    await person('owner')
    expect((await owner.send('/leave')).status).toBe(303)
  })

  test('is not the last owner who can sign in, whoever else was deactivated', async () => {
    const { tenantId, owner } = await team()
    const asleep = await newOperator(app, { roles: { [tenantId]: 'owner' } })
    await asleep.deactivate()
    expect((await owner.send('/leave')).status).toBe(409)
    expect((await owner.send(`/${owner.id}`, { role: 'member' })).status).toBe(422)
    expect((await owner.send(`/${asleep.id}`, { role: 'viewer' })).status).toBe(303)
    expect(rolesIn(tenantId)).toContainEqual([owner.id, 'owner'])
  })

  test('or is an owner no more, does not come back by a link that they have sent', async () => {
    const { tenantId, owner, person } = await team()
    const [gone, less] = [await person('owner'), await person('owner')]
    for (const [by, email] of [
      [gone, 'a@example.com'],
      [less, 'b@example.com'],
      [owner, 'c@example.com'],
    ] as const)
      await by.send('/invite', { email, role: 'owner' })

    await owner.send(`/${gone.id}/remove`)
    await owner.send(`/${less.id}`, { role: 'viewer' })

    expect(invitationsOf(tenantId)).toMatchObject([{ email: 'c@example.com' }])
  })
})

test.each(['', '/remove'])('people of other tenants are nobody here%s', async (path) => {
  const { owner } = await team()
  const other = await team()
  for (const id of [other.viewer.id, NOBODYS, 'x', '<script>'])
    expect((await owner.send(`/${id}${path}`, { role: 'viewer' })).status).toBe(404)
  expect((await owner.see(`/${other.viewer.id}`)).status).toBe(404)
  expect(rolesIn(other.tenantId)).toHaveLength(3)
})

test.each([
  ['markup', '<script>alert(1)</script>', '&lt;script>alert(1)&lt;/script>'],
  ['marks that turn lines round', 'Ada \u202egnp.exe', 'title="Ada \u202egnp.exe"'],
  ['many letters', 'y'.repeat(10_000), `title="${'y'.repeat(10_000)}"`],
])('names of %s are text and whole', async (_, name, shown) => {
  const { id: tenantId } = await app.tenant(name)
  const owner = await at(await newOperator(app, { roles: { [tenantId]: 'owner' } }))
  app.db.client
    .query('UPDATE gate_identities SET traits = ? WHERE id = ?')
    .run(JSON.stringify({ email: owner.email, display_name: name }), owner.id)
  for (const path of ['', `/${owner.id}`]) {
    const { status, body } = await owner.see(path)
    expect(status).toBe(200)
    expect(body).not.toContain('<script>alert')
    expect(body).toContain(shown)
    expect(
      body.replaceAll(/title="[^"]*"/g, '').replaceAll(/<title>.*?<\/title>/g, ''),
    ).not.toContain('\u202e')
  }
})
