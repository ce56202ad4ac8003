import { expect, test } from 'bun:test'
import { addressOf } from '../support/address.ts'
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

const PAGE = '/team'

const app = await useConsole()
const mailing = await useConsole({ env: WITH_MAIL })

async function team(at: Console = app) {
  const { id: tenantId, as, owner } = await at.newTenant()
  const roles = () => at.operators.memberships.list(tenantId).map(({ id, role }) => [id, role])
  const invitations = () => at.operators.invitations.list(tenantId)
  const invite = (email: string, role = 'viewer', by: SignedIn = owner) =>
    by.send(`${PAGE}/invite`, { email, role })
  /** Invites guests with the service, as quickly as it goes. */
  const inviteMany = async (count: number) => {
    const inviter = { actor: { kind: 'operator', id: owner.id }, id: owner.id, name: 'A' } as const
    for (let n = 0; n < count; n++) {
      const wanted = { email: `guest-${n}@example.com`, role: 'viewer' } as const
      await at.operators.invitations.invite(inviter, tenantId, wanted)
    }
  }
  const people = { owner, member: await as('member'), viewer: await as('viewer') }
  return { tenantId, as, ...people, roles, invitations, invite, inviteMany }
}

const linkIn = (html: string) => /\/console\/invitation\/[\w-]+/.exec(html)?.[0] ?? ''
const mailsTo = (start: string, { db } = mailing): number =>
  db.client
    .query("SELECT id FROM mails WHERE kind = 'invitation' AND recipient LIKE ?")
    .all(`${start}%`).length

test('The list has the members with their roles, filters by role, and has actions for owners', async () => {
  const { owner, viewer, as } = await team()
  const seen = await viewer.sees(PAGE, '3 members in ', '(only owner)', 'No pending invitations')
  expect(seen.links).toContain(`${PAGE}/${owner.id}`)
  expect(seen.text.split('(you)')).toHaveLength(2)
  expect((await owner.open(`${PAGE}?role=viewer`)).rows).toEqual([viewer.id])
  expect((await owner.open(`${PAGE}?role=other`)).rows).toHaveLength(3)
  ;(await owner.sees(PAGE, 'Add another owner before you leave')).omits('Leave team')
  await as('owner')
  await owner.sees(PAGE, 'A team needs at least one owner.', 'Leave team')
})

test('An invitation is shown as a link once, listed for seven days, and revoked', async () => {
  const { owner, invitations, invite } = await team()
  const other = await team()
  const page = (await invite('Bo@Example.com', 'member')).says('so send the link yourself')
  const link = linkIn(page.html)
  const [invitation] = invitations()
  expect(invitation).toMatchObject({ email: 'bo@example.com', role: 'member' })
  expect(owner.audited('invitation.created')).toEqual([`invitation:${invitation?.id}`])
  const list = (await owner.open(PAGE)).omits(link)
  expect(list.text).toMatch(/bo@example\.com.*2026-03-\d\d \d\d:\d\d UTC/)
  const opened = async () => (await pagesOf(app).open(link)).status
  expect(await opened()).toBe(200)
  const revoke = `${PAGE}/invitations/${invitation?.id}/revoke`
  expect((await other.owner.send(revoke)).status).toBe(404)
  expect(invitations()).toHaveLength(1)
  expect((await owner.send(revoke)).location).toEndWith('?done=team-invitations-revoke')
  expect([await opened(), (await owner.send(revoke)).status]).toEqual([404, 404])
  expect(owner.audited('invitation.revoked')).toEqual([`invitation:${invitation?.id}`])
  await invite('late@example.com')
  app.clock.jump(7 * DAY)
  ;(await (await app.sessionOf(owner)).open(PAGE)).omits('late@example.com')
})

test('Members are not invited; at most 100 invitations are pending, each shown again', async () => {
  const { owner, viewer, invite, inviteMany, invitations } = await team()
  expect((await invite(viewer.email, 'owner')).says('Is already on the team.').status).toBe(422)
  await inviteMany(100)
  const refused = await invite('guest-100@example.com')
  expect([refused.status, refused.wrong]).toEqual([422, ['email']])
  expect(linkIn((await invite('guest-99@example.com')).html)).not.toBe('')
  expect(mailsTo('guest-99', app)).toBe(1)
  await owner.send(`${PAGE}/invitations/${invitations()[0]?.id}/revoke`)
  expect((await invite('guest-100@example.com')).status).toBe(200)
  expect(invitations()).toHaveLength(100)
})

test('Emails are the only way to the link where configured, and limited for one address', async () => {
  const [eve, ada] = [await team(mailing), await team(mailing)]
  const mailed = await eve.invite('often@example.com')
  expect(linkIn(mailed.says('was emailed to that address only').html)).toBe('')
  for (let n = 0; n < 10; n++) {
    mailing.clock.spend(MINUTE)
    await eve.invite('often@example.com')
  }
  expect(mailsTo('often')).toBe(5)
  mailing.clock.spend(MINUTE)
  const { status, wrong } = await eve.invite('often@example.com')
  expect([status, wrong]).toEqual([422, ['email']])
  expect((await ada.invite('often@example.com')).status).toBe(200)
  expect(mailsTo('often')).toBe(6)
  mailing.clock.spend(12 * MINUTE)
  expect((await eve.invite('often@example.com')).status).toBe(200)
})

test('Emails are limited to 100 an hour for a tenant, also if they are revoked', async () => {
  const [eve, ada] = [await team(mailing), await team(mailing)]
  await eve.inviteMany(100)
  await eve.owner.send(`${PAGE}/invitations/${eve.invitations()[0]?.id}/revoke`)
  const refused = await eve.invite('guest-more@example.com')
  expect(refused.says('100 invitations within an hour').status).toBe(422)
  expect(mailsTo('guest-')).toBe(100)
  expect((await ada.invite('guest-more@example.com')).status).toBe(200)
  mailing.clock.spend(MINUTE)
  expect((await eve.invite('guest-later@example.com')).status).toBe(200)
})

test('A member gets a new role, which counts immediately, is removed, or leaves', async () => {
  const { tenantId, owner, member, viewer, roles } = await team()
  const path = `${PAGE}/${viewer.id}`
  expect((await owner.send(path, { role: 'king' })).status).toBe(422)
  await owner.press(path, 'Change role', { role: 'owner' })
  expect((await viewer.open(`${PAGE}/invite`)).status).toBe(200)
  expect(roles()).toContainEqual([viewer.id, 'owner'])
  expect(owner.audited('member.changed')).toEqual([`operator:${viewer.id}`])
  await owner.press(`${PAGE}/${member.id}`, 'Remove member')
  expect((await member.open(addressOf(tenantId, PAGE))).status).toBe(404)
  expect(owner.audited('member.removed')).toEqual([`operator:${member.id}`])
  expect((await viewer.send(`${PAGE}/leave`)).location).toEndWith('/account?done=account.left')
  expect(viewer.audited('member.removed')).toHaveLength(1)
  const other = await app.signIn({ roles: { [tenantId]: 'owner' } })
  const self = await other.send(`${PAGE}/${other.id}/remove`)
  expect(self.location).toEndWith('/account?done=account.left')
  expect(roles()).toEqual([[owner.id, 'owner']])
})

test('The last active owner stays one', async () => {
  const { tenantId, owner, as, roles } = await team()
  const asleep = await app.signIn({ roles: { [tenantId]: 'owner' } })
  await asleep.deactivate()
  const path = `${PAGE}/${owner.id}`
  for (const way of [`${PAGE}/leave`, `${path}/remove`])
    expect([way, (await owner.send(way)).status]).toEqual([way, 409])
  const refused = await owner.send(path, { role: 'viewer' })
  expect([refused.status, refused.wrong]).toEqual([422, ['role']])
  expect((await owner.send(`${PAGE}/${asleep.id}`, { role: 'viewer' })).status).toBe(303)
  expect(roles()).toContainEqual([owner.id, 'owner'])
  await as('owner')
  expect((await owner.send(path, { role: 'viewer' })).status).toBe(303)
  expect(roles()).toContainEqual([owner.id, 'viewer'])
})

test('Who leaves or loses the owner role loses their invitations', async () => {
  const { owner, as, invite, invitations } = await team()
  const [gone, demoted] = [await as('owner'), await as('owner')]
  await invite('a@example.com', 'owner', gone)
  await invite('b@example.com', 'owner', demoted)
  await invite('c@example.com', 'owner')
  await owner.send(`${PAGE}/${gone.id}/remove`)
  await owner.send(`${PAGE}/${demoted.id}`, { role: 'viewer' })
  expect(invitations()).toMatchObject([{ email: 'c@example.com' }])
})

test('A member of another tenant is unknown', async () => {
  const [{ owner }, other] = [await team(), await team()]
  for (const id of [other.viewer.id, UNKNOWN_ID, 'x', '<script>'])
    for (const path of [`/${id}`, `/${id}/remove`])
      expect((await owner.send(PAGE + path, { role: 'viewer' })).status).toBe(404)
  expect((await owner.open(`${PAGE}/${other.viewer.id}`)).status).toBe(404)
  expect(other.roles()).toHaveLength(3)
})
