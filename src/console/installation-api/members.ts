import { Elysia, t } from 'elysia'
import { Empty } from '../../http/responses.ts'
import type { Actor } from '../../platform/audit/index.ts'
import { isoTime } from '../../platform/clock.ts'
import { fail, notFound } from '../../platform/errors.ts'
import type { MemberRow } from '../operators/memberships.ts'
import type { Role } from '../operators/rights.ts'
import { Member, MemberRole } from './model.ts'
import {
  badBody,
  Conflict,
  type InstallationApiParts,
  reads,
  refused,
  Unknown,
  writes,
} from './parts.ts'

/** The members of a tenant and their roles. */
export function memberRoutes({ tenants, operators, access }: InstallationApiParts) {
  const { memberships, admins, provisioning } = operators

  const list = (tenantId: string) => memberships.list(tenants.find(tenantId).id).map(present)

  async function put(actor: Actor, tenantId: string, operatorId: string, role: Role) {
    const { id } = tenants.find(tenantId)
    const operator = admins.existing(operatorId)
    await provisioning.grant(actor, operator, { membership: { tenantId: id, role } })
    return (
      list(id).find((one) => one.operator_id === operatorId) ?? fail(notFound('member not found'))
    )
  }

  return new Elysia({ prefix: '/tenants/:tenant_id/members' })
    .use(access)
    .get('', ({ params }) => ({ data: list(params.tenant_id) }), {
      scope: reads,
      detail: { summary: 'List the members of a tenant', description: 'In the order of joining.' },
      response: { 200: t.Object({ data: t.Array(Member) }), ...refused, 404: Unknown },
    })
    .put(
      '/:operator_id',
      ({ caller, params, body }) =>
        put(caller.actor, params.tenant_id, params.operator_id, body.role),
      {
        scope: writes,
        detail: {
          summary: 'Give an operator a role in a tenant',
          description:
            'Adds or changes the member. An account with an unverified address that gets more rights loses its credentials and sessions. The last owner keeps their role.',
        },
        body: MemberRole,
        response: { 200: Member, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .delete(
      '/:operator_id',
      async ({ caller, params, status }) => {
        await memberships.remove(
          caller.actor,
          tenants.find(params.tenant_id).id,
          params.operator_id,
        )
        return status(204, undefined)
      },
      {
        scope: writes,
        detail: {
          summary: 'Remove a member of a tenant',
          description: 'The account of the operator remains. The last owner stays.',
        },
        response: { 204: Empty, ...refused, 404: Unknown, 409: Conflict },
      },
    )
}

const present = ({ id, email, isVerified, role, createdAt }: MemberRow) => ({
  operator_id: id,
  email,
  email_verified: isVerified,
  role,
  created_at: isoTime(createdAt),
})
