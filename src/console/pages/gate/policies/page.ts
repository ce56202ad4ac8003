import type { Problem } from '../../../../../views/console/pages/gate/policies/editor.tsx'
import { PoliciesPage } from '../../../../../views/console/pages/gate/policies/page.tsx'
import { STARTER_SET } from '../../../../engines/gate/policy/starter.ts'
import { AppError } from '../../../../platform/errors.ts'
import { asTyped, typed } from '../../../form.ts'
import type { Visit } from '../asked.ts'
import { flash, type GateParts } from '../parts.ts'
import { OVERTAKEN, problemsIn } from './problems.ts'
import { createTrials } from './trial.ts'

/** Enough to see who was at it of late. */
const SAVED = 5

/** The policies in force, to be read, written and tried. */
export function policyPage(parts: GateParts) {
  const { frames, gate, clock, audit, operators } = parts
  const { policies } = gate
  const trialOf = createTrials(parts)

  async function show(
    visit: Visit,
    of: { typed?: string; problems?: readonly Problem[] } = {},
  ): Promise<Response> {
    const { request, visitor, tenant, caller, mayChange, query } = visit
    const { tenantId } = tenant
    const trial = await trialOf(visit)
    return frames.page({
      request,
      visitor,
      title: 'Policies',
      active: 'policies',
      flash: FLASHES.get(query.done ?? ''),
      status: of.problems || trial.errors ? 422 : 200,
      children: PoliciesPage({
        base: frames.base(),
        now: clock.now(),
        policies: policies.get(caller),
        starterSet: STARTER_SET,
        mayChange,
        trial,
        saved: hasBeenSaved(visit)
          ? audit.list({ tenantId, action: 'policies.changed', limit: SAVED }).entries
          : [],
        names: new Map(operators.memberships.list(tenantId).map(({ id, email }) => [id, email])),
        ...of,
      }),
    })
  }

  /** Most tenants never do, and the log is long. */
  const hasBeenSaved = ({ caller }: Visit): boolean => policies.get(caller).version > 0

  async function save(visit: Visit): Promise<Response> {
    const { caller, body } = visit
    const text = asTyped(body, 'policies').replaceAll('\r\n', '\n')
    if (typed(body, 'version') !== String(policies.get(caller).version))
      return show(visit, { typed: text, problems: [OVERTAKEN] })
    try {
      await policies.put(caller, text)
    } catch (error) {
      if (!(error instanceof AppError && error.kind === 'invalid')) throw error
      return show(visit, { typed: text, problems: problemsIn(error, text) })
    }
    return frames.go('/console/policies?done=saved')
  }

  async function takeStarterSet({ caller }: Visit): Promise<Response> {
    await policies.put(caller, null)
    return frames.go('/console/policies?done=starter')
  }

  return { show, save, takeStarterSet }
}

const FLASHES = new Map(
  Object.entries({
    saved: flash.good('Saved. The next question is answered by these.'),
    starter: flash.good('The starter set is in force again.'),
  }),
)
