import { describe, expect, test } from 'bun:test'
import {
  type Console,
  DAY,
  MINUTE,
  pagesOf,
  type SignedIn,
  UNKNOWN_ID,
  useConsole,
  WITH_MAIL,
} from './fixture.ts'

const PAGE = '/console/team'

const app = await useConsole()
const mailing = await useConsole({ env: WITH_MAIL })

/** A tenant with one member of each role. */
async function team(at: Console = app) {
  const { id: tenantId, as, owner } = await at.newTenant()
  const roles = () => at.operators.memberships.list(tenantId).map(({ id, role }) => [id, role])
  const invitations = () => at.operators.invitations.list(tenantId)
  const invite = (email: string, role = 'viewer', by: SignedIn = owner) =>
    by.send(`${PAGE}/invite`, { email, role })
  const people = { owner, member: await as('member'), viewer: await as('viewer') }
  return { tenantId, as, ...people, roles, invitations, invite }
}

const linkIn = (html: string) => /\/console\/invitation\/[\w-]+/.exec(html)?.[0] ?? ''

describe('The list', () => {
  test('has the members with their roles, and filters by role', async () => {
    const { owner, viewer, tenantId } = await team()
    const { html, text } = await viewer.open(PAGE)
    for (const words of ['3 members in ', '(only owner)', 'No pending invitations'])
      expect(text).toContain(words)
    expect(html).toContain(`href="${PAGE}/${owner.id}"`)
    expect(text.split('(you)')).toHaveLength(2)
    expect((await owner.open(`${PAGE}?role=viewer`)).rows).toEqual([viewer.id])
    expect((await owner.open(`${PAGE}?role=other`)).rows).toHaveLength(3)
    await viewer.leave(tenantId)
    expect((await owner.open(`${PAGE}?role=viewer`)).text).toContain('No viewers yet')
  })

  test('offers actions only to owners', async () => {
    const { owner, viewer } = await team()
    expect((await owner.open(PAGE)).text).toContain('Invite member')
    expect((await owner.open(`${PAGE}/${viewer.id}`)).text).toContain('Remove member')
    expect((await viewer.open(PAGE)).text).not.toContain('Invite member')
    expect((await viewer.open(`${PAGE}/${owner.id}`)).text).not.toContain('Change role')
  })

  test('says that a team needs an owner', async () => {
    const { owner, as } = await team()
    const alone = await owner.open(PAGE)
    expect(alone.text).toContain('Add another owner before you leave or change role.')
    expect(alone.text).not.toContain('Leave team')
    await as('owner')
    const two = await owner.open(PAGE)
    for (const words of ['A team needs at least one owner.', 'Leave team'])
      expect(two.text).toContain(words)
  })
})

describe('An invitation', () => {
  test('is shown as a link once, listed for seven days, and revoked', async () => {
    const { owner, invitations, invite } = await team()
    const other = await team()
    const { status, html, text } = await invite('Bo@Example.com', 'member')
    expect([status, text]).toEqual([200, expect.stringContaining('so send the link yourself')])
    const [invitation] = invitations()
    expect(invitation).toMatchObject({ email: 'bo@example.com', role: 'member' })
    expect(owner.audited('invitation.created')).toEqual([`invitation:${invitation?.id}`])
    const list = await owner.open(PAGE)
    expect(list.text).toMatch(/bo@example\.com.*2026-03-\d\d \d\d:\d\d UTC/)
    expect(list.html).not.toContain(linkIn(html))
    const invited = pagesOf(app)
    expect((await invited.open(linkIn(html))).status).toBe(200)

    const revoke = `${PAGE}/invitations/${invitation?.id}/revoke`
    expect((await other.owner.send(revoke)).status).toBe(404)
    expect(invitations()).toHaveLength(1)
    expect((await owner.send(revoke)).location).toBe(`${PAGE}?done=revoked`)
    expect((await invited.open(linkIn(html))).status).toBe(404)
    expect((await owner.send(revoke)).status).toBe(404)
    expect(owner.audited('invitation.revoked')).toEqual([`invitation:${invitation?.id}`])

    await invite('late@example.com')
    app.clock.jump(7 * DAY)
    const later = await app.sessionOf(owner)
    expect((await later.open(PAGE)).text).not.toContain('late@example.com')
  })

  test.each([
    ['email', { email: 'no address', role: 'viewer' }],
    ['email', { email: '', role: 'viewer' }],
    ['email', { email: `${'x'.repeat(255)}@example.com`, role: 'viewer' }],
    ['role', { email: 'bo@example.com', role: 'king' }],
    ['role', { email: 'bo@example.com' }],
  ])('is refused with an error beside %s', async (name, fields: Record<string, string>) => {
    const { owner, invitations } = await team()
    const { status, wrong, html } = await owner.send(`${PAGE}/invite`, fields)
    expect([status, wrong]).toEqual([422, [name]])
    expect(html).toContain(`type="email" value${fields.email && `="${fields.email}"`} required`)
    expect(invitations()).toEqual([])
  })

  test('is not for members', async () => {
    const { viewer, invite } = await team()
    const { status, text } = await invite(viewer.email, 'owner')
    expect([status, text]).toEqual([422, expect.stringContaining('Is already on the team.')])
  })

  test('is one of at most 100 pending invitations', async () => {
    const { owner, invite, invitations } = await team()
    for (let n = 0; n < 100; n++) expect((await invite(`guest-${n}@example.com`)).status).toBe(200)
    const refused = await invite('guest-100@example.com')
    expect([refused.status, refused.wrong]).toEqual([422, ['email']])
    expect((await invite('guest-99@example.com')).status).toBe(200)
    await owner.send(`${PAGE}/invitations/${invitations()[0]?.id}/revoke`)
    expect((await invite('guest-100@example.com')).status).toBe(200)
    expect(invitations()).toHaveLength(100)
  })
})

describe('Emails with invitations', () => {
  const mailsTo = (start: string, { db } = mailing): number =>
    db.client
      .query("SELECT id FROM mails WHERE kind = 'invitation' AND recipient LIKE ?")
      .all(`${start}%`).length

  test('are not repeated at once, but without email the link is shown again', async () => {
    const { invite, invitations } = await team()
    await invite('twice@example.com')
    const again = await invite('twice@example.com')
    expect(linkIn(again.html)).not.toBe('')
    expect([mailsTo('twice', app), invitations().length]).toEqual([1, 1])
  })

  test('are the only way to the link where email is configured', async () => {
    const { invite } = await team(mailing)
    const { text, html } = await invite('mailed@example.com')
    expect(text).toContain('was emailed to that address only')
    expect(linkIn(html)).toBe('')
  })

  test('are limited for one address, not for other tenants', async () => {
    const [eve, ada] = [await team(mailing), await team(mailing)]
    for (let n = 0; n < 11; n++) {
      await eve.invite('often@example.com')
      mailing.clock.spend(MINUTE)
    }
    expect(mailsTo('often')).toBe(5)
    const { status, wrong } = await eve.invite('often@example.com')
    expect([status, wrong]).toEqual([422, ['email']])
    expect((await ada.invite('often@example.com')).status).toBe(200)
    expect(mailsTo('often')).toBe(6)
    mailing.clock.spend(12 * MINUTE)
    expect((await eve.invite('often@example.com')).status).toBe(200)
  })

  test('are limited to 100 an hour for a tenant, also if they are revoked', async () => {
    const [eve, ada] = [await team(mailing), await team(mailing)]
    for (let n = 0; n < 100; n++) await eve.invite(`guest-${n}@example.com`)
    for (const { id } of eve.invitations()) await eve.owner.send(`${PAGE}/invitations/${id}/revoke`)
    const { status, text } = await eve.invite('guest-more@example.com')
    expect([status, text]).toEqual([422, expect.stringContaining('100 invitations within an hour')])
    expect(mailsTo('guest-')).toBe(100)
    expect((await ada.invite('guest-more@example.com')).status).toBe(200)
    mailing.clock.spend(MINUTE)
    expect((await eve.invite('guest-later@example.com')).status).toBe(200)
  })
})

describe('A member', () => {
  test('gets a new role, which counts immediately', async () => {
    const { owner, viewer, roles } = await team()
    const path = `${PAGE}/${viewer.id}`
    expect((await owner.send(path, { role: 'king' })).status).toBe(422)
    const changed = await owner.send(path, { role: 'owner' })
    expect([changed.status, changed.location]).toEqual([303, `${path}?done=changed`])
    expect((await viewer.open(`${PAGE}/invite`)).status).toBe(200)
    expect(roles()).toContainEqual([viewer.id, 'owner'])
    expect(owner.audited('member.changed')).toEqual([`operator:${viewer.id}`])
  })

  test('is removed, or leaves', async () => {
    const { owner, member, viewer, roles } = await team()
    const { location } = await owner.send(`${PAGE}/${member.id}/remove`)
    expect(location).toBe(`${PAGE}?done=removed`)
    expect((await member.open(PAGE)).status).toBe(403)
    expect(owner.audited('member.removed')).toEqual([`operator:${member.id}`])
    expect((await viewer.send(`${PAGE}/leave`)).location).toBe('/console/account?done=left')
    expect(viewer.audited('member.removed')).toHaveLength(1)
    expect(roles()).toEqual([[owner.id, 'owner']])
  })

  test('who is the last active owner stays one', async () => {
    const { tenantId, owner, as, roles } = await team()
    const asleep = await app.signIn({ roles: { [tenantId]: 'owner' } })
    await asleep.deactivate()
    const path = `${PAGE}/${owner.id}`
    expect((await owner.send(`${PAGE}/leave`)).status).toBe(409)
    expect((await owner.send(`${path}/remove`)).status).toBe(409)
    const refused = await owner.send(path, { role: 'viewer' })
    expect([refused.status, refused.wrong]).toEqual([422, ['role']])
    expect((await owner.send(`${PAGE}/${asleep.id}`, { role: 'viewer' })).status).toBe(303)
    expect(roles()).toContainEqual([owner.id, 'owner'])
    await as('owner')
    expect((await owner.send(path, { role: 'viewer' })).status).toBe(303)
    expect(roles()).toContainEqual([owner.id, 'viewer'])
  })

  test('who leaves or loses the owner role loses their invitations', async () => {
    const { owner, as, invite, invitations } = await team()
    const [gone, demoted] = [await as('owner'), await as('owner')]
    await invite('a@example.com', 'owner', gone)
    await invite('b@example.com', 'owner', demoted)
    await invite('c@example.com', 'owner')
    await owner.send(`${PAGE}/${gone.id}/remove`)
    await owner.send(`${PAGE}/${demoted.id}`, { role: 'viewer' })
    expect(invitations()).toMatchObject([{ email: 'c@example.com' }])
  })

  test('of another tenant is unknown', async () => {
    const [{ owner }, other] = [await team(), await team()]
    for (const id of [other.viewer.id, UNKNOWN_ID, 'x', '<script>'])
      for (const path of [`/${id}`, `/${id}/remove`])
        expect((await owner.send(PAGE + path, { role: 'viewer' })).status).toBe(404)
    expect((await owner.open(`${PAGE}/${other.viewer.id}`)).status).toBe(404)
    expect(other.roles()).toHaveLength(3)
  })
})
