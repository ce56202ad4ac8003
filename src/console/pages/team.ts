import { Elysia } from 'elysia'
import type { FormError } from '../../../views/console/form/error-summary.tsx'
import { TeamPage } from '../../../views/console/pages/team.tsx'
import { InvitedPage, InvitePage } from '../../../views/console/pages/team-invite.tsx'
import { MemberPage } from '../../../views/console/pages/team-member.tsx'
import { nameOf } from '../../../views/console/pages/team-words.tsx'
import { shorten } from '../../../views/console/text.tsx'
import type { Fields } from '../../http/body.ts'
import type { Clock } from '../../platform/clock.ts'
import { fail, invalid, notFound } from '../../platform/errors.ts'
import { flashOf } from '../flash.ts'
import { submitted, typed } from '../form.ts'
import { crumbTo, type Frames } from '../frame.ts'
import type { ConsoleKit, TenantVisit } from '../kit.ts'
import type { Operators } from '../operators/index.ts'
import { may, ROLES, type Role } from '../operators/rights.ts'
import type { MemberRow } from '../operators/store/memberships.ts'

type Visit = TenantVisit & { request: Request }

/** Team of a tenant: visible to all members, managed by owners. */
export function teamPages(parts: {
  kit: ConsoleKit
  frames: Frames
  operators: Operators
  clock: Clock
}) {
  const { kit, frames, clock } = parts
  const { memberships, invitations } = parts.operators

  function list(
    { request, visitor, tenant }: Visit,
    { role, done }: Record<string, string | undefined>,
  ): Response {
    const children = TeamPage({
      base: frames.base(),
      tenantName: tenant.name,
      members: memberships.list(tenant.tenantId),
      invitations: invitations.list(tenant.tenantId),
      role: ROLES.find((one) => one === role),
      visitorId: visitor.id,
      mayDecide: may(tenant.role, 'team'),
      now: clock.now(),
    })
    const flash = flashOf(FLASHES, done)
    return frames.page({ request, visitor, title: 'Team', active: 'team', flash, children })
  }

  function form(
    { request, visitor }: Visit,
    of: { typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    return frames.page({
      request,
      visitor,
      title: 'Invite a member',
      active: 'team',
      above: [crumbTo(frames.base(), 'team')],
      status: of.errors ? 422 : 200,
      children: InvitePage({ base: frames.base(), ...of }),
    })
  }

  async function invite(visit: Visit, body: Fields): Promise<Response> {
    const { request, visitor, tenant, actor } = visit
    const inviter = { actor, id: visitor.id, name: visitor.displayName || visitor.email }
    const { value, errors } = await submitted(
      async () => {
        const wanted = { email: typed(body, 'email'), role: roleIn(body) }
        return invitations.invite(inviter, tenant.tenantId, wanted)
      },
      { email: 'email', role: 'role' },
    )
    if (!value) return form(visit, { typed: body, errors })
    // Shown in the response to the form, because the link is not stored.
    return frames.page({
      request,
      visitor,
      title: 'Invitation',
      active: 'team',
      above: [crumbTo(frames.base(), 'team')],
      children: InvitedPage({ base: frames.base(), invitation: value, now: clock.now() }),
    })
  }

  async function revoke({ actor, tenant }: Visit, id: string): Promise<Response> {
    await invitations.revoke(actor, tenant.tenantId, id)
    return frames.go('/console/team?done=revoked')
  }

  const existing = ({ tenant }: Visit, id: string): MemberRow =>
    memberships.list(tenant.tenantId).find((member) => member.id === id) ??
    fail(notFound('member not found'))

  function show(
    visit: Visit,
    id: string,
    of: { done?: string | undefined; typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    const { request, visitor, tenant } = visit
    const member = existing(visit, id)
    const owners = memberships.list(tenant.tenantId).filter(({ role }) => role === 'owner')
    const children = MemberPage({
      base: frames.base(),
      tenantName: tenant.name,
      member,
      isVisitor: visitor.id === id,
      isLastOwner: member.role === 'owner' && owners.length === 1,
      mayDecide: may(tenant.role, 'team'),
      now: clock.now(),
      typed: of.typed,
      errors: of.errors,
    })
    return frames.page({
      request,
      visitor,
      title: shorten(nameOf(member), 60),
      active: 'team',
      above: [crumbTo(frames.base(), 'team')],
      flash: flashOf(FLASHES, of.done),
      status: of.errors ? 422 : 200,
      children,
    })
  }

  async function change(visit: Visit, id: string, body: Fields): Promise<Response> {
    const { actor, tenant } = visit
    const email = typed(body, 'email') || existing(visit, id).email
    const { errors } = await submitted(
      async () => memberships.change(actor, tenant.tenantId, { id, email }, roleIn(body)),
      { role: 'role' },
    )
    if (!errors) return frames.go(`/console/team/${id}?done=changed`)
    const ofField = errors.map(({ message }) => ({ name: 'role', message }))
    return show(visit, id, { typed: body, errors: ofField })
  }

  async function remove(visit: Visit, id: string): Promise<Response> {
    const { actor, visitor, tenant } = visit
    await memberships.remove(actor, tenant.tenantId, id)
    // Operators who left can't open the team page any more.
    return frames.go(
      id === visitor.id ? '/console/account?done=left' : '/console/team?done=removed',
    )
  }

  return new Elysia({ name: 'team pages', prefix: '/console/team', detail: { hide: true } })
    .use(kit)
    .get('', ({ query, ...visit }) => list(visit, query), { right: 'read' })
    .get('/invite', (visit) => form(visit), { right: 'team' })
    .post('/invite', ({ body, ...visit }) => invite(visit, body as Fields), { right: 'team' })
    .post('/invitations/:id/revoke', ({ params, ...visit }) => revoke(visit, params.id), {
      right: 'team',
    })
    .post('/leave', (visit) => remove(visit, visit.visitor.id), { right: 'read' })
    .get('/:id', ({ params, query, ...visit }) => show(visit, params.id, { done: query.done }), {
      right: 'read',
    })
    .post('/:id', ({ params, body, ...visit }) => change(visit, params.id, body as Fields), {
      right: 'team',
    })
    .post('/:id/remove', ({ params, ...visit }) => remove(visit, params.id), { right: 'team' })
}

const roleIn = (body: Fields): Role =>
  ROLES.find((one) => one === typed(body, 'role')) ??
  fail(invalid(`must be one of ${ROLES.join(', ')}`, { field: 'role', rule: 'choice' }))

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  changed: { tone: 'good', text: 'Role changed.' },
  removed: { tone: 'good', text: 'Member removed.' },
  revoked: { tone: 'good', text: 'Invitation revoked.' },
}
