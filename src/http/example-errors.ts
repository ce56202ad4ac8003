import {
  AppError,
  conflict,
  forbidden,
  invalid,
  notFound,
  rateLimited,
  unauthenticated,
  unavailable,
} from '../platform/errors.ts'
import { EXAMPLE_ID } from './example-values.ts'

/** The pattern is for method and path of an operation: `POST /v1/relay/messages`. */
export type ExampleErrors = readonly (readonly [operations: RegExp, error: AppError])[]

const SUBMIT = /auth\/\w+\/submit$/
const SELF_SERVICE = / \/auth\/self-service\//
const SESSION = / \/dashboard\//

/** Operations on the installation, by method and the end of their path. */
const of = (method: string, path: string): RegExp =>
  new RegExp(`^${method} /v1/installation/${path}`)

/** Errors of some operations. For an operation and a status, the first that fits is the example. */
export const PARTICULAR_ERRORS: ExampleErrors = [
  [
    SUBMIT,
    invalid('is required: send the flow id in the body or as ?flow=', {
      field: 'flow',
      rule: 'required',
    }),
  ],
  [
    SELF_SERVICE,
    invalid('is required: send the flow id as ?flow=', { field: 'flow', rule: 'required' }),
  ],
  [/\/telegram\//, invalid('must be JSON (Unexpected EOF)', { field: 'body', rule: 'format' })],

  [
    SESSION,
    unauthenticated('missing session: sign in to the console, which sets identity_session'),
  ],
  [
    SELF_SERVICE,
    unauthenticated('the session of this flow has ended', { detail: { id: 'session_inactive' } }),
  ],
  [/whoami$/, unauthenticated('missing session token: send it as X-Session-Token')],
  [/gate\/tokens$/, unauthenticated('invalid API key')],
  [/\/telegram\//, unauthenticated('unknown webhook, or wrong secret')],

  [SESSION, forbidden('switch to a tenant first; this session acts for the installation')],
  [
    SELF_SERVICE,
    forbidden('is missing, or belongs to another flow', {
      field: 'csrf_token',
      rule: 'mismatch',
      detail: { id: 'security_csrf_violation' },
    }),
  ],
  [
    /whoami$/,
    forbidden('the session requires two-factor authentication', {
      detail: { id: 'session_aal2_required' },
    }),
  ],
  [/gate\/tokens$/, forbidden('the key lacks the scope tokens:write')],

  [SUBMIT, notFound('flow not found', { detail: { id: 'flow_not_found' } })],
  [SELF_SERVICE, notFound('flow not found', { detail: { id: 'flow_not_found' } })],
  [/\/exchange$/, notFound('flow not found')],
  [/\/login\/status$/, notFound('the sign-in has expired', { code: 'nonce_expired' })],
  [/\/webhooks\/\{/, notFound('endpoint not found')],
  [/\/event-types\/\{/, notFound('event type not found')],

  [
    / \/v1\/gate\/identities/,
    conflict('is the address of another identity', { field: 'traits.email', rule: 'taken' }),
  ],
  [
    of('POST', 'operators$'),
    conflict('is the address of another operator', { field: 'email', rule: 'taken' }),
  ],
  [
    of('(PUT|POST)', 'operators/.*/(admin|login-link)$'),
    conflict('the account of this operator is deactivated. Reactivate it first'),
  ],
  [
    of('POST', 'operators/.*/reactivate$'),
    conflict('the email address of this account has changed; check who owns it, then try again'),
  ],
  [
    of('(DELETE|POST)', 'operators/'),
    conflict('this is the only admin of the installation. Make another operator an admin first'),
  ],
  [
    of('(DELETE|PUT)', 'tenants/.*/members/'),
    conflict('this is the only owner who can sign in. Add another owner first'),
  ],
  [
    of('POST', 'tenants/.*/rotate$'),
    conflict(`the key has already been rotated, to ${EXAMPLE_ID}`),
  ],
  [
    of('PATCH', 'tenants/.*/keys/'),
    conflict('the key is revoked, expired or rotated, so its expiry stays'),
  ],
  [
    of('.*', 'tenants/'),
    conflict(
      'the import of this tenant was interrupted: import the same file again, or undo it with `import --abandon`',
    ),
  ],
  [/\/jobs$/, conflict('limit reached: 10000 cron jobs; delete one first')],
  [/\/delayed$/, conflict('limit reached: 10000 pending or running delayed jobs')],
  [/\/run$/, conflict('2 runs of this job are in progress; try again when one has ended')],
  [/\/delayed\/\{/, conflict('only a pending job can be cancelled; this one is cancelled')],
  [/\/login\/start$/, conflict('there is no live bot yet', { code: 'bot_not_configured' })],
  [/\/resend$/, conflict('the endpoint is not active; activate it before a resend')],
  [/\/replay$/, conflict('the endpoint is not active; activate it before a replay')],
  [/\/cancel$/, conflict('only an open delivery can be cancelled; this one is succeeded')],
  [
    /\/(?:rotate-secret|signing-secret\/rotate)$/,
    conflict('cannot be added: 5 secrets are in use. Wait until an old one expires', {
      field: 'secret',
      rule: 'limit',
    }),
  ],
  [
    / \/v1\/manifest/,
    conflict('is that of 2 jobs: rename or delete all but one', {
      field: 'jobs.0.name',
      rule: 'mismatch',
    }),
  ],
  [/\/channels$/, conflict('limit reached: 20 channels; delete one first')],
  [
    /\/channels\/\{/,
    conflict('the settings of this channel cannot be decrypted. Delete it and create it again'),
  ],
  [/\/(?:webhooks|endpoints)$/, conflict('limit reached: 1000 endpoints; delete one first')],
  [
    /\/(?:webhooks|endpoints)\/\{/,
    conflict(
      'the secret and headers of this endpoint cannot be decrypted. Rotate the secret, then set the headers again',
    ),
  ],

  [
    /./,
    new AppError('gone', 'the flow has expired', {
      detail: { id: 'self_service_flow_expired', use_flow_id: EXAMPLE_ID },
    }),
  ],

  [SESSION, rateLimited('more than 6000 requests a minute with this session')],
  [SELF_SERVICE, rateLimited('too many requests from this address')],
]

/** Errors that are the same for all operations. */
export const GENERAL_ERRORS: readonly AppError[] = [
  unauthenticated('missing API key: send Authorization: Bearer <key>'),
  new AppError('payment_required', 'the account is suspended', { code: 'account_suspended' }),
  new AppError('too_large', 'must be at most 1048576 bytes', { field: 'body', rule: 'too_large' }),
  new AppError('unsupported_media_type', 'must be application/json, not text/plain', {
    field: 'Content-Type',
    rule: 'not_allowed',
  }),
  rateLimited('more than 6000 requests a minute with this key'),
  unavailable('the disk is full', { within: 'storage' }),
]
