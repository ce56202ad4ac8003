import { Elysia, t } from 'elysia'
import type { Access } from '../../../http/access.ts'
import type { Fields } from '../../../http/body.ts'
import { PlainErrors, refusalsIn } from '../../../http/responses.ts'
import { lenient, oneOf } from '../../../http/schemas.ts'
import type { Caller } from '../../../platform/caller.ts'
import { invalid } from '../../../platform/errors.ts'
import { ASSURANCE_LEVELS } from '../sessions/model.ts'
import type { ClientOf } from './clients.ts'
import { answerInJson, Refusal } from './flow-answers.ts'
import type { Flows } from './flows/index.ts'
import {
  BrowserRedirect,
  EmailSubmission,
  Flow,
  type FlowKind,
  SettingsSubmission,
  SignedIn,
} from './model.ts'
import { REQUIRED_SESSION_TOKEN, RETURN_TO, SESSION_TOKEN } from './request-headers.ts'

const { refused, badBody, spent } = refusalsIn(PlainErrors)
const scope = 'flows'

const StartOptions = lenient({
  aal: t.Optional(
    oneOf(ASSURANCE_LEVELS, { description: '`aal2` requires two-factor authentication.' }),
  ),
  refresh: t.Optional(
    oneOf(['true', 'false'], {
      description: 'Requires a new sign-in even if the user has a session.',
    }),
  ),
})

const Started = { 200: Flow, ...refused, ...spent }
const Submitted = {
  200: t.Union([Flow, SignedIn]),
  422: t.Union([Flow, BrowserRedirect]),
  ...badBody,
  ...refused,
  ...spent,
  429: t.Union([Flow, PlainErrors[429]]),
  401: t.Union([Refusal, PlainErrors[401]]),
  403: t.Union([Refusal, PlainErrors[403]]),
  404: Refusal,
  410: Refusal,
}

const InQuery = lenient({
  flow: t.Optional(t.String({ description: 'ID of the flow, unless it is in the body.' })),
})

/** contract/gate, self-service flows: the endpoints for a tenant's server. */
export function flowRoutes(parts: { flows: Flows; clientOf: ClientOf; access: Access }) {
  const { flows, clientOf, access } = parts

  const start = (
    kind: FlowKind,
    { caller, request }: { caller: Caller; request: Request },
    { aal, refresh }: typeof StartOptions.static = {},
  ) => {
    const { language, sessionToken } = clientOf(request).client
    const returnTo = request.headers.get('x-return-to') ?? undefined
    const options = { requestedAal: aal, isRefresh: refresh === 'true' }
    return flows.start(caller, kind, { returnTo, sessionToken, language, ...options })
  }

  const submit = async (kind: FlowKind, given: Given) => {
    const { caller, request, body, query, set } = given
    const client = { ...clientOf(request).client, wants: 'json' as const, hasKey: true }
    const by = { caller, needsToken: false }
    const answer = await flows.submit(kind, flowIdIn(body, query), body, client, by)
    return answerInJson(answer, set.headers)
  }

  return new Elysia({ prefix: '/auth', tags: ['gate'] })
    .use(access)
    .get('/login', ({ caller, request, query }) => start('login', { caller, request }, query), {
      scope,
      query: StartOptions,
      detail: {
        summary: 'Start a sign-in',
        description: '`aal` and `refresh` require `X-Session-Token`.',
        parameters: [SESSION_TOKEN, RETURN_TO],
      },
      response: { ...Started, 403: t.Union([Refusal, PlainErrors[403]]) },
    })
    .get('/registration', ({ caller, request }) => start('registration', { caller, request }), {
      scope,
      detail: { summary: 'Start a sign-up', parameters: [RETURN_TO] },
      response: Started,
    })
    .get('/recovery', ({ caller, request }) => start('recovery', { caller, request }), {
      scope,
      detail: { summary: 'Start an account recovery', parameters: [RETURN_TO] },
      response: Started,
    })
    .post('/recovery/submit', (given) => submit('recovery', given), {
      scope,
      query: InQuery,
      body: EmailSubmission,
      detail: { summary: 'Request or submit a recovery code' },
      response: Submitted,
    })
    .get('/verification', ({ caller, request }) => start('verification', { caller, request }), {
      scope,
      detail: { summary: 'Start an address verification', parameters: [RETURN_TO] },
      response: Started,
    })
    .post('/verification/submit', (given) => submit('verification', given), {
      scope,
      query: InQuery,
      body: EmailSubmission,
      detail: { summary: 'Request or submit a verification code' },
      response: Submitted,
    })
    .get('/settings', ({ caller, request }) => start('settings', { caller, request }), {
      scope,
      detail: {
        summary: 'Start a settings change',
        parameters: [REQUIRED_SESSION_TOKEN, RETURN_TO],
      },
      response: { ...Started, 403: t.Union([Refusal, PlainErrors[403]]) },
    })
    .post('/settings/submit', (given) => submit('settings', given), {
      scope,
      query: InQuery,
      body: SettingsSubmission,
      detail: { summary: 'Change settings', parameters: [REQUIRED_SESSION_TOKEN] },
      response: Submitted,
    })
}

/** The context of a handler for forms sent with a key. */
interface Given {
  caller: Caller
  request: Request
  body: Fields
  query: { flow?: string }
  set: { headers: Record<string, unknown> }
}

function flowIdIn({ flow }: Fields, query: { flow?: string }): string {
  const id = flow ?? query.flow
  if (typeof id !== 'string' || id === '')
    throw invalid('is required: send the flow id in the body or as ?flow=', {
      field: 'flow',
      rule: 'required',
    })
  return id
}
