import type { Operator } from '../../engines/gate/operators/list.ts'
import { isoTime } from '../../platform/clock.ts'
import type { OperatorStore } from './store/index.ts'

export type PresentedOperator = ReturnType<typeof presented>

/** An operator with their access, in the form that the command line and the API show. */
export function presented(
  store: Pick<OperatorStore, 'isAdmin' | 'membershipsOf'>,
  { id, email, name, isVerified, state, createdAt }: Operator,
) {
  return {
    id,
    email,
    email_verified: isVerified,
    name: name === '' ? null : name,
    state,
    admin: store.isAdmin(id),
    tenants: store
      .membershipsOf(id)
      .map(({ tenantId, tenantName, role }) => ({ id: tenantId, name: tenantName, role })),
    created_at: isoTime(createdAt),
  }
}
