import type { OperatorStore } from '../../console/operators/store/index.ts'
import type { Operator } from '../../engines/gate/house/roster.ts'
import { isoTime } from '../../platform/clock.ts'
import type { Option } from '../command.ts'

export const EMAIL: Option = {
  type: 'string',
  value: 'ADDRESS',
  help: 'Their e-mail address.',
  required: true,
}

export type Shown = ReturnType<typeof present>

/** An operator with what they run. */
export function present(
  store: Pick<OperatorStore, 'isAdmin' | 'membershipsOf'>,
  { id, email, name, state, createdAt }: Operator,
) {
  return {
    id,
    email,
    name: name === '' ? null : name,
    state,
    admin: store.isAdmin(id),
    tenants: store
      .membershipsOf(id)
      .map(({ tenantId, tenantName, role }) => ({ id: tenantId, name: tenantName, role })),
    created_at: isoTime(createdAt),
  }
}

/** `the installation, Acme (owner)`; empty for who runs nothing. */
export const runsOf = ({ admin, tenants }: Shown): string =>
  [
    ...(admin ? ['the installation'] : []),
    ...tenants.map(({ name, role }) => `${name} (${role})`),
  ].join(', ')
