import { status, t } from 'elysia'
import { StorageError } from '../../../db/errors.ts'
import { AppError } from '../../../platform/errors.ts'
import { FlowFailure } from './flows/failure.ts'
import type { Answer } from './flows/index.ts'
import type { BrowserRedirect } from './model.ts'

/** A refusal for programs: a sentence, the id of the case, and where to continue. */
export const Refusal = t.Object(
  {
    error: t.String(),
    id: t.Optional(t.String({ examples: ['self_service_flow_expired'] })),
    use_flow_id: t.Optional(t.String({ description: 'ID of a new flow for the same purpose.' })),
    expired_at: t.Optional(t.String()),
    since: t.Optional(t.Number({ description: 'Milliseconds.' })),
    redirect_browser_to: t.Optional(t.String()),
  },
  { description: 'The flow cannot continue; `id` has the reason.' },
)

/** The result of a form for programs: contract/gate, errors. */
export function answerInJson(answer: Answer, headers: Record<string, unknown>) {
  if (answer.is === 'redirect') return status(422, redirectTo(answer.url))
  if (answer.is !== 'failed') return answer.body
  if (answer.status === 422) return status(422, answer.body)
  headers['retry-after'] = retryAfter(answer.retryAfterMs)
  return status(429, answer.body)
}

/** Whole seconds, as the header requires. */
export const retryAfter = (ms = 1000): string => `${Math.ceil(ms / 1000)}`

const redirectTo = (url: string): BrowserRedirect => ({
  error: 'send the browser to the provider first',
  id: 'browser_location_change_required',
  redirect_browser_to: url,
})

/** Errors that are shown as a page. */
export type Refused = AppError | FlowFailure | StorageError

/** Converts refusals of `work` into a page; other errors are rethrown. */
export async function unlessRefused<T>(
  work: () => Promise<T>,
  refused: (refusal: Refused) => T,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (REFUSED.some((kind) => error instanceof kind)) return refused(error as Refused)
    throw error
  }
}

const REFUSED = [AppError, FlowFailure, StorageError]
