import type {
  Evaluation,
  EvaluationResult,
} from '../../../../../views/console/pages/gate/policies/try-it.tsx'
import {
  isJsonObject,
  type JsonObject,
} from '../../../../engines/gate/identities/documents/json.ts'
import { parseJson } from '../../../../http/body.ts'
import { AppError, invalid, renamed } from '../../../../platform/errors.ts'
import { submitted } from '../../../form.ts'
import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'

const FIELDS = { subject: 'subject', action: 'action', resource: 'resource', context: 'context' }

/** Evaluates the request in the query string, if it is complete. */
export const createEvaluate = ({ gate }: GateParts) => {
  const { authorization, identities, policies } = gate

  function resultOf(
    { caller }: Context,
    { context, ...words }: Evaluation['values'],
  ): EvaluationResult {
    const question = { ...words, context: contextIn(context) }
    const decided = authorization.preview(caller, question)
    return {
      decided,
      question,
      policies: policies.named(caller, decided.policies),
      subject: identities.find(caller, question.subject),
    }
  }

  return async (page: Context): Promise<Evaluation> => {
    const { subject, action = '', resource = '', context = '' } = page.query
    const values = {
      subject: subject?.trim() ?? '',
      action: action.trim(),
      resource: resource.trim(),
      context,
    }
    if (subject === undefined) return { values }
    const { value: result, errors } = await submitted(async () => resultOf(page, values), FIELDS)
    return { values, ...(errors ? { errors } : { result }) }
  }
}

function contextIn(text: string): JsonObject {
  try {
    const value = parseJson(text.trim()) ?? {}
    if (isJsonObject(value)) return value
  } catch (error) {
    throw error instanceof AppError ? renamed(error, () => 'context') : error
  }
  throw invalid('must be a JSON object', { field: 'context', rule: 'type' })
}
