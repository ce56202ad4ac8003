import { DecisionPage } from '../../../../../views/console/pages/gate/policies/decision.tsx'
import { DecisionsPage } from '../../../../../views/console/pages/gate/policies/decisions.tsx'
import type { Decision } from '../../../../engines/gate/authorization/model.ts'
import type { Page } from '../../../../platform/cursor.ts'
import { submitted } from '../../../form.ts'
import { crumbTo } from '../../../layout.ts'
import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'

const ON_A_PAGE = 50

/** Authorization decisions. */
export function decisionPages({ layout, gate, clock, baseUrl }: GateParts) {
  const { decisions, identities, policies } = gate

  async function list({ request, operator, caller, query }: Context): Promise<Response> {
    const subject = query.subject?.trim() ?? ''
    const cursor = query.cursor || undefined
    const of = { limit: ON_A_PAGE, cursor, ...(subject !== '' && { subject }) }
    const { value: found, errors } = await submitted(async () => decisions.list(caller, of))
    return layout.page({
      request,
      operator,
      title: 'Decisions',
      active: 'policies',
      above: [crumbTo(layout.base(), 'policies')],
      status: errors ? 422 : 200,
      children: DecisionsPage({
        base: layout.base(),
        apiUrl: baseUrl(),
        now: clock.now(),
        found: found ?? NOTHING,
        subject,
        position: { cursor, trail: query.trail },
        ...(errors && { errors }),
      }),
    })
  }

  function show({ request, operator, caller, params }: Context): Response {
    const decision = decisions.get(caller, params.id)
    const { is_starter_set: isStarterSet, version } = policies.get(caller)
    const base = layout.base()
    return layout.page({
      request,
      operator,
      title: decision.action,
      active: 'policies',
      above: [
        crumbTo(base, 'policies'),
        { label: 'Decisions', href: `${base}/console/policies/decisions` },
      ],
      children: DecisionPage({
        base,
        now: clock.now(),
        decision,
        subject: identities.find(caller, decision.subject),
        version: isStarterSet ? 0 : version,
      }),
    })
  }

  return { list, show }
}

const NOTHING: Page<Decision> = { data: [], has_more: false, next_cursor: null }
