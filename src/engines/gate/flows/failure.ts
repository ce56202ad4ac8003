import { AppError, type ErrorKind } from '../../../platform/errors.ts'
import type { MessageId } from './ui/messages.ts'

/** One thing that is wrong with what was sent, said beside the field that it is wrong with. */
export interface Complaint {
  id: MessageId
  /** Name of a node; without one it is said of the form as a whole. */
  field?: string
  context?: Record<string, unknown>
}

/**
 * A form that cannot be taken as it is: the flow is shown again, with what is wrong. Thrown from
 * within a commit it undoes what was done there.
 */
export class FlowFailure extends Error {
  override name = 'FlowFailure'

  constructor(
    readonly complaints: Complaint[],
    /** 422, or 429 where the same may be right later. */
    readonly status: 422 | 429 = 422,
    readonly retryAfterMs?: number,
  ) {
    super(complaints.map(({ id }) => id).join(', '))
  }
}

export const complain = (id: MessageId, rest: Omit<Complaint, 'id'> = {}): FlowFailure =>
  new FlowFailure([{ id, ...rest }])

/** Too much was asked for within a time. */
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

/** The names of refusals, as front ends know them. */
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

/** Where somebody who is refused can go on. */
interface WaysOn {
  use_flow_id?: string
  expired_at?: string
  /** Milliseconds. */
  since?: number
  redirect_browser_to?: string
}

/** A flow that cannot go on like this, whatever is filled in: 401, 403, 404 or 410. */
export class FlowRefusal extends AppError {
  override name = 'FlowRefusal'

  constructor(
    readonly id: RefusalId,
    message: string,
    readonly ways: WaysOn = {},
  ) {
    super(KINDS[id], message, { code: id, detail: { id, ...ways } })
  }
}
