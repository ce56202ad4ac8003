import { Elysia, t } from 'elysia'
import { ALL_PROVIDERS, type AnyProvider } from '../../../config/index.ts'
import type { Access } from '../../../http/access.ts'
import type { Fields } from '../../../http/body.ts'
import { PlainErrors, refusalsIn } from '../../../http/responses.ts'
import { lenient, oneOf } from '../../../http/schemas.ts'
import type { Caller } from '../../../platform/caller.ts'
import { fail, invalid, notFound } from '../../../platform/errors.ts'
import type { ClientOf } from './clients.ts'
import { answerInJson, Refusal } from './flow-answers.ts'
import type { FlowPages } from './flow-pages.ts'
import type { Flows } from './flows/index.ts'
import { withQuery } from './flows/return-to.ts'
import {
  BrowserRedirect,
  FLOW_KINDS,
  Flow,
  type FlowKind,
  FlowSubmission,
  SignedIn,
} from './model.ts'
import { SESSION_TOKEN } from './request-headers.ts'

const { badBody, spent } = refusalsIn(PlainErrors)
const { 429: TooMany, 503: Unavailable } = PlainErrors

const Refusals = { 401: Refusal, 403: Refusal, 404: Refusal, 410: Refusal }

const KIND = { name: 'kind', in: 'path', required: true, schema: oneOf(FLOW_KINDS) } as const

const FLOW = {
  name: 'flow',
  in: 'query',
  required: true,
  schema: { type: 'string', description: 'ID of the flow.' },
} as const

/** Allows JSON forms from other origins, which browsers preflight (Fetch standard, CORS). */
const FOREIGN = {
  'access-control-allow-origin': '*',
  'access-control-allow-methods': 'GET, POST',
  'access-control-allow-headers': 'accept, accept-language, content-type, x-session-token',
  'access-control-max-age': '600',
  'access-control-expose-headers': 'retry-after',
  vary: 'Accept, Accept-Language',
}

/** contract/gate, `ui.action`. Open to any origin: requires a flow's id and token, not cookies. */
export function selfServiceRoutes(parts: {
  flows: Flows
  pages: FlowPages
  clientOf: ClientOf
  access: Access
  callbackUrl: (provider: AnyProvider) => string
}) {
  const { flows, pages, clientOf, access, callbackUrl } = parts

  function show(kind: FlowKind, request: Request, query: Query) {
    const { client, cookie } = clientOf(request)
    if (query.flow === undefined && query.from !== undefined)
      return pages.branch(kind, query.from, client)
    const id = query.flow ?? missing()
    if (client.wants === 'page') return pages.show(kind, id, { client, cookie, code: query.code })
    return flows.read(kind, id, client, query.code).then(({ flow }) => flow)
  }

  function submit(kind: FlowKind, { caller, request, query, body, set }: Given) {
    const { client, cookie } = clientOf(request)
    const id = query.flow ?? missing()
    if (client.wants === 'page') return pages.submit(kind, id, body, { client, cookie })
    const program = { ...client, hasKey: caller !== undefined }
    return flows
      .submit(kind, id, body, program, { caller, needsToken: true })
      .then((answer) => answerInJson(answer, set.headers))
  }

  return (
    new Elysia({ prefix: '/auth/self-service', tags: ['gate'] })
      .use(access)
      // Set before the body is parsed, so that a page of another origin can read the errors.
      .onParse(({ set }) => void Object.assign(set.headers, FOREIGN))
      .onTransform(({ set }) => void Object.assign(set.headers, FOREIGN))
      .get(
        '/methods/oidc/callback/:provider',
        ({ params, request }) =>
          pages.callback(wordIn(ALL_PROVIDERS, params.provider), request, clientOf(request)),
        { detail: { summary: 'Callback of a social login provider', hide: true } },
      )
      .post(
        '/methods/oidc/callback/:provider',
        ({ params, body }) =>
          Response.redirect(
            withQuery(callbackUrl(wordIn(ALL_PROVIDERS, params.provider)), texts(body)),
            303,
          ),
        {
          form: {},
          body: t.Object({}, { additionalProperties: true }),
          detail: { summary: 'Callback of a provider that posts a form', hide: true },
        },
      )
      .options('/:kind', ({ status }) => status(204, undefined), { detail: { hide: true } })
      .get(
        '/:kind',
        ({ params, request, query }) => show(wordIn(FLOW_KINDS, params.kind), request, query),
        {
          query: Query,
          detail: {
            summary: 'Get a flow',
            description:
              'Returns JSON, or a page for browsers. A settings flow requires `X-Session-Token`.',
            parameters: [KIND, SESSION_TOKEN],
          },
          response: {
            200: Flow,
            400: PlainErrors[400],
            ...spent,
            ...Refusals,
            429: TooMany,
            503: Unavailable,
          },
        },
      )
      .post('/:kind', (given) => submit(wordIn(FLOW_KINDS, given.params.kind), given), {
        form: { keyScope: 'flows' },
        query: Query,
        body: FlowSubmission,
        detail: {
          summary: 'Submit a flow',
          description:
            'Send JSON or a form, with `csrf_token`. A server that submits for its users adds its API key, so that they are not rate limited as one client. A completed sign-in returns a session. Status 422 with `redirect_browser_to` sends the browser to a provider first.',
          parameters: [KIND, FLOW, SESSION_TOKEN],
        },
        response: {
          200: t.Union([SignedIn, Flow]),
          422: t.Union([Flow, BrowserRedirect]),
          429: t.Union([Flow, TooMany]),
          ...badBody,
          ...spent,
          ...Refusals,
          503: Unavailable,
        },
      })
  )
}

const Query = lenient({
  flow: t.Optional(t.String({ description: 'ID of the flow.' })),
  code: t.Optional(
    t.String({ description: 'Code from an email link: filled into the form, not submitted.' }),
  ),
  from: t.Optional(
    t.String({ description: 'ID of another flow: starts a new one for the same tenant.' }),
  ),
})
type Query = typeof Query.static

/** The context of a handler for forms from any client. */
interface Given {
  /** Set if the request has a tenant's API key. */
  caller: Caller | undefined
  request: Request
  query: Query
  body: Fields
  set: { headers: Record<string, unknown> }
}

/** A path segment that must be one of a list; throws `not_found` otherwise. */
const wordIn = <W extends string>(words: readonly W[], given: string): W =>
  words.find((word) => word === given) ?? fail(notFound('no such route'))

function missing(): never {
  throw invalid('is required: send the flow id as ?flow=', { field: 'flow', rule: 'required' })
}

/** Fields that providers may post (RFC 6749 and 9207; Apple's `user`), if they fit into a URL. */
const POSTED = ['state', 'code', 'error', 'error_description', 'iss', 'user']
const MAX_FIELD_LENGTH = 4000

const texts = (body: Fields): Record<string, string> =>
  Object.fromEntries(
    POSTED.map((name) => [name, body[name]] as const).filter(
      (entry): entry is [string, string] =>
        typeof entry[1] === 'string' && entry[1].length <= MAX_FIELD_LENGTH,
    ),
  )
