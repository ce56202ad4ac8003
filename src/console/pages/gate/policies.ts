import { Elysia } from 'elysia'
import type { FormError } from '../../../../views/console/form/error-summary.tsx'
import { PoliciesPage, type Problem } from '../../../../views/console/pages/gate/policies.tsx'
import type { Gate } from '../../../engines/gate/index.ts'
import type { Question } from '../../../engines/gate/model/authorization.ts'
import { STARTER_SET } from '../../../engines/gate/policy/starter.ts'
import type { Clock } from '../../../platform/clock.ts'
import { AppError } from '../../../platform/errors.ts'
import type { CallerOf } from '../../callers.ts'
import { asTyped, submitted, typed } from '../../form.ts'
import type { Frames } from '../../frame.ts'
import type { ConsoleKit } from '../../kit.ts'
import { type Visit, visitsOf } from './asked.ts'

/** The policies of a tenant: read, written, and what is wrong with them where it is wrong. */
export function policyPages(parts: {
  kit: ConsoleKit
  frames: Frames
  gate: Gate
  clock: Clock
  callerOf: CallerOf
}) {
  const { kit, frames, clock } = parts
  const { policies, authorization } = parts.gate
  const asked = visitsOf(parts.callerOf)

  async function show(
    { request, visitor, caller, mayChange, query }: Visit,
    of: { typed?: string; problems?: readonly Problem[] } = {},
  ): Promise<Response> {
    const question = questionIn(query)
    const { value: answer, errors } = await submitted(
      async () => ({ decided: question && authorization.preview(caller, question) }),
      { subject: 'subject', action: 'action', resource: 'resource' },
    )
    return frames.page({
      request,
      visitor,
      title: 'Policies',
      active: 'policies',
      flash: query.done === undefined ? undefined : FLASHES[query.done],
      status: of.problems || errors ? 422 : 200,
      children: PoliciesPage({
        base: frames.base(),
        now: clock.now(),
        policies: policies.get(caller),
        starterSet: STARTER_SET,
        mayChange,
        trial: { question, decided: answer?.decided, errors },
        ...of,
      }),
    })
  }

  async function save(visit: Visit): Promise<Response> {
    const { caller, body } = visit
    const text = asTyped(body, 'policies').replaceAll('\r\n', '\n')
    if (typed(body, 'version') !== String(policies.get(caller).version))
      return show(visit, { typed: text, problems: [OVERTAKEN] })
    try {
      await policies.put(caller, text)
    } catch (error) {
      if (!(error instanceof AppError && error.kind === 'invalid')) throw error
      return show(visit, { typed: text, problems: problemsIn(error.message, text) })
    }
    return frames.go('/console/policies?done=saved')
  }

  async function takeStarterSet({ caller }: Visit): Promise<Response> {
    await policies.put(caller, null)
    return frames.go('/console/policies?done=starter')
  }

  return new Elysia({ name: 'policy pages', prefix: '/console/policies', detail: { hide: true } })
    .use(kit)
    .get('', (visit) => show(asked(visit)), { right: 'read' })
    .post('', (visit) => save(asked(visit)), { right: 'change' })
    .post('/starter', (visit) => takeStarterSet(asked(visit)), { right: 'change' })
}

/** To be tried: nothing until somebody asks. */
function questionIn({ subject, action, resource }: Visit['query']): Question | undefined {
  if (subject === undefined || action === undefined || resource === undefined) return undefined
  return { subject: subject.trim(), action: action.trim(), resource: resource.trim() }
}

const OVERTAKEN: Problem = {
  message: 'The policies have changed since this form was opened; saving again replaces those.',
}

/** One of each line of the message, with the line of the text that it is about. */
const problemsIn = (message: string, text: string): Problem[] => {
  const lines = text.split('\n')
  return message.split('\n').map((one) => {
    const [, line, column, rule] = PLACED.exec(one) ?? []
    if (rule === undefined) return { message: sentence(one.replace(/^policies: /, '')) }
    const place = { line: Number(line), column: Number(column) }
    return { place, message: sentence(rule), source: lines[place.line - 1] ?? '' }
  })
}

const PLACED = /^policies: line (\d+), column (\d+): (.+)$/s

const sentence = (rule: string): FormError['message'] =>
  `${rule.charAt(0).toUpperCase()}${rule.slice(1)}.`

const good = (text: string) => ({ tone: 'good' as const, text })

const FLASHES: Readonly<Record<string, ReturnType<typeof good>>> = {
  saved: good('Saved. The next question is answered by these.'),
  starter: good('The starter set is in force again.'),
}
