import { rawText } from '../../../../../views/console/form/values.ts'
import type { Problem } from '../../../../../views/console/pages/gate/policies/editor.tsx'
import { PoliciesPage } from '../../../../../views/console/pages/gate/policies/page.tsx'
import { STARTER_SET } from '../../../../engines/gate/authorization/policy/starter.ts'
import { AppError } from '../../../../platform/errors.ts'
import { trimmedText } from '../../../form.ts'
import type { Context } from '../context.ts'
import { flash, type GateParts } from '../parts.ts'
import { createEvaluate } from './evaluate.ts'
import { OVERTAKEN, problemsIn } from './problems.ts'

/** Number of changes in the history. */
const SAVED = 5

/** Editor and trial of the current policies. */
export function policyPage(parts: GateParts) {
  const { layout, gate, clock, audit, operators } = parts
  const { policies } = gate
  const evaluate = createEvaluate(parts)

  async function show(
    context: Context,
    of: { input?: string; problems?: readonly Problem[] } = {},
  ): Promise<Response> {
    const { request, operator, tenant, caller, mayChange, query } = context
    const { tenantId } = tenant
    const evaluation = await evaluate(context)
    return layout.page({
      request,
      operator,
      title: 'Policies',
      active: 'policies',
      flash: FLASHES.get(query.done ?? ''),
      status: of.problems || evaluation.errors ? 422 : 200,
      children: PoliciesPage({
        base: layout.base(),
        now: clock.now(),
        policies: policies.get(caller),
        starterSet: STARTER_SET,
        mayChange,
        evaluation,
        saved: hasBeenSaved(context)
          ? audit.list({ tenantId, action: 'policies.changed', limit: SAVED }).entries
          : [],
        names: new Map(operators.memberships.list(tenantId).map(({ id, email }) => [id, email])),
        ...of,
      }),
    })
  }

  /** Latest changes; skipped for tenants that never changed the policies, because the log is long. */
  const hasBeenSaved = ({ caller }: Context): boolean => policies.get(caller).version > 0

  async function save(context: Context): Promise<Response> {
    const { caller, body } = context
    const text = (rawText(body, 'policies') ?? '').replaceAll('\r\n', '\n')
    if (trimmedText(body, 'version') !== String(policies.get(caller).version))
      return show(context, { input: text, problems: [OVERTAKEN] })
    try {
      await policies.put(caller, text)
    } catch (error) {
      if (!(error instanceof AppError && error.kind === 'invalid')) throw error
      return show(context, { input: text, problems: problemsIn(error, text) })
    }
    return layout.go('/console/policies?done=saved')
  }

  async function takeStarterSet({ caller }: Context): Promise<Response> {
    await policies.put(caller, null)
    return layout.go('/console/policies?done=starter')
  }

  return { show, save, takeStarterSet }
}

const FLASHES = new Map(
  Object.entries({
    saved: flash.good('Policies saved. They apply to the next request.'),
    starter: flash.good('Starter set restored.'),
  }),
)
