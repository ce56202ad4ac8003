import { AppError, type ErrorKind } from '../../../../platform/errors.ts'
import type { MessageId } from './ui/messages.ts'

/** A field error of a flow: `field` is the name of a node, and its message has an id. */
export interface FieldError {
  field?: string | undefined
  id: MessageId
  context?: Record<string, unknown>
}

/** A rejected form: the flow is shown again with errors. Thrown in a commit, it rolls back. */
export class FlowFailure extends Error {
  override name = 'FlowFailure'

  constructor(
    readonly fieldErrors: FieldError[],
    /** 422, or 429 if the same form may succeed later. */
    readonly status: 422 | 429 = 422,
    readonly retryAfterMs?: number,
  ) {
    super(fieldErrors.map(({ id }) => id).join(', '))
  }
}

export const fieldError = (id: MessageId, rest: Omit<FieldError, 'id'> = {}): FlowFailure =>
  new FlowFailure([{ id, ...rest }])

/** The error for exceeding a rate limit. */
export const tooSoon = (retryAfterMs: number, field?: string): FlowFailure =>
  new FlowFailure(
    [
      {
        id: 4900002,
        ...(field && { field }),
        context: { seconds: Math.ceil(retryAfterMs / 1000) },
      },
    ],
    429,
    retryAfterMs,
  )

/** Ids of refusals, as front ends know them. */
export type RefusalId =
  | 'flow_not_found'
  | 'self_service_flow_expired'
  | 'security_csrf_violation'
  | 'security_identity_mismatch'
  | 'session_inactive'
  | 'session_refresh_required'
  | 'session_aal2_required'
  | 'other_browser'

const KINDS: Record<RefusalId, ErrorKind> = {
  flow_not_found: 'not_found',
  self_service_flow_expired: 'gone',
  security_csrf_violation: 'forbidden',
  security_identity_mismatch: 'forbidden',
  session_inactive: 'unauthenticated',
  session_refresh_required: 'forbidden',
  session_aal2_required: 'forbidden',
  other_browser: 'forbidden',
}

/** Where a refused client can continue. */
interface Continuation {
  use_flow_id?: string
  expired_at?: string
  /** Milliseconds. */
  since?: number
  redirect_browser_to?: string
}

/** A flow that cannot continue, regardless of input: 401, 403, 404 or 410. */
export class FlowRefusal extends AppError {
  override name = 'FlowRefusal'

  constructor(
    readonly id: RefusalId,
    message: string,
    readonly continuation: Continuation = {},
  ) {
    super(KINDS[id], message, { code: id, detail: { id, ...continuation } })
  }
}

export const FLOW_NOT_FOUND = new FlowRefusal('flow_not_found', 'flow not found')
