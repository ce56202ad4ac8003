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
import { submitted, trimmedText } from '../form.ts'
import { crumbTo, type Layout } from '../layout.ts'
import type { ConsoleMiddleware, TenantContext } from '../middleware.ts'
import type { Operators } from '../operators/index.ts'
import { may, ROLES, type Role } from '../operators/rights.ts'
import type { MemberRow } from '../operators/store/memberships.ts'

type Context = TenantContext & { request: Request }

/** Team of a tenant: visible to all members, managed by owners. */
export function teamPages(parts: {
  middleware: ConsoleMiddleware
  layout: Layout
  operators: Operators
  clock: Clock
}) {
  const { middleware, layout, clock } = parts
  const { memberships, invitations } = parts.operators

  function list(
    { request, operator, tenant }: Context,
    { role, done }: Record<string, string | undefined>,
  ): Response {
    const children = TeamPage({
      base: layout.base(),
      tenantName: tenant.name,
      members: memberships.list(tenant.tenantId),
      invitations: invitations.list(tenant.tenantId),
      role: ROLES.find((one) => one === role),
      operatorId: operator.id,
      mayDecide: may(tenant.role, 'team'),
      now: clock.now(),
    })
    const flash = flashOf(FLASHES, done)
    return layout.page({ request, operator, title: 'Team', active: 'team', flash, children })
  }

  function form(
    { request, operator }: Context,
    of: { values?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    return layout.page({
      request,
      operator,
      title: 'Invite a member',
      active: 'team',
      above: [crumbTo(layout.base(), 'team')],
      status: of.errors ? 422 : 200,
      children: InvitePage({ base: layout.base(), ...of }),
    })
  }

  async function invite(context: Context, body: Fields): Promise<Response> {
    const { request, operator, tenant, actor } = context
    const inviter = { actor, id: operator.id, name: operator.displayName || operator.email }
    const { value, errors } = await submitted(
      async () => {
        const wanted = { email: trimmedText(body, 'email'), role: roleIn(body) }
        return invitations.invite(inviter, tenant.tenantId, wanted)
      },
      { email: 'email', role: 'role' },
    )
    if (!value) return form(context, { values: body, errors })
    // Shown in the response to the form, because the link is not stored.
    return layout.page({
      request,
      operator,
      title: 'Invitation',
      active: 'team',
      above: [crumbTo(layout.base(), 'team')],
      children: InvitedPage({ base: layout.base(), invitation: value, now: clock.now() }),
    })
  }

  async function revoke({ actor, tenant }: Context, id: string): Promise<Response> {
    await invitations.revoke(actor, tenant.tenantId, id)
    return layout.go('/console/team?done=revoked')
  }

  const existing = ({ tenant }: Context, id: string): MemberRow =>
    memberships.list(tenant.tenantId).find((member) => member.id === id) ??
    fail(notFound('member not found'))

  function show(
    context: Context,
    id: string,
    of: { done?: string | undefined; values?: Fields; errors?: readonly FormError[] } = {},
  ): Response {
    const { request, operator, tenant } = context
    const member = existing(context, id)
    const owners = memberships.list(tenant.tenantId).filter(({ role }) => role === 'owner')
    const children = MemberPage({
      base: layout.base(),
      tenantName: tenant.name,
      member,
      isYou: operator.id === id,
      isLastOwner: member.role === 'owner' && owners.length === 1,
      mayDecide: may(tenant.role, 'team'),
      now: clock.now(),
      values: of.values,
      errors: of.errors,
    })
    return layout.page({
      request,
      operator,
      title: shorten(nameOf(member), 60),
      active: 'team',
      above: [crumbTo(layout.base(), 'team')],
      flash: flashOf(FLASHES, of.done),
      status: of.errors ? 422 : 200,
      children,
    })
  }

  async function change(context: Context, id: string, body: Fields): Promise<Response> {
    const { actor, tenant } = context
    const email = trimmedText(body, 'email') || existing(context, id).email
    const { errors } = await submitted(
      async () => memberships.change(actor, tenant.tenantId, { id, email }, roleIn(body)),
      { role: 'role' },
    )
    if (!errors) return layout.go(`/console/team/${id}?done=changed`)
    const ofField = errors.map(({ message }) => ({ name: 'role', message }))
    return show(context, id, { values: body, errors: ofField })
  }

  async function remove(context: Context, id: string): Promise<Response> {
    const { actor, operator, tenant } = context
    await memberships.remove(actor, tenant.tenantId, id)
    // Operators who left can't open the team page any more.
    return layout.go(
      id === operator.id ? '/console/account?done=left' : '/console/team?done=removed',
    )
  }

  return new Elysia({ name: 'team pages', prefix: '/console/team', detail: { hide: true } })
    .use(middleware)
    .get('', ({ query, ...context }) => list(context, query), { right: 'read' })
    .get('/invite', (context) => form(context), { right: 'team' })
    .post('/invite', ({ body, ...context }) => invite(context, body as Fields), { right: 'team' })
    .post('/invitations/:id/revoke', ({ params, ...context }) => revoke(context, params.id), {
      right: 'team',
    })
    .post('/leave', (context) => remove(context, context.operator.id), { right: 'read' })
    .get(
      '/:id',
      ({ params, query, ...context }) => show(context, params.id, { done: query.done }),
      { right: 'read' },
    )
    .post('/:id', ({ params, body, ...context }) => change(context, params.id, body as Fields), {
      right: 'team',
    })
    .post('/:id/remove', ({ params, ...context }) => remove(context, params.id), { right: 'team' })
}

const roleIn = (body: Fields): Role =>
  ROLES.find((one) => one === trimmedText(body, 'role')) ??
  fail(invalid(`must be one of ${ROLES.join(', ')}`, { field: 'role', rule: 'choice' }))

const FLASHES: Readonly<Record<string, { tone: 'good'; text: string }>> = {
  changed: { tone: 'good', text: 'Role changed.' },
  removed: { tone: 'good', text: 'Member removed.' },
  revoked: { tone: 'good', text: 'Invitation revoked.' },
}
