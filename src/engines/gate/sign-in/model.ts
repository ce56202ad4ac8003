import { Type } from '@sinclair/typebox'
import { t } from 'elysia'
import { EXAMPLE_ID } from '../../../http/example-values.ts'
import { lenient, oneOf, Timestamp } from '../../../http/schemas.ts'
import { Identity } from '../identities/model.ts'
import { ASSURANCE_LEVELS, Session } from '../sessions/model.ts'
import { EXAMPLE_FLOWS } from './example-flow.ts'

/** Kinds of self-service flows. */
export const FLOW_KINDS = ['login', 'registration', 'recovery', 'verification', 'settings'] as const
export type FlowKind = (typeof FLOW_KINDS)[number]

const FLOW_STATES = [
  'choose_method',
  'sent_email',
  'passed_challenge',
  'show_form',
  'success',
] as const

/** The languages of pages, messages and mails. */
export const LANGUAGES = ['en', 'de'] as const
export type Language = (typeof LANGUAGES)[number]

/** A message to the user. `id` is stable: front ends translate by it. */
export const Message = t.Object({
  id: Type.Integer({ examples: [4000006] }),
  text: t.String(),
  type: oneOf(['info', 'error', 'success']),
  context: t.Optional(t.Record(t.String(), t.Unknown())),
})
export type Message = typeof Message.static

const InputAttributes = t.Object({
  node_type: t.Literal('input'),
  name: t.String(),
  type: t.String({ examples: ['password'] }),
  value: t.String({ description: 'Empty if the field is not prefilled.' }),
  required: t.Optional(t.Boolean()),
  disabled: t.Boolean(),
  autocomplete: t.Optional(t.String()),
  pattern: t.Optional(t.String()),
  maxlength: t.Optional(Type.Integer()),
})

/** Attributes that clients read of every node, including those that are not inputs. */
const shown = <Type extends string>(type: Type, value: string) => ({
  node_type: t.Literal(type),
  id: t.String(),
  name: t.String({ description: 'Same as `id`.' }),
  type: t.Literal(type),
  value: t.String({ description: value }),
})

const TextAttributes = t.Object({ ...shown('text', 'The text of `text`.'), text: Message })

const ImageAttributes = t.Object({
  ...shown('img', 'Same as `src`.'),
  src: t.String({ description: 'PNG as a data URL.' }),
  width: Type.Integer(),
  height: Type.Integer(),
})

const LinkAttributes = t.Object({
  ...shown('a', 'The same as `href`.'),
  href: t.String(),
  title: Message,
})

const NODE_GROUPS = [
  'default',
  'password',
  'code',
  'oidc',
  'profile',
  'totp',
  'lookup_secret',
] as const
export type NodeGroup = (typeof NODE_GROUPS)[number]

/** A part of a form, for rendering. */
export const Node = t.Object({
  type: oneOf(['input', 'text', 'img', 'a']),
  group: oneOf(NODE_GROUPS),
  attributes: t.Union([InputAttributes, TextAttributes, ImageAttributes, LinkAttributes]),
  messages: t.Array(Message),
  meta: t.Object({ label: Message }, { description: 'The text is empty for hidden nodes.' }),
})
export type Node = typeof Node.static

const FlowReference = t.Object({ id: t.String(), url: t.String() })

/** The next steps, in the order in which they have to be taken. */
const ContinueWith = t.Union([
  t.Object({ action: t.Literal('set_ory_session_token'), ory_session_token: t.String() }),
  t.Object({
    action: t.Literal('show_verification_ui'),
    flow: t.Object({ ...FlowReference.properties, verifiable_address: t.String() }),
  }),
  t.Object({ action: t.Literal('show_settings_ui'), flow: FlowReference }),
  t.Object({ action: t.Literal('redirect_browser_to'), redirect_browser_to: t.String() }),
])
export type ContinueWith = typeof ContinueWith.static

export const Flow = t.Object(
  {
    id: t.String(),
    type: t.Literal('browser'),
    expires_at: Timestamp,
    issued_at: Timestamp,
    request_url: t.String(),
    return_to: t.Optional(t.String()),
    active: t.Optional(t.String({ description: 'The last method used.' })),
    state: oneOf(FLOW_STATES),
    ui: t.Object({
      action: t.String({ description: 'URL to submit to, as JSON or as a form.' }),
      method: t.Literal('POST'),
      nodes: t.Array(Node),
      messages: t.Optional(t.Array(Message)),
    }),
    hosted_url: t.String({ description: 'URL of a hosted page for the flow.' }),
    created_at: t.Optional(Timestamp),
    updated_at: t.Optional(Timestamp),
    refresh: t.Optional(t.Boolean({ description: 'Whether a signed-in user must sign in again.' })),
    requested_aal: t.Optional(oneOf(ASSURANCE_LEVELS)),
    identity: t.Optional(Identity),
    continue_with: t.Optional(t.Array(ContinueWith)),
  },
  { examples: EXAMPLE_FLOWS },
)
export type Flow = typeof Flow.static

/** A session and its token, which is shown only once. */
const IssuedSession = t.Object({
  ...Session.properties,
  token: t.String({ description: 'For `X-Session-Token`.' }),
  identity: t.Nullable(Identity),
})

const signedIn = {
  session_token: t.String(),
  session: IssuedSession,
  identity: t.Optional(Identity),
  continue_with: t.Nullable(t.Array(ContinueWith)),
}

/** The session's `identity` is null until a required second factor is given. */
export const SignedIn = t.Object(signedIn)
export type SignedIn = typeof SignedIn.static

/** The browser has to visit another page before the flow can continue. */
export const BrowserRedirect = t.Object({
  error: t.String(),
  id: t.Literal('browser_location_change_required'),
  redirect_browser_to: t.String(),
})
export type BrowserRedirect = typeof BrowserRedirect.static

const any = (description: string) => t.Optional(t.Unknown({ description }))

/** The fields of all methods. Not validated here: the flow reports errors beside their fields. */
const submitted = {
  method: any('`password`, `code`, `totp`, `lookup_secret`, `oidc` or `profile`.'),
  csrf_token: any('Value of the node `csrf_token`.'),
  identifier: any('Email address to sign in with.'),
  password: any('A password.'),
  traits: any('`email`, and `custom_data`.'),
  email: any('Email address to send a code to.'),
  code: any('Code from the email.'),
  confirm_by: any(
    'For a verification that needs more than the code: `sign_in`, or `recovery`, which removes all credentials and sessions.',
  ),
  resend: any('`code` sends a new code.'),
  provider: any('Provider to sign in with.'),
  link: any('Provider to connect.'),
  unlink: any('Provider to disconnect.'),
  totp_code: any('Code from the authenticator app.'),
  totp_unlink: any('Removes the authenticator app.'),
  lookup_secret: any('A recovery code.'),
  lookup_secret_regenerate: any('Generates recovery codes.'),
  lookup_secret_confirm: any('Confirms that the user saved the recovery codes.'),
  lookup_secret_disable: any('Removes the recovery codes.'),
}

export const FlowSubmission = lenient(submitted, {
  examples: [
    { method: 'password', identifier: 'ada@example.com', password: 'correct horse battery' },
  ],
})

/** With a key, the flow can be named in the body, too. */
const submissionLike = (example: object) =>
  lenient(
    { flow: any('ID of the flow, unless it is in the query.'), ...submitted },
    { examples: [{ flow: EXAMPLE_ID, ...example }] },
  )

export const EmailSubmission = submissionLike({ method: 'code', email: 'ada@example.com' })
export const SettingsSubmission = submissionLike({
  method: 'password',
  password: 'correct horse battery',
})

/** Exchanges the code that a browser brought back for the session. */
export const Exchange = lenient({
  flow: t.String({ description: 'The `flow` parameter of the return URL.' }),
  code: t.String({ description: 'The `code` parameter of the return URL.' }),
})
