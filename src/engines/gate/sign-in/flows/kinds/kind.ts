import type { AnyProvider } from '../../../../../config/index.ts'
import type { ContinueWith, FlowKind, Node } from '../../model.ts'
import type { Completed } from '../completion.ts'
import { fieldError } from '../failure.ts'
import type { FlowRow } from '../store.ts'
import type { Form, Submission } from '../submission.ts'
import type { MessageId, Say } from '../ui/messages.ts'

/** A completed step, after which the flow shows the next one. */
export interface Stepped {
  is: 'flow'
  flow: FlowRow
  continueWith?: ContinueWith[]
  /** Where a page continues; this flow by default. */
  next?: string
}

/** Sends the browser to a provider first. */
export interface Redirect {
  is: 'redirect'
  url: string
}

export type Outcome = Stepped | Redirect | Completed

/** The nodes of one kind of flow, and how its forms are handled. */
export interface Kind {
  /** `code` comes from the link in a mail; the user has to confirm it. */
  nodes(flow: FlowRow, say: Say, code?: string): Node[]
  submit(form: Form): Promise<Outcome>
}

export type Method = 'password' | 'code' | 'oidc' | 'totp' | 'lookup_secret' | 'profile'

/** Fields that imply the method if the form does not name one. */
const TELLING: readonly [field: string, method: Method][] = [
  ['provider', 'oidc'],
  ['link', 'oidc'],
  ['unlink', 'oidc'],
  ['totp_code', 'totp'],
  ['totp_unlink', 'totp'],
  ['lookup_secret', 'lookup_secret'],
  ['lookup_secret_reveal', 'lookup_secret'],
  ['lookup_secret_regenerate', 'lookup_secret'],
  ['lookup_secret_confirm', 'lookup_secret'],
  ['lookup_secret_disable', 'lookup_secret'],
  ['code', 'code'],
  ['resend', 'code'],
  ['email', 'code'],
  ['confirm_by', 'code'],
  ['password', 'password'],
]

/** The method of a form; throws if the flow does not offer it. */
export function methodIn(input: Submission, kind: FlowKind, offered: readonly Method[]): Method {
  const named = input.text('method')
  const method = named ?? TELLING.find(([field]) => input.has(field))?.[1]
  const known = offered.find((one) => one === method)
  if (known === undefined) throw fieldError(NO_METHOD[kind])
  return known
}

const NO_METHOD: Record<FlowKind, MessageId> = {
  login: 4010002,
  registration: 4010003,
  settings: 4010004,
  recovery: 4010005,
  verification: 4010006,
}

/** Whether a code is entered rather than requested. Empty counts, unless resend was pressed. */
export const bringsCode = ({ flow, input }: Form): boolean =>
  input.text('resend') === undefined &&
  (input.has('code') || (flow.state === 'sent_email' && input.mentions('code')))

/** The provider that a form names; throws if it is not offered. */
export function providerIn(
  input: Submission,
  field: string,
  offered: readonly AnyProvider[],
): AnyProvider {
  const named = input.required(field)
  const provider = offered.find((one) => one === named)
  if (provider === undefined)
    throw fieldError(4900009, { context: { provider: named.slice(0, 100) } })
  return provider
}
