import { isoTime } from '../../../../platform/clock.ts'
import type { Mail } from '../../../../platform/mail/index.ts'
import type { Identity } from '../../identities/model.ts'
import { isOperatorTenant } from '../../operators/tenant.ts'
import type { ContinueWith, Flow, FlowKind, Message, Node } from '../model.ts'
import type { Client } from './client.ts'
import { masked } from './csrf-mask.ts'
import type { FieldError } from './failure.ts'
import type { FlowRepository, Notice } from './flow.ts'
import type { Kind } from './kinds/kind.ts'
import type { FlowRow } from './store.ts'
import type { Submission } from './submission.ts'
import {
  createSay,
  csrfNode,
  isLinkSecret,
  type MessageId,
  type Say,
  withMessage,
} from './ui/index.ts'

/** What is shown in addition to the stored flow. */
interface Showing {
  fieldErrors?: readonly FieldError[]
  /** The submitted fields, which the form shows again. */
  typed?: Submission
  continueWith?: ContinueWith[]
  /** The code in a mail's link. */
  code?: string | undefined
  /** The client that the flow is shown to; a program by default. */
  client?: Pick<Client, 'wants' | 'browserHash'>
}

export type PresentFlow = ReturnType<typeof createPresentFlow>

/** The API representation of a flow, with the nodes of its current step. */
export function createPresentFlow(parts: {
  repository: FlowRepository
  kinds: Record<FlowKind, Kind>
  mail: Pick<Mail, 'hasServer'>
  urlOf: (kind: FlowKind, query: Record<string, string>) => string
  requestUrl: (kind: FlowKind) => string
  identityOf: (flow: FlowRow) => Identity | undefined
}) {
  const { repository, kinds, mail, urlOf, requestUrl, identityOf } = parts

  /** The messages of a flow. They depend on its state, and on how it was opened. */
  function noticesIn(row: FlowRow, code: string | undefined): Notice[] {
    const { mailbox, addressChange } = row.kind === 'verification' ? repository.internalOf(row) : {}
    if (mailbox) return [{ id: addressChange ? 1900007 : 1900006 }]
    if (row.state === 'choose_method' && !mail.hasServer) return withoutMail(row)
    const isByLink = row.state === 'sent_email' && code !== undefined && isLinkSecret(code)
    const id = isByLink ? BY_LINK[row.kind] : undefined
    return id === undefined ? stateMessages(row) : [{ id, context: { address: row.address } }]
  }

  return function present(row: FlowRow, showing: Showing): Flow {
    const { fieldErrors = [], typed, continueWith, code, client } = showing
    const isPage = client?.wants === 'page'
    const token = repository.csrfTokenOf(row, isPage ? client.browserHash : null)
    const say = createSay(row.language)
    const isOver = row.completedAt !== null
    const body = isOver && row.kind !== 'verification' ? [] : kinds[row.kind].nodes(row, say, code)
    const marked = addFieldErrors(
      [csrfNode(isPage ? masked(token) : token), ...body],
      fieldErrors,
      say,
    )
    const isRefused = isOver && fieldErrors.length > 0
    const said = isRefused ? [] : [...repository.noticesOf(row), ...noticesIn(row, code)]
    const messages = [...marked.messages, ...said.map(({ id, context }) => say(id, context))]
    const url = urlOf(row.kind, { flow: row.id })
    const identity = row.kind === 'settings' ? identityOf(row) : undefined
    return {
      id: row.id,
      type: 'browser',
      expires_at: isoTime(row.expiresAt),
      issued_at: isoTime(row.issuedAt),
      request_url: requestUrl(row.kind),
      ...(row.returnTo !== null && { return_to: row.returnTo }),
      ...(row.active !== null && { active: row.active }),
      state: row.state,
      ui: {
        action: url,
        method: 'POST',
        nodes: typed ? marked.nodes.map((node) => withTyped(node, typed)) : marked.nodes,
        ...(messages.length > 0 && { messages }),
      },
      hosted_url: url,
      ...(row.kind === 'login' && {
        created_at: isoTime(row.issuedAt),
        updated_at: isoTime(row.updatedAt),
        refresh: row.isRefresh,
        requested_aal: row.requestedAal,
      }),
      ...(identity && { identity }),
      ...(continueWith && { continue_with: continueWith }),
    }
  }
}

/** What a user can do instead of a step that needs an email, which can't be sent. */
function withoutMail(row: FlowRow): Notice[] {
  if (row.kind === 'recovery') return [{ id: isOperatorTenant(row.tenantId) ? 1900015 : 1900014 }]
  return row.kind === 'verification' ? [{ id: 1900016 }] : stateMessages(row)
}

const BY_LINK: Partial<Record<FlowKind, MessageId>> = { recovery: 1900010, verification: 1900011 }

/** Adds all errors above the form, as the contract requires, and each also to its field. */
function addFieldErrors(nodes: Node[], fieldErrors: readonly FieldError[], say: Say) {
  const messages: Message[] = []
  let marked = nodes
  for (const { id, field, context } of fieldErrors) {
    const message = say(id, context)
    messages.push(message)
    if (field !== undefined) marked = withMessage(marked, field, message) ?? marked
  }
  return { nodes: marked, messages }
}

/** Fields whose values may be shown again; secrets and codes have to be entered again. */
const SHOWN_AGAIN = new Set(['identifier', 'email', 'traits.email', 'traits.display_name'])

function withTyped(node: Node, typed: Submission): Node {
  const { attributes } = node
  if (attributes.node_type !== 'input' || !SHOWN_AGAIN.has(attributes.name)) return node
  if (attributes.type === 'hidden' || attributes.type === 'submit') return node
  const value = typed.again(attributes.name)
  return value === undefined ? node : { ...node, attributes: { ...attributes, value } }
}

/** The messages that follow from the state of the flow. */
function stateMessages({
  kind,
  state,
  isRefresh,
  requestedAal,
}: FlowRow): { id: MessageId; context?: undefined }[] {
  if (state === 'sent_email' && kind in SENT) return [{ id: SENT[kind as keyof typeof SENT] }]
  if (state === 'success') return [{ id: 1050001 }]
  if (state === 'passed_challenge') {
    if (kind === 'recovery') return [{ id: 1060001 }]
    return kind === 'verification' ? [{ id: 1080002 }] : []
  }
  if (requestedAal === 'aal2') return [{ id: 1010004 }]
  return isRefresh ? [{ id: 1010003 }] : []
}

const SENT = {
  login: 1010014,
  registration: 1040005,
  recovery: 1060003,
  verification: 1080003,
} as const
