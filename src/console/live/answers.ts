import { invalid } from '../../platform/errors.ts'
import type { TenantContext } from '../middleware.ts'
import type { CurrentOperator } from '../operators/current-operator.ts'
import type { Live } from './index.ts'
import type { Render } from './part.ts'

export type LiveAnswers = ReturnType<typeof createLiveAnswers>

/** Opens live updates of a page, which end when the operator signs out, loses access or changes role. */
export const createLiveAnswers =
  ({ live, currentOperator }: { live: Live; currentOperator: CurrentOperator }) =>
  (
    { request, operator, tenant }: TenantContext & { request: Request },
    of: { name: string; render: Render },
  ): Response => {
    if (!request.headers.get('accept')?.includes('text/event-stream'))
      throw invalid('must be text/event-stream', { field: 'Accept', rule: 'format' })
    const { sessionId, id: operatorId } = operator
    const { tenantId, role } = tenant

    function mayRead(): boolean {
      const memberships = currentOperator.ifAny(request)?.memberships ?? []
      return memberships.some((one) => one.tenantId === tenantId && one.role === role)
    }

    // The last event ID is newer than the ID in the address, which is from when the page was opened.
    const shownId =
      request.headers.get('last-event-id') ?? new URL(request.url).searchParams.get('shown') ?? ''
    return live.open({ ...of, sessionId, operatorId, tenantId, mayRead, shownId })
  }
